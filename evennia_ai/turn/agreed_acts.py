"""Run the acts that a person confirmed or approved, each once, in a turn of its own."""

from __future__ import annotations

from functools import partial

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import ToolCallRequest
from evennia_ai.policy.conversation.react import own_call_id
from evennia_ai.policy.pending_acts import PendingAct
from evennia_ai.ports import Script, ToolContext, ToolResult, TurnRecord
from evennia_ai.scheduling import Steps, persist
from evennia_ai.turn.prompt_contexts import CONTEXT_AGREED
from evennia_ai.turn.react_loop import NOTED
from evennia_ai.turn.tool_execution import DONE, UNKNOWN, call_messages, perform

LINES = {DONE: "confirm_done", UNKNOWN: "confirm_unknown"}


@inlineCallbacks
def run_agreed(script: Script) -> Steps[int]:
    """Run every act that a person agreed to. Fires with how many ran.

    The act is marked as running before its turn begins; if that turn is cut off, the act counts as
    of unknown outcome and is not run again (P2). Fails with TurnAborted and StoreUnavailable.
    """
    clock, acts, count = script.services.clock, script.pending_acts, 0
    if script.ndb.acts_due:  # a turn that an error left open would stay open behind those of acts
        yield persist(clock, script.turns.recover)
    while script.ndb.acts_due:
        act: PendingAct | None = yield persist(clock, acts.take)
        if act is None:
            script.ndb.acts_due = False
            break
        count += 1
        result: ToolResult = yield run_act(script, act)
        yield persist(clock, partial(acts.finish, act.id, result.state, result.text))
        people = {act.decided_by, *act.speakers}
        script.tell(LINES.get(result.state, "confirm_failed"), sorted(people))
    return count


@inlineCallbacks
def run_act(script: Script, act: PendingAct) -> Steps[ToolResult]:
    """Run one act with the arguments that were shown. Fires with its result."""
    clock = script.services.clock
    begin = partial(script.turns.begin, (), act.audience, act.private, CONTEXT_AGREED.name)
    turn: TurnRecord = yield persist(clock, begin)
    context = ToolContext(
        script=script,
        character=script.character,
        audience=act.audience,
        private=act.private,
        speakers=frozenset(act.speakers),
        authors=act.authors,
        deadline_at=clock.seconds() + script.config.turn_deadline,
        confirmed_by=act.decided_by,
    )
    call = ToolCallRequest(own_call_id(turn.id, 0, 0), act.name, act.arguments)
    as_logged = partial(call_messages, turn, context, call)
    result: ToolResult = yield perform(script, turn, context, call, True, as_logged)
    end = partial(script.turns.finish, turn.id, NOTED, f"act {act.id} by {act.decided_by}")
    yield persist(clock, end)
    return result
