"""Answer the events in the inbox, batch by batch, and act autonomously."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import (
    CircuitOpen,
    OutcomeUnknown,
    ProviderError,
    ProviderMisconfigured,
    StoreUnavailable,
    TurnAborted,
)
from evennia_ai.messages import InboxEvent, turn_label
from evennia_ai.policy.conversation.inbox import GAVE_UP, Batch, expiry_reason, next_batch
from evennia_ai.ports import Script, TurnRecord
from evennia_ai.scheduling import Steps, pause, persist
from evennia_ai.turn.fallback import excuse
from evennia_ai.turn.index_upkeep import remember_turn
from evennia_ai.turn.people import record_contacts
from evennia_ai.turn.prompt_contexts import (
    CONTEXT_EXCUSE,
    CONTEXT_TICK_AUTONOMOUS,
    CONTEXT_TICK_EVENT,
    PromptContext,
)
from evennia_ai.turn.react_loop import ANSWERED, EXPIRED, NOTED, Outcome, run_turn
from evennia_ai.turn.screening import is_screened, judge_events

log = Logger()

FAILED = "failed"
ANSWER_LOST = "the server went down while the answer was on its way"
INTERNAL_ERROR = "internal error"
TURNS_A_TICK = 20
REMEMBERED_S = 3_600.0


@inlineCallbacks
def answer_events(script: Script) -> Steps[int]:
    """Answer every waiting event, one turn after the other.

    First close a turn that an error or a lost lease left open; its events are handled again. Fires
    with the number of turns, at most `TURNS_A_TICK`; fails with TurnAborted if the lease was lost,
    and with StoreUnavailable if the database stays busy.
    """
    turns, checked = 0, set[int]()
    script.turns.recover()
    while turns < TURNS_A_TICK:
        if turns:  # each turn has made the conversation longer
            yield script.compact_in_emergency()
        open_events = script.inbox.open_events()
        doubtful = take_batch(script, open_events.doubtful)
        batch = doubtful or take_batch(script, open_events.waiting)
        if batch is None:
            break
        if not doubtful and (yield screen(script, checked, batch.events)):
            continue  # with what is left and what is new
        turns += 1
        try:
            yield think(script, batch, answer_lost=doubtful is not None)
        except OutcomeUnknown as error:
            turn, name = turn_label(script.turns.current), script.character_name
            log.warn("{name}, {turn}: {error}; closing the turn", name=name, turn=turn, error=error)
            script.turns.recover()
    return turns


def take_batch(script: Script, events: Sequence[InboxEvent]) -> Batch | None:
    """Expire events that waited too long and return the next batch of the others, if any.

    Tell speakers who are still present that recently expired words were not heard.
    """
    now = script.services.now()
    present = script.services.world.listeners(script.character)
    left: list[InboxEvent] = []
    recent = set()
    for event in events:
        reason = expiry_reason(event, now, script.config.event_max_age)
        if reason is None:
            left.append(event)
            continue
        script.inbox.close([event.id], EXPIRED, reason)
        if (now - event.at).total_seconds() <= REMEMBERED_S:
            recent.add(event.heard.speaker)
    script.tell("unheard", sorted(recent & present))
    held_back = script.services.held_back({event.heard.speaker for event in left})
    return next_batch(left, present, held_back)


@inlineCallbacks
def screen(script: Script, checked: set[int], events: Sequence[InboxEvent] = ()) -> Steps[bool]:
    """Judge the words of events, and of what was overheard, that are not ``checked`` yet.

    Close the refused ones and tell their speakers; such words never enter the conversation. Fires
    with True if there were any to judge: much may have changed while moderation was asked.
    """
    if not is_screened(script):
        return False
    waiting = (*events, *script.inbox.overheard())
    new = [event for event in waiting if event.id not in checked]
    if not new:
        return False
    verdicts = yield judge_events(script, new)
    checked |= {event.id for event in new}
    for event in (event for event in new if event.id in verdicts):
        key, reason = verdicts[event.id]
        script.inbox.close([event.id], EXPIRED, reason)
        if event.heard.addressed:
            script.tell(key, [event.heard.speaker])
    return True


@inlineCallbacks
def think(script: Script, batch: Batch, answer_lost: bool = False) -> Steps[None]:
    """Run one turn from its start to its outcome.

    If the model gives no answer in time, the character says the fallback line. If an answer may
    have been heard before a crash (``answer_lost``), or too many attempts failed, the model is not
    asked again and a short excuse closes the turn. The typing indicator is shown until the last
    word of the answer or the fallback line.

    Fires when the outcome is stored; fails with TurnAborted, OutcomeUnknown and StoreUnavailable.
    """
    context = CONTEXT_EXCUSE if answer_lost else CONTEXT_TICK_EVENT
    services = script.services
    clock = services.clock
    turn: TurnRecord = yield persist(clock, lambda: begin_turn(script, batch, context))
    lost = ANSWER_LOST if answer_lost else GAVE_UP if batch.exhausted else ""
    services.thinking(script, turn, True)
    try:
        outcome: Outcome | None = yield reach_outcome(script, turn, context, lost)
    finally:
        services.thinking(script, turn, False)
    if outcome is None:
        yield persist(clock, lambda: script.turns.give_back(turn.id))
        return
    yield pause(services.slices.put)
    yield close_turn(script, turn, outcome)
    if outcome.state == ANSWERED:
        yield record_contacts(script, turn)
    yield remember_turn(script)


@inlineCallbacks
def reach_outcome(
    script: Script, turn: TurnRecord, context: PromptContext, lost: str
) -> Steps[Outcome | None]:
    """Try to answer, else say the fallback line; ``lost`` is why the model is not asked, if so.

    Fires with the outcome, None if nobody is present who waits for the answer.
    """
    outcome = Outcome(FAILED, lost) if lost else (yield try_turn(script, turn, context))
    if outcome.state == ANSWERED:
        return outcome
    if turn.askers.isdisjoint(script.services.world.listeners(script.character)):
        return None
    if outcome.state == FAILED:
        outcome = yield excuse(script, turn, outcome, bool(lost))
    return outcome


def begin_turn(script: Script, batch: Batch, context: PromptContext) -> TurnRecord:
    """Open a turn; raises StoreUnavailable, and TurnAborted if the assistant may not think now."""
    if not script.may_think():
        raise TurnAborted("a turn did not begin in time")
    return script.turns.begin(batch.events, batch.audience, batch.private, context.name)


def close_turn(script: Script, turn: TurnRecord, outcome: Outcome) -> Deferred[None]:
    """Store the outcome of a turn. Fires when it is stored; fails with StoreUnavailable."""
    finish = partial(script.turns.finish, turn.id, outcome.state, outcome.detail)
    return persist(script.services.clock, finish)


@inlineCallbacks
def act_autonomously(script: Script) -> Steps[None]:
    """Run one autonomous turn. If the model fails, nobody in the room notices."""
    checked: set[int] = set()
    while (yield screen(script, checked)):
        pass
    context = CONTEXT_TICK_AUTONOMOUS
    audience = script.services.world.listeners(script.character)
    turn = script.turns.begin((), audience, False, context.name)
    outcome: Outcome = yield try_turn(script, turn, context)
    if outcome.state == FAILED:
        outcome = replace(outcome, state=NOTED)
    yield close_turn(script, turn, outcome)


@inlineCallbacks
def try_turn(script: Script, turn: TurnRecord, context: PromptContext) -> Steps[Outcome]:
    """Run a turn within its deadline.

    Fires with the outcome, which is `FAILED` if the model failed or an error of ours was logged.
    Fails with TurnAborted, and with StoreUnavailable: then nothing can be said either.
    """
    named = f"{script.character_name}, {turn_label(turn.id)}"
    deadline_at = script.services.clock.seconds() + script.config.turn_deadline
    try:
        outcome: Outcome = yield run_turn(script, turn, context, deadline_at)
    except (TurnAborted, StoreUnavailable):
        raise
    except ProviderError as error:
        known = isinstance(error, (CircuitOpen, ProviderMisconfigured))  # the gateway warned
        tell = log.info if known else log.warn
        tell("{named}: no answer from the model: {error}", named=named, error=error)
        return Outcome(FAILED, f"{error.kind}: {error}", error.kind)
    except Exception as error:  # noqa: BLE001  # the turn's guard: it must always have an outcome
        log.failure("{named}: the turn failed", named=named)
        return Outcome(FAILED, f"{INTERNAL_ERROR}: {type(error).__name__}")
    return outcome
