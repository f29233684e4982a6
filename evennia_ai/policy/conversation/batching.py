"""Which events belong together, who talks with whom, and when a character acts unasked."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evennia_ai.messages import (
    OWN_RESULTS,
    PERCEIVED,
    PUPPETED,
    SPEECH,
    Audience,
    ChatMessage,
    InboxEvent,
    make_message,
    wire_call,
)

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


def askers_of(events: Iterable[InboxEvent]) -> Audience:
    """Return the dbrefs of the people whom a turn on some events answers (`models.Turn`).

    ``events`` are those that the turn takes up, without what was only overheard.
    """
    lines = [event.heard for event in events]
    return frozenset([line.speaker for line in lines if line.speaker and line.evidence != PUPPETED])


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


def began_at(
    partner: str, last_at: datetime, messages: Iterable[ChatMessage], timeout_s: float
) -> datetime:
    """Return when the talk with somebody began: after the last silence longer than the limit."""
    began, meta = last_at, (message["metadata"] for message in messages)
    times = (item["at"] for item in meta if item.get("speaker") == partner and item.get("at"))
    for at in sorted(map(datetime.fromisoformat, times), reverse=True):
        if (began - at).total_seconds() > timeout_s:
            break
        began = min(began, at)
    return began


def is_stale(last_at: datetime, now: datetime, timeout_s: float) -> bool:
    """Return True if a conversation timed out or the clock was set back."""
    return abs((now - last_at).total_seconds()) > timeout_s


HOUR_S = 3_600.0


@dataclass(frozen=True)
class AutonomyState:
    """The input of the decision; times in seconds of one clock, None for never."""

    now: float
    players_near: bool
    acts: Sequence[float] = ()  # earlier autonomous calls, answers to assistants among them
    last_talk_at: float | None = None  # in the room
    news_at: float | None = None  # the last event that deserves a reaction


def should_act(state: AutonomyState, calls_per_hour: int, quiet_s: float) -> bool:
    """Decide whether to think now without being asked; ``quiet_s`` is the silence before a call."""
    # News (an arrival, a message of the game) gets a reaction after a short silence. Without news,
    # the acts are spread evenly over the hour.
    acts = acts_of_hour(state.acts, state.now)
    if not state.players_near or len(acts) >= calls_per_hour:
        return False
    last_act = acts[-1] if acts else -math.inf
    has_news = state.news_at is not None and state.news_at > last_act
    if not has_news and state.now - last_act < HOUR_S / calls_per_hour:
        return False
    least_s = min(quiet_s, 2.0) if has_news else quiet_s
    return state.last_talk_at is None or state.now - state.last_talk_at >= least_s


def may_answer_assistant(acts: Sequence[float], now: float, calls_per_hour: int) -> bool:
    """Return True if the hour has a call left for an answer to another assistant.

    An assistant with 0 calls never acts unasked; only `max_bot_replies` limits such answers of its.
    """
    return calls_per_hour == 0 or len(acts_of_hour(acts, now)) < calls_per_hour


def acts_of_hour(acts: Sequence[float], now: float) -> list[float]:
    """Return the times within the last hour; a clock that was set back leaves later ones."""
    return [at for at in acts if 0 <= now - at < HOUR_S]


def heard_messages(events: Iterable[InboxEvent], turn_id: int) -> list[ChatMessage]:
    """Return events as messages of the conversation: own words as the call of a tool."""
    return [message for event in events for message in messages_of(event, turn_id)]


def messages_of(event: InboxEvent, turn_id: int) -> list[ChatMessage]:
    incoming = event.heard
    known: Any = {"event_id": event.id, "turn_id": turn_id, "at": event.at.isoformat()}
    known |= {"audience": sorted(incoming.audience), "authors": sorted(incoming.written_by)}
    known |= {"private": incoming.secret, "evidence": incoming.evidence}
    if incoming.evidence == PUPPETED:
        return own_messages(f"B{event.id:08d}", incoming.kind, incoming.text, **known)
    if not incoming.addressed:
        known["overheard"] = True
    speaker, name = incoming.speaker, incoming.speaker_name
    return [make_message("user", incoming.line, speaker=speaker, speaker_name=name, **known)]


def own_messages(
    call_id: str, kind: str, text: str, evidence: str = "", **metadata: Any
) -> list[ChatMessage]:
    """Return own words or a gesture as the call that made them, and its result."""
    call, result = wire_call(call_id, kind, json.dumps({"text": text})), OWN_RESULTS[kind]
    return [
        make_message("assistant", "", tool_calls=[call], evidence=evidence, **metadata),
        make_message("tool", result, tool_call_id=call_id, evidence=PERCEIVED, **metadata),
    ]
