"""Doing what a reply asks for: the intent is stored before each act, the outcome after (P2)."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

from twisted.internet import defer
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.messages import LLMReply, ToolCallRequest, make_message, wire_call
from evennia_ai.policy.react import (
    LoopState,
    apply_call,
    refusal_for,
    take_calls,
    wire_arguments,
)
from evennia_ai.ports import ToolContext, ToolResult, ToolSpec, TurnRecord
from evennia_ai.turn.llm_interaction import ensure_current

REFUSED, DONE, FAILED = "refused", "done", "failed"
TOO_SLOW = "That took too long, and may or may not have happened. Do not do it again."


@dataclass(frozen=True)
class Worked:
    """What came of a reply's calls: the loop after them, and the names of what was done."""

    state: LoopState
    done: frozenset[str]


@inlineCallbacks
def perform(
    script: Any, turn: TurnRecord, context: ToolContext, call: ToolCallRequest, world: bool
) -> Generator[Deferred[Any], Any, ToolResult]:
    """Run one call between its stored intent and its stored outcome, and log both as the model
    will see them.

    A tool that does not come to an end within a turn's time is given up. Fires with the
    `ToolResult`; fails with TurnAborted where the lease is lost.
    """
    ensure_current(script, turn)
    act_id = script.turns.intend(turn.id, call, world)
    running = script.services.toolbox.run(context, call)
    running.addTimeout(script.config.turn_deadline, script.services.clock)
    try:
        result: ToolResult = yield running
    except defer.TimeoutError:
        result = ToolResult(FAILED, TOO_SLOW)
    script.turns.record_outcome(act_id, result.state, result.text)
    ensure_current(script, turn)
    return result


@inlineCallbacks
def execute_calls(
    script: Any,
    turn: TurnRecord,
    context: ToolContext,
    reply: LLMReply,
    specs: Mapping[str, ToolSpec],
    state: LoopState,
) -> Generator[Deferred[Any], Any, Worked]:
    """Work off a reply's calls one by one, in their order. Fires with what came of them."""
    categories = {spec.name: spec.category for spec in specs.values()}
    limit = script.config.max_tool_calls
    done: set[str] = set()
    for number, call in enumerate(take_calls(reply, state, limit)):
        refusal = refusal_for(call, number, state, categories, reply.finish_reason, limit)
        if refusal:
            result = refuse(script, turn, call, refusal)
        else:
            spec = specs.get(call.name)
            result = yield perform(script, turn, context, call, spec is None or spec.world)
        log_call(script, turn, context, call, result)
        state = apply_call(state, call, result.state == DONE, categories)
        if result.state == DONE:
            done.add(call.name)
    return Worked(state, frozenset(done))


def refuse(script: Any, turn: TurnRecord, call: ToolCallRequest, reason: str) -> ToolResult:
    """Record a call that was not run."""
    act_id = script.turns.intend(turn.id, call, world=False)
    script.turns.record_outcome(act_id, REFUSED, reason)
    return ToolResult(REFUSED, reason)


def log_call(
    script: Any, turn: TurnRecord, context: ToolContext, call: ToolCallRequest, result: ToolResult
) -> None:
    """Append a call with its result to the conversation, for the ears it reached."""
    metadata = audience_metadata(turn, context, result)
    asked = wire_call(call.id, call.name, wire_arguments(call))
    script.conversation.append(
        [
            make_message("assistant", "", tool_calls=[asked], **metadata),
            make_message("tool", result.text, tool_call_id=call.id, **metadata),
        ]
    )


def audience_metadata(turn: TurnRecord, context: ToolContext, result: ToolResult) -> dict[str, Any]:
    """Who may know of an act: those it reached where it reached only some, else the audience."""
    heard_by = context.audience if result.heard_by is None else result.heard_by
    return {
        "turn_id": turn.id,
        "audience": sorted(heard_by),
        "private": context.private or result.heard_by is not None,
    }
