"""Doing what a reply asks for: the intent is stored before each act, the outcome after (P2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred

from evennia_ai.errors import OutcomeUnknown
from evennia_ai.messages import (
    Audience,
    LLMReply,
    Message,
    ToolCallRequest,
    make_message,
    wire_call,
)
from evennia_ai.policy.compaction.consulted import CHANGED, READ
from evennia_ai.policy.conversation.inbox import SPEECH
from evennia_ai.policy.conversation.react import (
    LoopState,
    apply_call,
    refusal_for,
    take_calls,
    wire_arguments,
)
from evennia_ai.ports import Script, ToolContext, ToolResult, ToolSpec, TurnRecord
from evennia_ai.scheduling import Steps, persist
from evennia_ai.turn.llm_interaction import ensure_current

REFUSED, DONE, FAILED, UNKNOWN = "refused", "done", "failed", "unknown"
TOO_SLOW = "That took too long, and may or may not have happened. Do not do it again."
LEAST_TOOL_TIME_S = 1.0
LEAST_REPLY_TIME_S = 3.0

AsLogged = Callable[[ToolResult], Sequence[Message]]


@dataclass(frozen=True)
class Worked:
    """What came of a reply's calls: the loop after them, the names of what was done, and whose
    words came to mind by it."""

    state: LoopState
    done: frozenset[str]
    remembered: Audience


@inlineCallbacks
def perform(
    script: Script,
    turn: TurnRecord,
    context: ToolContext,
    call: ToolCallRequest,
    world: bool,
    as_logged: AsLogged,
) -> Steps[ToolResult]:
    """Run one call between its stored intent and its stored outcome.

    Args:
        script: the assistant.
        turn: the open turn.
        context: for whom and on whose words, and until when. A tool that hangs is given up
            `LEAST_REPLY_TIME_S` before that, so that the model can still say something; later it
            has `LEAST_TOOL_TIME_S`, as far as there is that much left.
        call: what to run.
        world: True for an act that others notice.
        as_logged: what the conversation will hold of it, stored together with the outcome.

    Fires with the `ToolResult`; fails with TurnAborted where the lease is lost, with OutcomeUnknown
    where speech is given up, and with StoreUnavailable where the intent cannot be stored, and
    nothing was done, or the outcome cannot. The last two leave the outcome unknown.
    """
    clock = script.services.clock
    act_id = yield persist(clock, lambda: intend(script, turn, call, world))
    left_s = context.deadline_at - clock.seconds()
    time_s = max(left_s - LEAST_REPLY_TIME_S, min(left_s, LEAST_TOOL_TIME_S), 0.0)
    running = script.services.toolbox.run(context, call)
    result: ToolResult = yield give_time(running, time_s, clock, partial(given_up, call, world))
    yield persist(
        clock,
        lambda: script.turns.record_outcome(act_id, result.state, result.text, as_logged(result)),
    )
    ensure_current(script, turn)
    return result


def give_time(
    running: Deferred[ToolResult], time_s: float, clock: Any, otherwise: Callable[[], ToolResult]
) -> Deferred[ToolResult]:
    """What a tool comes to within its time, else what ``otherwise`` returns or raises.

    A game's tool may take no notice of being cancelled (`Deferred.addTimeout` would wait for it
    all the same); what it brings later is dropped.
    """
    came: Deferred[ToolResult] = Deferred()

    def arrive(result: Any) -> None:
        if not came.called:
            timer.cancel()
            came.callback(result)

    def stop() -> None:
        maybeDeferred(otherwise).chainDeferred(came)
        running.cancel()

    timer = clock.callLater(time_s, stop)
    running.addBoth(arrive)
    return came


def given_up(call: ToolCallRequest, world: bool) -> ToolResult:
    """What came of a tool that was cancelled.

    An act that may have been done must not count as failed, or it is done again (P2). Words that
    may have been heard end the turn, for an excuse: raises OutcomeUnknown.
    """
    if call.name in SPEECH:
        raise OutcomeUnknown(f"{call.name} came to no end and may have been heard")
    return ToolResult(UNKNOWN if world else FAILED, TOO_SLOW)


def intend(script: Script, turn: TurnRecord, call: ToolCallRequest, world: bool) -> int:
    """Store an intent, as long as the turn holds its lease."""
    ensure_current(script, turn)
    act_id: int = script.turns.intend(turn.id, call, world)
    return act_id


@inlineCallbacks
def execute_calls(
    script: Script,
    turn: TurnRecord,
    context: ToolContext,
    reply: LLMReply,
    specs: Mapping[str, ToolSpec],
    state: LoopState,
) -> Steps[Worked]:
    """Work off a reply's calls one by one, in their order. Fires with what came of them."""
    categories = {spec.name: spec.category for spec in specs.values()}
    limit = script.config.max_tool_calls
    done: set[str] = set()
    for number, call in enumerate(take_calls(reply, state, limit)):
        refusal = refusal_for(call, number, state, categories, reply.finish_reason, limit)
        as_logged = partial(call_messages, turn, context, call)
        if refusal:
            result = yield refuse(script, turn, call, refusal, as_logged)
        else:
            spec = specs.get(call.name)
            world = spec is None or spec.world
            result = yield perform(script, turn, context, call, world, as_logged)
        may_be_done = result.state in (DONE, UNKNOWN)
        state = apply_call(state, call, may_be_done, categories)
        if result.state == DONE:
            done.add(call.name)
        context = replace(context, remembered=context.remembered | result.speakers)
    return Worked(state, frozenset(done), context.remembered)


@inlineCallbacks
def refuse(
    script: Script, turn: TurnRecord, call: ToolCallRequest, reason: str, as_logged: AsLogged
) -> Steps[ToolResult]:
    """Record a call that is not run. Fires with its result."""
    clock, result = script.services.clock, ToolResult(REFUSED, reason)
    act_id = yield persist(clock, lambda: intend(script, turn, call, False))
    yield persist(
        clock,
        lambda: script.turns.record_outcome(act_id, REFUSED, reason, as_logged(result)),
    )
    return result


def call_messages(
    turn: TurnRecord, context: ToolContext, call: ToolCallRequest, result: ToolResult
) -> list[Message]:
    """A call with its result, as the model will see them, for the ears it reached."""
    metadata = audience_metadata(turn, context, result)
    asked = wire_call(call.id, call.name, wire_arguments(call))
    told = make_message("tool", result.text, tool_call_id=call.id, **metadata)
    if result.read or result.changed:
        named = {READ: list(result.read), CHANGED: list(result.changed)}
        told["metadata"]["consulted"] = named
    return [make_message("assistant", "", tool_calls=[asked], **metadata), told]


def audience_metadata(turn: TurnRecord, context: ToolContext, result: ToolResult) -> dict[str, Any]:
    """Who may know of an act: those it reached where it reached only some, else the audience."""
    heard_by = context.audience if result.heard_by is None else result.heard_by
    return {
        "turn_id": turn.id,
        "audience": sorted(heard_by),
        "private": context.private or result.heard_by is not None,
    }
