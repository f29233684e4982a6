"""A dry turn: what an assistant would do if somebody now said a line. Nothing is done or stored.

It runs the code of a real turn on a script that reads like the real one and writes nothing. Only
what the model cost is recorded, since it was really asked.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.errors import ProviderError
from evennia_ai.messages import (
    Audience,
    Heard,
    InboxEvent,
    LLMReply,
    Message,
    ToolCallRequest,
    heard_line,
    make_message,
)
from evennia_ai.policy.audience import visible
from evennia_ai.policy.context.projection import View
from evennia_ai.policy.conversation.react import (
    LoopState,
    apply_call,
    begin_step,
    refusal_for,
    take_calls,
)
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import ModelCallRecord, ToolContext, ToolResult, TurnRecord
from evennia_ai.turn.llm_interaction import build_request, call_model
from evennia_ai.turn.prompt_building import build_prompt
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from evennia_ai.turn.react_loop import tool_context
from evennia_ai.turn.tool_execution import DONE, REFUSED, call_messages

PURPOSE = "rehearsal"
NOT_DONE = "(not done: rehearsal)"
MOST_STEPS = 2
NO_TURN = 0

Check = Callable[[ToolContext, ToolCallRequest], Deferred[ToolResult]]


@dataclass(frozen=True)
class DryRunCall:
    """A call the model asked for. ``result`` is done where it would have been tried, and otherwise
    what the model would have been told."""

    call: ToolCallRequest
    result: ToolResult

    @property
    def would_be_tried(self) -> bool:
        """True where nothing forbids it; whether it works out is known only when it is done."""
        return self.result.state == DONE


@dataclass(frozen=True)
class DryRunStep:
    """One model call: what it cost, what was offered, and what the reply wants.

    ``words`` are those of a reply in plain text, as they would be spoken.
    """

    cost: ModelCallRecord
    offered: tuple[str, ...]
    words: str = ""
    calls: tuple[DryRunCall, ...] = ()


@dataclass(frozen=True)
class DryRun:
    """A dry turn. ``audience`` would hear the answer; ``ended`` is True where the turn would be
    over; ``problem`` says why no (further) reply came."""

    audience: Audience
    steps: tuple[DryRunStep, ...]
    ended: bool = False
    problem: str = ""


class DryConversation:
    """A log as it is now, to which lines can be added that are nowhere stored."""

    def __init__(self, view: View) -> None:
        self.current = view

    def append(self, messages: Sequence[Message]) -> list[Message]:
        """Add lines for this rehearsal."""
        self.current.extend(messages)
        return list(messages)

    def view(self) -> Sequence[Message]:
        """What is in view."""
        return self.current.items


class DryTurns:
    """Turns without a turn: model calls are recorded, and nothing else is."""

    def __init__(self, turns: Any, is_alive: Callable[[], bool]) -> None:
        self._turns = turns
        self._is_alive = is_alive
        self.costs: list[ModelCallRecord] = []

    def is_current(self, turn_id: int) -> bool:
        """False once there is nobody any more whose cost it is."""
        return self._is_alive()

    def record_model_call(self, turn_id: int, call: ModelCallRecord) -> None:
        """Store a model call as one of no turn."""
        self._turns.record_model_call(None, call)
        self.costs.append(call)


class DryScript:
    """An assistant that reads what the real one reads and writes nothing."""

    def __init__(self, script: Any, is_alive: Callable[[], bool]) -> None:
        self._script = script
        self.conversation = DryConversation(script.conversation.current.copy())
        self.turns = DryTurns(script.turns, is_alive)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._script, name)


@inlineCallbacks
def run_dry(
    script: Any, heard: Heard, check: Check, is_alive: Callable[[], bool] = lambda: True
) -> Generator[Deferred[Any], Any, DryRun]:
    """Think one turn about a line, dry, in `MOST_STEPS` steps at most.

    Args:
        script: the assistant, awake or stopped.
        heard: the line, as it would be heard.
        check: everything that stands before a tool's use, and not the use: fires with a done
            result where it would be tried.
        is_alive: whether the assistant is still there, asked when a reply comes.

    Fires with the `DryRun`; fails with TurnAborted where the server stops or the assistant has
    gone.
    """
    dry = DryScript(script, is_alive)
    turn = dry_turn(dry, heard)
    log_heard(dry, turn)
    deadline_at = script.services.clock.seconds() + script.config.turn_deadline
    steps: list[DryRunStep] = []
    state = LoopState(turn.id)
    try:
        while not state.ended and len(steps) < min(MOST_STEPS, script.config.max_iterations):
            step, state = yield take_step(dry, turn, state, check, deadline_at)
            steps.append(step)
    except ProviderError as error:
        return DryRun(turn.audience, tuple(steps), problem=str(error))
    return DryRun(turn.audience, tuple(steps), state.ended)


def dry_turn(script: Any, heard: Heard) -> TurnRecord:
    """The turn that the line would open: the same ears, the same overheard talk."""
    listeners: Audience = script.services.world.listeners(script.character)
    audience = heard.audience if heard.private else listeners | {heard.speaker}
    overheard = tuple(
        event for event in script.inbox.overheard() if visible(event.heard.confidants, audience)
    )
    event = InboxEvent(NO_TURN, script.services.now(), heard)
    return TurnRecord(NO_TURN, audience, heard.private, (event,), overheard)


def log_heard(script: Any, turn: TurnRecord) -> None:
    """Put what was heard where a real turn would log it."""
    script.conversation.append(
        [
            make_message(
                "user",
                heard_line(event.heard.kind, event.heard.speaker_name, event.heard.text),
                speaker=event.heard.speaker,
                audience=sorted(event.heard.audience),
                private=event.heard.private,
            )
            for event in (*turn.overheard, *turn.events)
        ]
    )


@inlineCallbacks
def take_step(
    script: Any, turn: TurnRecord, state: LoopState, check: Check, deadline_at: float
) -> Generator[Deferred[Any], Any, tuple[DryRunStep, LoopState]]:
    """Ask once and look at the reply. Fires with the step and the loop after it."""
    context, config = CONTEXT_TICK_EVENT, script.config
    first = state.step == 0
    tools = tool_context(script, turn, turn.audience, False, context.tools)
    specs = script.services.toolbox.offered(tools)
    room = sum(spec.tokens for spec in specs)
    prompt = build_prompt(script, context, turn.audience, turn.events if first else (), room)
    tools = replace(tools, private=tools.private or prompt.private)
    offered = tuple(spec.name for spec in specs)
    request = build_request(script, turn, prompt, specs, state.step + 1)
    reply: LLMReply = yield call_model(script, turn, request, PURPOSE, deadline_at)
    cost = script.turns.costs[-1]
    if not reply.tool_calls:
        words = spoken_words(reply.content, script.character_name, config.max_speech_chars)
        return DryRunStep(cost, offered, words), replace(state, ended=True)
    state = begin_step(state)
    categories = {spec.name: spec.category for spec in specs}
    limit = config.max_tool_calls
    calls: list[DryRunCall] = []
    for number, call in enumerate(take_calls(reply, state, limit)):
        refusal = refusal_for(call, number, state, categories, reply.finish_reason, limit)
        result = ToolResult(REFUSED, refusal)
        if not refusal:
            result = yield check_call(tools, call, check)
        calls.append(DryRunCall(call, result))
        state = apply_call(state, call, calls[-1].would_be_tried, categories)
    for item in calls:
        script.conversation.append(call_messages(turn, tools, item.call, item.result))
    return DryRunStep(cost, offered, calls=tuple(calls)), state


@inlineCallbacks
def check_call(
    tools: ToolContext, call: ToolCallRequest, check: Check
) -> Generator[Deferred[Any], Any, ToolResult]:
    """What would stand before a call. Fires with a result that says it was not done."""
    result: ToolResult = yield check(tools, call)
    return ToolResult(DONE, NOT_DONE) if result.state == DONE else result
