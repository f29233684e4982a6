"""Which of the waiting events the next turn takes, and which have waited too long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.messages import Audience, InboxEvent

SPEECH = frozenset({"say", "whisper"})
WAITING, DOUBTFUL, ANSWERED = "waiting", "doubtful", "answered"
MAX_ATTEMPTS = 3
MAX_EXCUSES = 2
# The name of the turns that close what may have been said with a short line.
EXCUSE = "excuse"

TOO_OLD = "too old to answer"
GAVE_UP = "gave up after several attempts"


@dataclass(frozen=True)
class Expired:
    """An event that gets no turn any more, and why."""

    event: InboxEvent
    reason: str


@dataclass(frozen=True)
class Batch:
    """What one turn takes: events that were heard by the same ears.

    ``audience`` is who will hear the answer; ``private`` True where it was whispered.
    """

    events: tuple[InboxEvent, ...]
    audience: Audience
    private: bool

    @property
    def exhausted(self) -> bool:
        """True where an answer was tried for often enough: there will be an excuse only."""
        return any(is_exhausted(event) for event in self.events)


def is_exhausted(event: InboxEvent) -> bool:
    """True where an event has had all its attempts at an answer."""
    return event.attempts >= MAX_ATTEMPTS


def expiry_reason(event: InboxEvent, now: datetime, max_age_s: float) -> str | None:
    """Why an event must not be answered any more, None where it may."""
    if event.attempts >= MAX_ATTEMPTS + MAX_EXCUSES:
        return GAVE_UP
    if (now - event.at).total_seconds() > max_age_s:
        return TOO_OLD
    return None


def select_expired(events: Iterable[InboxEvent], now: datetime, max_age_s: float) -> list[Expired]:
    """The events that must be closed unanswered.

    Args:
        events: those waiting for a turn.
        now: the time, UTC.
        max_age_s: the age in seconds from which an answer would be stale.
    """
    judged = ((event, expiry_reason(event, now, max_age_s)) for event in events)
    return [Expired(event, reason) for event, reason in judged if reason]


def is_reachable(event: InboxEvent, present: Audience) -> bool:
    """True where somebody who should hear the answer is there. Who left may come back in time."""
    return bool(present & event.heard.audience)


def next_batch(events: Sequence[InboxEvent], present: Audience) -> Batch | None:
    """The oldest event with every other that was heard by the same ears.

    All room talk is one batch, whoever spoke; a whisper goes with whispers among the same people,
    so that no prompt ever joins what two people told in confidence. What was tried for too often
    goes by itself. None where nobody can be reached.
    """
    reachable = [event for event in events if is_reachable(event, present)]
    if not reachable:
        return None
    first, exhausted = reachable[0].heard, is_exhausted(reachable[0])
    reachable = [event for event in reachable if is_exhausted(event) == exhausted]
    if not first.private:
        return Batch(tuple(e for e in reachable if not e.heard.private), present, False)
    same = tuple(e for e in reachable if e.heard.private and e.heard.audience == first.audience)
    return Batch(same, first.audience, True)


def state_after_loss(acts: Iterable[tuple[str, str]], was_doubtful: bool = False) -> str:
    """The state of a lost turn's events, from its acts as (name, state).

    Words that were certainly said answered them; words that may have been said leave them
    doubtful, to be closed by an excuse; otherwise they wait for a new turn. What was doubtful
    before (``was_doubtful``) stays so: its excuse alone was lost.
    """
    speech = {state for name, state in acts if name in SPEECH}
    if "done" in speech:
        return ANSWERED
    return DOUBTFUL if was_doubtful or "intended" in speech else WAITING
