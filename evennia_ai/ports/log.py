"""The inbox, the conversation and the turns of one assistant.

Every method that writes does so in one transaction. It raises `StoreUnavailable` if the database is
busy; then nothing has changed, neither in the database nor in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from evennia_ai.messages import Audience, Heard, InboxEvent, Message, ToolCallRequest, Usage
from evennia_ai.policy.context.projection import CompactionRecord, View


@dataclass(frozen=True)
class TurnRecord:
    """An open turn.

    Attributes:
        id: its primary key.
        audience: dbrefs of everybody who will hear the answer.
        private: True if the words that started it were whispered.
        events: the events to answer.
        overheard: events that need no answer, heard since the last turn.
        done_before: world acts of earlier attempts at the same events, done or possibly done.
    """

    id: int
    audience: Audience
    private: bool
    events: tuple[InboxEvent, ...]
    overheard: tuple[InboxEvent, ...] = ()
    done_before: tuple[ToolCallRequest, ...] = ()

    @property
    def hops(self) -> int:
        """Return the length of the longest chain of assistants' answers that led here."""
        return max((event.heard.hops for event in self.events), default=0)

    @property
    def askers(self) -> Audience:
        """Return the dbrefs of everybody who heard what started the turn."""
        return frozenset().union(*(event.heard.audience for event in self.events))

    @property
    def speakers(self) -> Audience:
        """Return the dbrefs of everybody whose new words are in this turn."""
        heard = (event.heard.speaker for event in (*self.events, *self.overheard))
        return frozenset(speaker for speaker in heard if speaker)


@dataclass(frozen=True)
class OpenEvents:
    """Events that need an answer, oldest first.

    Attributes:
        waiting: events without a turn.
        doubtful: events whose answer was on its way when the server died.
    """

    waiting: tuple[InboxEvent, ...] = ()
    doubtful: tuple[InboxEvent, ...] = ()

    def __bool__(self) -> bool:
        """Return True if anybody waits for an answer."""
        return bool(self.waiting or self.doubtful)


class Conversation(Protocol):
    """One assistant's append-only log, with the part that a model may see."""

    def append(self, messages: Sequence[Message]) -> list[Message]:
        """Store messages; return them with ``seq`` and ``at`` filled in."""

    def view(self) -> Sequence[Message]:
        """Return the last compaction's marker, if any, and every later message. Do not mutate."""

    @property
    def current(self) -> View:
        """Return the view with its sizes and the recall of evicted messages."""

    def compact(self, record: CompactionRecord) -> CompactionRecord:
        """Store a compaction and return it with its id. The log itself does not change."""

    def mask(self, upto_seq: int) -> int:
        """Mask long tool results up to a message number; return how many."""

    def undo(self) -> CompactionRecord | None:
        """Undo the last compaction and return it, None if there is none."""

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        """Return compactions whose journal entries are missing (True) or must go (False)."""

    def note_archived(self, id: int, archived: bool) -> None:
        """Store whether a compaction has its journal entries."""


class Inbox(Protocol):
    """One assistant's stored events."""

    def put(self, heard: Heard) -> int:
        """Store an event before anything else happens; return its id."""

    def open_events(self) -> OpenEvents:
        """Return the events that need an answer and have none."""

    def overheard(self) -> Sequence[InboxEvent]:
        """Return the events that the next turn will log, oldest first."""

    def close(self, event_ids: Sequence[int], state: str, reason: str = "") -> None:
        """Close events as answered, excused, noted or expired."""


class GameInbox(Inbox, Protocol):
    """What the game uses of an inbox beyond `Inbox`."""

    def recent_partners(self, seconds: float) -> dict[str, datetime]:
        """Return who talked with the character within some seconds: dbref to the last time."""


class Turns(Protocol):
    """One assistant's turns, model calls and tool calls."""

    @property
    def current(self) -> int | None:
        """Return the id of the open turn, None if none is open."""

    def begin(
        self, events: Sequence[InboxEvent], audience: Audience, private: bool, context: str
    ) -> TurnRecord:
        """Open a turn, claim its events, and log them with what was overheard, in order."""

    def finish(self, turn_id: int, outcome: str, detail: str = "") -> None:
        """Close a turn and its events with an outcome."""

    def give_back(self, turn_id: int) -> None:
        """Close a turn whose answer nobody could hear.

        Its events wait again; they are doubtful if something may have been said.
        """

    def recover(self) -> None:
        """Close the turn that an error left open, if any, according to its stored acts."""

    def is_current(self, turn_id: int) -> bool:
        """Return False once the turn is closed or its lease belongs to an older process."""

    def record_model_call(self, turn_id: int | None, call: ModelCallRecord) -> None:
        """Store what a model call cost and how it ended; ``turn_id`` None is no turn."""

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        """Store the intent of an act before it is done; return its id."""

    def record_outcome(
        self, act_id: int, state: str, result: str, messages: Sequence[Message] = ()
    ) -> None:
        """Store the outcome of an act (done, failed, refused or unknown) and log its messages."""


@dataclass(frozen=True)
class ModelCallRecord:
    """One model call and its cost.

    Attributes:
        profile: name of the model profile.
        model: name of the model.
        purpose: its name in the log, such as a prompt context's.
        estimated_tokens: our estimate of the request.
        usage: the endpoint's token counts, None if it reported none.
        duration_ms: time until the reply or the error, in milliseconds.
        finish_reason: as the endpoint reported it.
        error_kind: kind of the error, empty if the call succeeded.
        error: the error, empty if the call succeeded.
        speakers: dbrefs of those whose words started the call.
    """

    profile: str
    model: str
    purpose: str
    estimated_tokens: int
    usage: Usage | None
    duration_ms: int
    finish_reason: str = ""
    error_kind: str = ""
    error: str = ""
    speakers: Audience = frozenset()
