"""The inbox, the conversation and the turns of one assistant.

`store.conversation`, `store.inbox` and `store.turns` implement and describe the protocols. Every
method that writes does so in one transaction. It raises `StoreUnavailable` if the database is busy;
then nothing has changed, neither in the database nor in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from uuid import uuid4

from evennia_ai.messages import (
    PUPPETED,
    Audience,
    Authors,
    ChatMessage,
    InboxEvent,
    IncomingEvent,
    ToolCallRequest,
    Usage,
)
from evennia_ai.policy.call_record import PackedCall
from evennia_ai.policy.context.projection import CompactionRecord, LogInView, TokensByAudience
from evennia_ai.policy.conversation.batching import askers_of
from evennia_ai.policy.limits.money import Prices
from evennia_ai.policy.staff_controls import PendingToolCall


@dataclass(frozen=True)
class TurnRecord:
    """An open turn."""

    id: int
    audience: Audience  # dbrefs of everybody who will hear the answer
    private: bool  # True if the words that started it were whispered
    events: tuple[InboxEvent, ...]  # the events to answer
    overheard: tuple[InboxEvent, ...] = ()  # events that need no answer, heard since the last turn
    # world acts of earlier attempts at the same events, done or possibly done
    done_before: tuple[ToolCallRequest, ...] = ()

    @property
    def secret(self) -> bool:
        """Return True if only the audience may know what is said and done in the turn."""
        open_ones = [event.heard.repeatable for event in self.events]
        return self.private and not (open_ones and all(open_ones))

    @property
    def hops(self) -> int:
        """Return the length of the longest chain of assistants' answers that led here."""
        return max((event.heard.hops for event in self.events), default=0)

    @property
    def waiting(self) -> Audience:
        """Return the dbrefs of everybody who heard what started the turn: they wait for it."""
        return frozenset().union(*(event.heard.audience for event in self.events))

    @property
    def speakers(self) -> Audience:
        """Return the dbrefs of everybody whose new words are in this turn."""
        return frozenset(event.speaker for event in self.from_others if event.speaker)

    @property
    def askers(self) -> Audience:
        """Return the dbrefs of everybody whom the turn answers; they pay for it, too."""
        return askers_of(self.events)

    @property
    def from_others(self) -> list[IncomingEvent]:
        """Return what others said and did; of what was overheard a part is its own."""
        every = (event.heard for event in (*self.overheard, *self.events))
        return [incoming for incoming in every if incoming.evidence != PUPPETED]

    @property
    def authors(self) -> Authors:
        """Return the authors of the new words in this turn (`policy.audience`)."""
        author_sets = (event.heard.written_by for event in (*self.events, *self.overheard))
        return frozenset[str]().union(*author_sets)


@dataclass(frozen=True)
class OpenEvents:
    """Events that need an answer, oldest first."""

    waiting: tuple[InboxEvent, ...] = ()  # events without a turn
    doubtful: tuple[InboxEvent, ...] = ()  # events whose answer was on its way when the server died

    def __len__(self) -> int:
        return len(self.waiting) + len(self.doubtful)


class Lines(Protocol):
    """One assistant's log as lines to recall, with the vectors of their words.

    ``embedder`` names the embedder and the length of its vectors.
    """

    @property
    def refreshes(self) -> int: ...  # how often all that was read became uncertain
    def after(
        self, seq: int, upto: int | None, limit: int, embedder: str
    ) -> Sequence[tuple[ChatMessage, bytes | None]]: ...  # oldest first; ``upto``: the last, if any
    def before_newest(self, count: int) -> int: ...  # the message before so many, 0 for none
    def read(self, seqs: Iterable[int]) -> Sequence[ChatMessage]: ...  # those that exist
    def existing(self, seqs: Iterable[int]) -> set[int]: ...  # those that `read` would return
    def store_vectors(self, embedder: str, vectors: Mapping[int, bytes]) -> None: ...


class Conversation(Protocol):
    """One assistant's append-only log, with the part that a model may see."""

    @property
    def lines(self) -> Lines: ...
    @property
    def current(self) -> LogInView: ...
    def append(
        self, messages: Sequence[ChatMessage]
    ) -> list[ChatMessage]: ...  # with ``seq`` and ``at``
    def show(self, scenes: Sequence[ChatMessage]) -> None: ...  # into the view, not into the log
    @property
    def sizes(self) -> TokensByAudience: ...  # of the view
    def view(self) -> Sequence[ChatMessage]: ...  # do not mutate
    def compact(self, record: CompactionRecord) -> CompactionRecord: ...  # with its id
    def mask(self, upto_seq: int) -> int: ...
    def undo(self) -> CompactionRecord | None: ...
    def compaction(self, id: int) -> CompactionRecord | None: ...  # in force
    def to_archive(self) -> list[tuple[CompactionRecord, bool]]: ...
    def note_archived(self, id: int, archived: bool) -> None: ...
    def to_journal(self) -> Sequence[CompactionRecord]: ...  # whose messages nobody journalled yet
    def note_journalled(self, ids: Sequence[int]) -> None: ...


class Inbox(Protocol):
    """One assistant's stored events."""

    def open_events(self) -> OpenEvents: ...
    def overheard(self) -> Sequence[InboxEvent]: ...  # those that the next turn will log
    def close(self, event_ids: Sequence[int], state: str, reason: str = "") -> None: ...
    def times_of_assistants(self, since: datetime) -> list[datetime]: ...  # heard; oldest first


class PendingActs(Protocol):
    """One assistant's acts that wait for a person."""

    def take(self) -> PendingToolCall | None: ...  # the next to run, marked as running
    def finish(self, id: int, state: str, result: str) -> None: ...


AlsoDo = Sequence[Callable[[datetime], object]]  # called in a transaction, with its rows' time


class Turns(Protocol):
    """One assistant's turns, model calls and tool calls."""

    @property
    def current(self) -> int | None: ...  # the id of the open turn
    def begin(
        self, events: Sequence[InboxEvent], audience: Audience, private: bool, context: str
    ) -> TurnRecord: ...
    def finish(self, turn_id: int, outcome: str, detail: str = "") -> None: ...
    def give_back(self, turn_id: int) -> None: ...  # its events wait again
    def recover(self) -> None: ...  # closes the turn that an error left open, if any
    def times_of(self, context: str, since: datetime) -> list[datetime]: ...  # oldest first
    def is_current(self, turn_id: int) -> bool: ...  # False once the lease is lost
    def record_model_call(
        self, turn_id: int | None, call: ModelCallRecord, also: AlsoDo = ()
    ) -> None: ...
    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int: ...
    def record_outcome(
        self,
        act: int,
        state: str,
        result: str,
        messages: Sequence[ChatMessage] = (),
        locks: str = "",
    ) -> None: ...


@dataclass(frozen=True)
class ModelCallRecord:
    """One model call and its cost."""

    profile: str  # name of the model profile
    model: str
    purpose: str  # its name in the log, such as a prompt context's
    estimated_tokens: int  # our estimate of the request
    usage: Usage | None  # the endpoint's token counts, None if it reported none
    duration_ms: int  # time until the reply or the error, in milliseconds
    finish_reason: str = ""  # as the endpoint reported it
    error_kind: str = ""  # kind of the error, empty if the call succeeded
    error: str = ""
    speakers: Audience = frozenset()  # dbrefs of those whose words started the call
    unpaid_share: float = 0.0  # of the prompt: lines of others, which the speakers do not pay
    kept: PackedCall | None = None  # its prompt and reply, None if they are not kept
    prices: Prices | None = None  # of the model at the time of the call, None if nobody set them
    # the same at each try to store it, so that it is stored and counted once
    token: str = field(default_factory=lambda: uuid4().hex, compare=False)
