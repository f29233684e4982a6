"""One assistant's inbox, conversation and turns.

Every method that writes does so in one transaction, and fails with `StoreUnavailable` where the
database cannot be written now; then nothing has changed, neither there nor in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from evennia_ai.messages import Audience, Heard, InboxEvent, Message, ToolCallRequest, Usage
from evennia_ai.policy.context.projection import CompactionRecord, View


@dataclass(frozen=True)
class TurnRecord:
    """An open turn: its lease and for whom it thinks.

    ``private`` is True when the words that set it off were whispered; ``done_before`` are world
    acts of earlier attempts at the same events, which were done or may have been.
    """

    id: int
    audience: Audience
    private: bool
    events: tuple[InboxEvent, ...]
    overheard: tuple[InboxEvent, ...] = ()
    done_before: tuple[ToolCallRequest, ...] = ()

    @property
    def hops(self) -> int:
        """The longest chain of assistants' answers that led here."""
        return max((event.heard.hops for event in self.events), default=0)

    @property
    def askers(self) -> Audience:
        """Those who wait for the answer: everybody who heard what set the turn off."""
        return frozenset().union(*(event.heard.audience for event in self.events))

    @property
    def speakers(self) -> Audience:
        """Everybody whose new words are in this turn."""
        heard = (event.heard.speaker for event in (*self.events, *self.overheard))
        return frozenset(speaker for speaker in heard if speaker)


@dataclass(frozen=True)
class OpenEvents:
    """What calls for an answer, oldest first: ``waiting`` has no turn yet; the answer to what is
    ``doubtful`` was on its way when the server died."""

    waiting: tuple[InboxEvent, ...] = ()
    doubtful: tuple[InboxEvent, ...] = ()

    def __bool__(self) -> bool:
        """Return True if anybody waits for an answer."""
        return bool(self.waiting or self.doubtful)


class Conversation(Protocol):
    """One assistant's log: append-only, with the view of it that a model may see."""

    def append(self, messages: Sequence[Message]) -> list[Message]:
        """Store messages in one transaction; returns them with ``seq`` and ``at`` filled in."""

    def view(self) -> Sequence[Message]:
        """The last compaction's marker, if any, and every message after it. Do not mutate."""

    @property
    def current(self) -> View:
        """The view with its sizes, and with what can be called to mind of what is out of it."""

    def compact(self, record: CompactionRecord) -> CompactionRecord:
        """Store a compaction; returns it with its id. The log itself stays as it is."""

    def mask(self, upto_seq: int) -> int:
        """Show long tool results up to a message masked from now on; returns how many."""

    def undo(self) -> CompactionRecord | None:
        """Put the last compaction out of force; returns it, None where there is none."""

    def to_archive(self) -> list[tuple[CompactionRecord, bool]]:
        """Return compactions whose journal entries are missing (True) or must go (False)."""

    def note_archived(self, id: int, archived: bool) -> None:
        """Store whether a compaction has its journal entries."""


class Inbox(Protocol):
    """One assistant's stored events."""

    def put(self, heard: Heard) -> int:
        """Store before anything else happens; returns the event's id."""

    def open_events(self) -> OpenEvents:
        """Everything that calls for an answer and has none."""

    def overheard(self) -> Sequence[InboxEvent]:
        """Events that will be taken into the log with the next turn, oldest first."""

    def close(self, event_ids: Sequence[int], state: str, reason: str = "") -> None:
        """End events as answered, excused, noted or expired."""


class Turns(Protocol):
    """One assistant's turns, model calls and acts; ``current`` is the open turn's id, if any."""

    @property
    def current(self) -> int | None:
        """Return the id of the open turn, None if none is open."""

    def begin(
        self, events: Sequence[InboxEvent], audience: Audience, private: bool, context: str
    ) -> TurnRecord:
        """Open a turn in one transaction: claim its events, take what was overheard since the
        last turn, and append both to the conversation in the order they were heard."""

    def finish(self, turn_id: int, outcome: str, detail: str = "") -> None:
        """Close a turn with its outcome and close the events it named accordingly."""

    def give_back(self, turn_id: int) -> None:
        """Close a turn whose answer nobody could hear; its events wait again, or are doubtful where
        something may have been said."""

    def recover(self) -> None:
        """Close the turn that an error left open, if any, by what is known of its acts."""

    def is_current(self, turn_id: int) -> bool:
        """False once the turn was closed or its lease belongs to an older process."""

    def record_model_call(self, turn_id: int | None, call: ModelCallRecord) -> None:
        """Store what one model call cost and how it ended; None where it belongs to no turn."""

    def intend(self, turn_id: int, call: ToolCallRequest, world: bool) -> int:
        """Store the intent of an act before it is done; returns its id."""

    def record_outcome(
        self, act_id: int, state: str, result: str, messages: Sequence[Message] = ()
    ) -> None:
        """Store how an act ended, done, failed, refused or unknown, and append what the
        conversation holds of it, in one transaction: a crash leaves both or neither."""


@dataclass(frozen=True)
class ModelCallRecord:
    """What one model call was and cost; ``error`` is empty when it went well; ``speakers`` are
    those whose words set it off."""

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
