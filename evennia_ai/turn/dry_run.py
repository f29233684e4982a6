"""A dry turn: what an assistant would do if somebody said a line now. Nothing is done or stored.

It runs the code of a real turn on a script that reads like the real one and writes nothing. Only
the model calls are recorded, since the model really is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

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
from evennia_ai.policy.context.projection import Sizes, View
from evennia_ai.policy.conversation.react import (
    LoopState,
    apply_call,
    begin_step,
    refusal_for,
    take_calls,
)
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import ModelCallRecord, Script, ToolContext, ToolResult, TurnRecord, Turns
from evennia_ai.scheduling import Steps
from evennia_ai.turn.llm_interaction import build_request
from evennia_ai.turn.model_call import call_model
from evennia_ai.turn.prompt_building import ask_with, build_prompt
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from evennia_ai.turn.react_loop import (
    offered_specs,
    speech_call,
    speech_check,
    tool_context,
)
from evennia_ai.turn.speech_check import SpeechCheck
from evennia_ai.turn.tool_execution import DONE, REFUSED, call_messages

PURPOSE = "rehearsal"
NOT_DONE = "(not done: rehearsal)"
MOST_STEPS = 2
NO_TURN = 0

Check = Callable[[ToolContext, ToolCallRequest], Deferred[ToolResult]]


@dataclass(frozen=True)
class DryRunCall:
    """A tool call. ``result`` is done if a real turn would run it, else what the model is told."""

    call: ToolCallRequest
    result: ToolResult

    @property
    def would_be_tried(self) -> bool:
        """Return True if nothing forbids the call. It may still fail when it runs."""
        return self.result.state == DONE


@dataclass(frozen=True)
class DryRunStep:
    """One model call: its cost, the tools offered, and the reply: words to say, or tool calls.

    ``refused`` is why its words would not be spoken, "" if they would.
    """

    cost: ModelCallRecord
    offered: tuple[str, ...]
    words: str = ""
    calls: tuple[DryRunCall, ...] = ()
    refused: str = ""


@dataclass(frozen=True)
class DryRun:
    """The result of a dry turn; ``audience`` would hear the answer."""

    audience: Audience
    steps: tuple[DryRunStep, ...]
    ended: bool = False  # True if a real turn would be over
    problem: str = ""  # why a reply is missing


class DryConversation:
    """The log as it is now, with lines that are stored nowhere."""

    def __init__(self, view: View) -> None:
        self.current = view

    @property
    def sizes(self) -> Sizes:
        """Return the sizes of the view."""
        return self.current.sizes

    def append(self, messages: Sequence[Message]) -> list[Message]:
        """Add lines for this dry run only."""
        self.current.extend(messages)
        return list(messages)

    def view(self) -> Sequence[Message]:
        """Return the messages in the context window."""
        return self.current.items


class DryTurns:
    """Turns that are stored nowhere; only model calls are recorded, since they cost something."""

    def __init__(self, turns: Turns, is_alive: Callable[[], bool]) -> None:
        self._turns = turns
        self._is_alive = is_alive
        self.costs: list[ModelCallRecord] = []

    def is_current(self, turn_id: int) -> bool:
        """Return False once the assistant is gone."""
        return self._is_alive()

    def record_model_call(self, turn_id: int, call: ModelCallRecord) -> None:
        """Store a model call as one that belongs to no turn."""
        self._turns.record_model_call(None, call)
        self.costs.append(call)


class DryScript:
    """An assistant that reads what the real one reads and writes nothing."""

    def __init__(self, script: Script, turns: DryTurns) -> None:
        self._script = script
        self.conversation = DryConversation(script.conversation.current.copy())
        self.turns = turns

    def __getattr__(self, name: str) -> Any:
        return getattr(self._script, name)


@dataclass(frozen=True)
class DryTurn:
    """A dry turn in progress: its assistant, its record, its calls' costs and its limits."""

    script: Script
    turn: TurnRecord
    costs: Sequence[ModelCallRecord]
    check: Check
    deadline_at: float


@inlineCallbacks
def run_dry(
    script: Script, heard: Heard, check: Check, is_alive: Callable[[], bool] = lambda: True
) -> Steps[DryRun]:
    """Think about a line in a dry turn of at most `MOST_STEPS` steps; the assistant may be stopped.

    Args:
        check: checks a tool call; fires with a done result if a real turn would run it.
        is_alive: returns whether the assistant still exists; called when a reply arrives.

    Fires with the `DryRun`; fails with TurnAborted if the server stops or the assistant is gone.
    """
    dry = begin_dry_turn(script, heard, check, is_alive)
    steps: list[DryRunStep] = []
    state = LoopState(dry.turn.id)
    try:
        while not state.ended and len(steps) < min(MOST_STEPS, script.config.max_iterations):
            refused = steps[-1].refused if steps else ""
            step, state = yield take_step(dry, state, refused)
            steps.append(step)
    except ProviderError as error:
        return DryRun(dry.turn.audience, tuple(steps), problem=str(error))
    return DryRun(dry.turn.audience, tuple(steps), state.ended)


def begin_dry_turn(
    script: Script, heard: Heard, check: Check, is_alive: Callable[[], bool]
) -> DryTurn:
    """Return the dry turn that a line starts, with the line in its log."""
    turns = DryTurns(script.turns, is_alive)
    # The dry parts lack every method that writes, so a call of one fails instead of writing.
    dry = cast(Script, DryScript(script, turns))
    turn = dry_turn(dry, heard)
    dry.conversation.append([log_message(event) for event in (*turn.overheard, *turn.events)])
    deadline_at = script.services.clock.seconds() + script.config.turn_deadline
    return DryTurn(dry, turn, turns.costs, check, deadline_at)


def dry_turn(script: Script, heard: Heard) -> TurnRecord:
    """Return the record of the turn that a line would start."""
    listeners = script.services.world.listeners(script.character)
    audience = heard.audience if heard.private else listeners | {heard.speaker}
    overheard = tuple(
        event for event in script.inbox.overheard() if visible(event.heard.confidants, audience)
    )
    event = InboxEvent(NO_TURN, script.services.now(), heard)
    return TurnRecord(NO_TURN, audience, heard.private, (event,), overheard)


def log_message(event: InboxEvent) -> Message:
    """Return an event as a real turn would log it."""
    heard = event.heard
    return make_message(
        "user",
        heard_line(heard.kind, heard.speaker_name, heard.text),
        speaker=heard.speaker,
        audience=sorted(heard.audience),
        private=heard.private,
        event_id=event.id,
    )


@inlineCallbacks
def take_step(dry: DryTurn, state: LoopState, refused: str) -> Steps[tuple[DryRunStep, LoopState]]:
    """Ask the model once and check its reply. Fires with the step and the next loop state.

    ``refused`` is why the reply before would not be spoken.
    """
    script, turn, context = dry.script, dry.turn, CONTEXT_TICK_EVENT
    tools = tool_context(script, turn, turn.audience, False, context.tools)
    specs = offered_specs(script, tools)
    asking = replace(ask_with(script, turn, specs.values(), state.step > 0), refused=refused)
    prompt = build_prompt(script, context, turn.audience, asking)
    tools = replace(tools, private=tools.private or prompt.private)
    request = build_request(script, turn, prompt, asking, state.step + 1)
    words_check = speech_check(script, turn, asking, prompt, specs)
    reply: LLMReply = yield call_model(script, turn, request, PURPOSE, dry.deadline_at)
    step = DryRunStep(dry.costs[-1], tuple(spec.name for spec in specs.values() if spec.shown))
    state = begin_step(state)
    if not reply.tool_calls:
        return check_text(dry, step, state, words_check, reply.content)
    categories = {name: spec.category for name, spec in specs.items()}
    calls, problem, state = yield check_calls(dry, tools, reply, state, categories, words_check)
    for item in calls[:-1] if problem else calls:
        script.conversation.append(call_messages(turn, tools, item.call, item.result))
    return replace(step, calls=tuple(calls), refused=problem), state


def check_text(
    dry: DryTurn, step: DryRunStep, state: LoopState, words_check: SpeechCheck, text: str
) -> tuple[DryRunStep, LoopState]:
    """Return the step with the words of a reply without calls, and the next loop state."""
    limit = dry.script.config.max_speech_chars
    words = spoken_words(text, dry.script.character_name, limit)
    call = speech_call("", words)
    problem = words_check.problem(call)
    if not problem:
        return replace(step, words=words), replace(state, ended=True)
    refused = DryRunCall(call, ToolResult(REFUSED, problem))
    return replace(step, calls=(refused,), refused=problem), state


@inlineCallbacks
def check_calls(
    dry: DryTurn,
    tools: ToolContext,
    reply: LLMReply,
    state: LoopState,
    categories: Mapping[str, str],
    words_check: SpeechCheck,
) -> Steps[tuple[list[DryRunCall], str, LoopState]]:
    """Check a reply's calls in order, up to words that would not be spoken.

    Fires with the calls, why words would not be spoken, and the next loop state.
    """
    limit = dry.script.config.max_tool_calls
    calls: list[DryRunCall] = []
    for number, call in enumerate(take_calls(reply, state, limit)):
        problem = words_check.problem(call)
        if problem:
            return [*calls, DryRunCall(call, ToolResult(REFUSED, problem))], problem, state
        refusal = refusal_for(call, number, state, categories, reply.finish_reason, limit)
        result = ToolResult(REFUSED, refusal)
        if not refusal:
            result = yield dry.check(tools, call)
            if result.state == DONE:
                result = ToolResult(DONE, NOT_DONE)
        calls.append(DryRunCall(call, result))
        state = apply_call(state, call, calls[-1].would_be_tried, categories)
    whole = reply.tied and all(item.would_be_tried for item in calls)
    return calls, "", replace(state, ended=state.ended or whole)
