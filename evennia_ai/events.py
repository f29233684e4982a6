"""What a character hears and sees, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

Audience = frozenset[str]


@dataclass(frozen=True)
class Heard:
    """Something that reached the character's ears, before it is stored.

    ``audience`` are the dbrefs of everybody else who heard it, the speaker among them;
    ``private`` True for a whisper; ``addressed`` True where it calls for a turn; ``hops`` counts
    how many assistants' answers in a row led to it.
    """

    kind: str
    speaker: str
    speaker_name: str
    text: str
    audience: Audience
    private: bool = False
    addressed: bool = False
    hops: int = 0
    reason: str = ""

    @property
    def confidants(self) -> Audience | None:
        """Who alone may know of it, None for room talk: what `policy.audience.visible` compares."""
        return self.audience if self.private else None


@dataclass(frozen=True)
class InboxEvent:
    """A stored event."""

    id: int
    at: datetime
    heard: Heard
    attempts: int = 0


@dataclass(frozen=True)
class Situation:
    """What the character sees right now, in plain words.

    ``notes`` are a game's own: weather, hunger, what it is in the middle of.
    """

    place: str = ""
    description: str = ""
    people: tuple[str, ...] = ()
    exits: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    carrying: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
