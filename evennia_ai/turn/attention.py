"""The awake part of a tick: take what waits in the inbox, batch by batch, and answer it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import ProviderError, TurnAborted
from evennia_ai.policy.inbox import Batch, next_batch, select_expired
from evennia_ai.ports import InboxEvent, TurnRecord
from evennia_ai.turn.prompt_contexts import (
    CONTEXT_TICK_AUTONOMOUS,
    CONTEXT_TICK_EVENT,
    PromptContext,
)
from evennia_ai.turn.react_loop import ANSWERED, EXPIRED, NOTED, Outcome, excuse, run_turn

log = Logger()

FAILED = "failed"
ANSWER_LOST = "the server went down while the answer was on its way"
INTERNAL_ERROR = "internal error"
TURNS_A_TICK = 20


@inlineCallbacks
def answer_events(script: Any) -> Generator[Deferred[Any], Any, int]:
    """Answer everything that waits, one turn after the other.

    A turn that an error or a lost lease left open is closed first, and its events are taken up
    again. Fires with the number of turns, at most `TURNS_A_TICK`; fails with TurnAborted where the
    lease was lost.
    """
    turns = 0
    script.turns.recover()
    while turns < TURNS_A_TICK:
        doubtful = take_batch(script, script.inbox.doubtful())
        batch = doubtful or take_batch(script, script.inbox.waiting())
        if batch is None:
            break
        turns += 1
        yield think(script, batch, answer_lost=doubtful is not None)
    return turns


def take_batch(script: Any, events: Sequence[InboxEvent]) -> Batch | None:
    """Close what waited too long, with its reason, and choose the next batch from the rest."""
    expired = select_expired(events, script.services.now(), script.config.event_max_age)
    for item in expired:
        script.inbox.close([item.event.id], EXPIRED, item.reason)
    gone = {item.event.id for item in expired}
    present = script.services.world.listeners(script.character)
    return next_batch([event for event in events if event.id not in gone], present)


@inlineCallbacks
def think(
    script: Any, batch: Batch, answer_lost: bool = False
) -> Generator[Deferred[Any], Any, None]:
    """One turn from its opening to its end, which always has an outcome.

    A model that gives no answer in time is made good by the fallback line. Where an answer may have
    been heard before a crash (``answer_lost``), the model is not asked again: a short excuse closes
    the matter.
    """
    context = CONTEXT_TICK_EVENT
    turn = script.turns.begin(batch.events, batch.audience, batch.private, context.name)
    outcome = Outcome(FAILED, ANSWER_LOST)
    if not answer_lost:
        outcome = yield try_visibly(script, turn, context)
    if outcome.state != ANSWERED and not askers_present(script, turn):
        script.turns.give_back(turn.id)
        return
    if outcome.state == FAILED:
        outcome = yield excuse(script, turn, outcome.detail)
    script.turns.finish(turn.id, outcome.state, outcome.detail)


def askers_present(script: Any, turn: TurnRecord) -> bool:
    """True where at least one of those who wait for the answer would hear it now."""
    return bool(turn.askers & script.services.world.listeners(script.character))


@inlineCallbacks
def act_unasked(script: Any) -> Generator[Deferred[Any], Any, None]:
    """One turn nobody set off. A model that fails leaves no trace in the room: nobody waits."""
    context = CONTEXT_TICK_AUTONOMOUS
    audience = script.services.world.listeners(script.character)
    turn = script.turns.begin((), audience, False, context.name)
    outcome: Outcome = yield try_turn(script, turn, context)
    state = NOTED if outcome.state == FAILED else outcome.state
    script.turns.finish(turn.id, state, outcome.detail)


@inlineCallbacks
def try_visibly(
    script: Any, turn: TurnRecord, context: PromptContext
) -> Generator[Deferred[Any], Any, Outcome]:
    """`try_turn`, while those who wait for the answer are shown that one is on its way."""
    services = script.services
    services.thinking(script, turn, True)
    try:
        outcome: Outcome = yield try_turn(script, turn, context)
    finally:
        services.thinking(script, turn, False)
    return outcome


@inlineCallbacks
def try_turn(
    script: Any, turn: TurnRecord, context: PromptContext
) -> Generator[Deferred[Any], Any, Outcome]:
    """Think within the turn's deadline.

    Fires with the outcome, whose state is `FAILED` where no answer came, for a reason of the
    model's or, logged with its traceback, of our own; fails with TurnAborted alone.
    """
    deadline_at = script.services.clock.seconds() + script.config.turn_deadline
    try:
        outcome: Outcome = yield run_turn(script, turn, context, deadline_at)
    except TurnAborted:
        raise
    except ProviderError as error:
        log.warn(
            "{name}: no answer from the model: {error}", name=script.character_name, error=error
        )
        return Outcome(FAILED, f"{error.kind}: {error}")
    except Exception as error:  # noqa: BLE001  # the turn's guard: it must always have an outcome
        log.failure("{name}: a turn failed", name=script.character_name)
        return Outcome(FAILED, f"{INTERNAL_ERROR}: {type(error).__name__}")
    return outcome
