"""Decisions on inbox events: which the next turn takes, and which expire."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.messages import SPEECH, Audience, InboxEvent

WAITING, DOUBTFUL, ANSWERED = "waiting", "doubtful", "answered"
MAX_ATTEMPTS = 3
MAX_EXCUSES = 2
MANY = 5  # lines of one speaker that wait

TOO_OLD = "too old to answer"
GAVE_UP = "gave up after several attempts"


@dataclass(frozen=True)
class Batch:
    """The events of one turn, all with the same audience."""

    events: tuple[InboxEvent, ...]
    audience: Audience  # everybody who will hear the answer
    private: bool  # True for whispers

    @property
    def exhausted(self) -> bool:
        """True if all attempts at an answer were used, so that only an excuse follows."""
        return any(is_exhausted(event) for event in self.events)


def is_exhausted(event: InboxEvent) -> bool:
    """Return True if all of an event's attempts at an answer were used."""
    return event.attempts >= MAX_ATTEMPTS


def expiry_reason(event: InboxEvent, now: datetime, max_age_s: float) -> str | None:
    """Return why an event must not be answered any more, None if it may be."""
    if event.attempts >= MAX_ATTEMPTS + MAX_EXCUSES:
        return GAVE_UP
    if (now - event.at).total_seconds() > max_age_s:
        return TOO_OLD
    return None


def next_batch(
    events: Sequence[InboxEvent], present: Audience, held_back: Iterable[str] = ()
) -> Batch | None:
    """Return the oldest reachable event and all others with the same audience, None without one.

    Events of speakers who are ``held_back``, or of whom `MANY` wait, come after those of others.

    All room talk is one batch, whoever spoke. Whispers are batched by their parties, so no prompt
    ever combines what two people said in confidence. Exhausted events form batches of their own. An
    event is reachable if one of its hearers is present; the others wait for a hearer's return.
    """
    reachable = [event for event in events if present & event.heard.audience]
    if not reachable:
        return None
    waiting = Counter(event.heard.speaker for event in reachable)
    pushing = {*held_back, *(speaker for speaker, count in waiting.items() if count >= MANY)}
    others = (event for event in reachable if event.heard.speaker not in pushing)
    oldest = next(others, reachable[0])
    first, exhausted = oldest.heard, is_exhausted(oldest)
    reachable = [event for event in reachable if is_exhausted(event) == exhausted]
    if not first.private:
        return Batch(tuple(e for e in reachable if not e.heard.private), present, False)
    same = tuple(e for e in reachable if e.heard.private and e.heard.audience == first.audience)
    return Batch(same, first.audience, True)


def state_after_loss(acts: Iterable[tuple[str, str]], was_doubtful: bool = False) -> str:
    """Return the state of the events of a turn that a crash cut off.

    ``acts`` are its tool calls as (tool, state). If the character certainly spoke, the events are
    answered. If it may have spoken, or if the turn was itself an excuse (``was_doubtful``), a short
    excuse closes them. Otherwise they wait for a new turn.
    """
    speech = {state for name, state in acts if name in SPEECH}
    if "done" in speech:
        return ANSWERED
    return DOUBTFUL if was_doubtful or "intended" in speech else WAITING
