"""Doing what a reply asks for: the intent is stored before each act, the outcome after (P2)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.messages import ToolCallRequest, make_message, wire_call
from evennia_ai.policy.react import PlannedCall
from evennia_ai.ports import ToolContext, ToolResult, ToolSpec, TurnRecord
from evennia_ai.turn.llm_interaction import ensure_current

REFUSED, DONE = "refused", "done"


@inlineCallbacks
def perform(
    script: Any, turn: TurnRecord, context: ToolContext, call: ToolCallRequest, world: bool
) -> Generator[Deferred[Any], Any, ToolResult]:
    """Run one call between its stored intent and its stored outcome.

    Fires with the `ToolResult`; fails with TurnAborted where the lease is lost.
    """
    ensure_current(script, turn)
    act_id = script.turns.intend(turn.id, call, world)
    result: ToolResult = yield script.services.toolbox.run(context, call)
    script.turns.record_outcome(act_id, result.state, result.text)
    return result


@inlineCallbacks
def execute_calls(
    script: Any,
    turn: TurnRecord,
    context: ToolContext,
    planned: Sequence[PlannedCall],
    specs: Mapping[str, ToolSpec],
) -> Generator[Deferred[Any], Any, list[ToolResult]]:
    """Run a reply's planned calls in order and log them with their results.

    Fires with one `ToolResult` for each call.
    """
    metadata: dict[str, Any] = {
        "turn_id": turn.id,
        "audience": sorted(context.audience),
        "private": context.private,
    }
    calls = [wire_call(p.call.id, p.call.name, p.call.arguments) for p in planned]
    script.conversation.append([make_message("assistant", "", tool_calls=calls, **metadata)])
    results: list[ToolResult] = []
    for item in planned:
        spec = specs.get(item.call.name)
        if item.refusal:
            result = ToolResult(REFUSED, item.refusal)
            act_id = script.turns.intend(turn.id, item.call, False)
            script.turns.record_outcome(act_id, result.state, result.text)
        else:
            result = yield perform(script, turn, context, item.call, bool(spec and spec.world))
        results.append(result)
        script.conversation.append(
            [make_message("tool", result.text, tool_call_id=item.call.id, **metadata)]
        )
    return results
