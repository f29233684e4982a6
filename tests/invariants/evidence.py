"""Plain rows: what a game's tables hold, and what the world saw.

Everybody is named as in an audience, by dbref. A moment is any number that grows, such as unix
seconds. A check passes over a field that is None.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Audience = frozenset[str]


@dataclass(frozen=True)
class Violation:
    """A broken promise: which one, by which assistant, and how."""

    promise: str
    assistant: str
    text: str

    def __str__(self) -> str:
        return f"{self.promise} {self.assistant}: {self.text}"


@dataclass(frozen=True)
class Put:
    """An utterance whose `put` returned. From then on P1 holds for it."""

    assistant: str
    event_id: int
    text: str


@dataclass(frozen=True)
class EventRow:
    """One row of the inbox.

    ``secret`` is the part of its text that only ``audience`` and the assistant were told; no other
    line holds it. It is empty for room talk.
    """

    assistant: str
    id: int
    text: str
    state: str
    reason: str = ""
    turn_id: int | None = None
    secret: str = ""
    audience: Audience = frozenset()


@dataclass(frozen=True)
class TurnRow:
    """One turn. ``events`` are the ids of the events it began with; ``epoch`` is its process."""

    assistant: str
    id: int
    epoch: int
    events: tuple[int, ...]
    began: float
    ended: float | None
    outcome: str = ""


@dataclass(frozen=True)
class ActRow:
    """An intent with its outcome.

    ``moment`` is when the intent was stored. ``logged`` is False if the conversation holds no
    message of it, as for notes that are written before a compaction.
    """

    assistant: str
    turn_id: int
    call_id: str
    name: str
    arguments: str
    world: bool
    state: str
    safe_to_retry: bool = False
    moment: float | None = None
    logged: bool = True


@dataclass(frozen=True)
class MessageRow:
    """One message of the log.

    ``calls`` are the ids of its tool calls. ``moment`` is when it was stored.
    """

    assistant: str
    seq: int
    role: str
    content: str
    event_id: int | None = None
    turn_id: int | None = None
    private: bool = False
    audience: Audience = frozenset()
    calls: tuple[str, ...] = ()
    call_id: str = ""
    moment: float | None = None


@dataclass(frozen=True)
class Deed:
    """Something that happened in the world.

    ``events`` are those of the turn that did it. ``text`` holds all its words. ``heard_by`` is
    everybody who noticed. ``excuse`` is True for the fallback line. ``lease_held`` says whether its
    turn was still allowed to act.
    """

    assistant: str
    name: str
    arguments: str
    call_id: str
    turn_id: int
    events: tuple[int, ...]
    text: str = ""
    heard_by: Audience = frozenset()
    excuse: bool = False
    safe_to_retry: bool = False
    lease_held: bool | None = None
    moment: float | None = None


@dataclass(frozen=True)
class RequestRow:
    """A request as a model got it.

    ``audience`` is who would hear the answer; None for a summary, which nobody hears. ``step``
    counts the turn's requests from 1, and is 0 for a summary. ``moment`` and ``ended`` are when it
    began and ended, in the process ``epoch``.
    """

    assistant: str
    turn_id: int
    step: int
    audience: Audience | None
    text: str
    epoch: int = 0
    moment: float | None = None
    ended: float | None = None


@dataclass(frozen=True)
class CompactionRow:
    """A compaction: the messages from ``from_seq`` to ``upto_seq`` are summed up.

    ``count`` is the number of messages that its record states. ``parts`` maps an audience
    (``public``, or dbrefs separated by commas) to its summary and facts; ``memories`` to what
    the journal is to hold of it.
    """

    assistant: str
    id: int
    from_seq: int
    upto_seq: int
    undone: bool = False
    count: int | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    memories: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ViewRow:
    """What a model would be shown: a compaction's marker, or None, and the messages after it."""

    assistant: str
    marker: int | None
    seqs: tuple[int, ...]


@dataclass(frozen=True)
class EntryRow:
    """A journal entry. Only ``audience`` may know it; None means everybody."""

    assistant: str
    text: str
    audience: Audience | None = None
    id: str = ""


@dataclass
class Evidence:
    """All rows of a game that are judged."""

    puts: list[Put] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    turns: list[TurnRow] = field(default_factory=list)
    acts: list[ActRow] = field(default_factory=list)
    messages: list[MessageRow] = field(default_factory=list)
    deeds: list[Deed] = field(default_factory=list)
    requests: list[RequestRow] = field(default_factory=list)
    compactions: list[CompactionRow] = field(default_factory=list)
    views: list[ViewRow] = field(default_factory=list)
    entries: list[EntryRow] = field(default_factory=list)
