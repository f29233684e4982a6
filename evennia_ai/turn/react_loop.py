"""Run one turn: ask the model, run its tool calls, and ask again with the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.errors import ContextOverflow, ProviderError, ProviderUnavailable
from evennia_ai.messages import (
    Audience,
    LLMReply,
    Message,
    ToolCallRequest,
    heard_line,
    make_message,
)
from evennia_ai.policy.conversation.react import (
    LoopState,
    begin_step,
    own_call_id,
    with_earlier_acts,
)
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import Script, ToolContext, ToolResult, ToolSpec, TurnRecord
from evennia_ai.scheduling import Steps
from evennia_ai.turn.llm_interaction import build_request
from evennia_ai.turn.model_call import call_model
from evennia_ai.turn.prompt_building import build_prompt
from evennia_ai.turn.prompt_contexts import PromptContext
from evennia_ai.turn.recall import memory_query
from evennia_ai.turn.tool_execution import (
    DONE,
    CallResults,
    audience_metadata,
    execute_calls,
    perform,
)

ANSWERED, NOTED, EXCUSED, EXPIRED = "answered", "noted", "excused", "expired"
SILENCE = "noop"


@dataclass(frozen=True)
class Outcome:
    """How a turn ended.

    The state is answered; noted (the character chose silence); excused (by the fallback line); or
    expired (even the fallback line could not be said).
    """

    state: str
    detail: str = ""
    kind: str = ""  # of the model's error


@dataclass(frozen=True)
class Asked:
    """A reply, and the context in which its tool calls run."""

    reply: LLMReply
    tools: ToolContext
    specs: Mapping[str, ToolSpec]


@dataclass(frozen=True)
class Progress:
    """What a turn has done so far."""

    loop: LoopState
    done: frozenset[str] = frozenset()  # names of the tools that succeeded
    acted: bool = False  # whether anybody could notice something
    remembered: Audience = frozenset()  # those whose words the turn's tools recalled


def audience_now(script: Script, turn: TurnRecord) -> Audience:
    """Return who will hear the turn's next words: the whisper's parties, else the room by now."""
    return turn.audience if turn.private else script.services.world.listeners(script.character)


def tool_context(
    script: Script,
    turn: TurnRecord,
    audience: Audience,
    private: bool,
    allowed: frozenset[str] | None,
) -> ToolContext:
    """Return the context in which this step's tools run."""
    return ToolContext(
        script=script,
        character=script.character,
        audience=audience,
        private=private or turn.private,
        speakers=turn.speakers,
        whispered=turn.private,
        askers=turn.askers,
        hops=turn.hops,
        allowed=allowed,
    )


def prepare_memories(script: Script, turn: TurnRecord) -> Deferred[None]:
    """Prepare the search for memories about a turn's words; fails with StoreUnavailable."""
    lines = [heard_line(e.heard.kind, e.heard.speaker_name, e.heard.text) for e in turn.events]
    return script.memories.prepare(script.services, [memory_query(lines)])


@inlineCallbacks
def run_turn(
    script: Script, turn: TurnRecord, context: PromptContext, deadline_at: float
) -> Steps[Outcome]:
    """Ask the model and run its tool calls until the turn has ended.

    The turn must end at ``deadline_at``, in the clock's seconds. Fires with the `Outcome`; fails
    with `ProviderError`, `TurnAborted` or `StoreUnavailable`.
    """
    yield prepare_memories(script, turn)
    progress = Progress(LoopState(turn.id))
    for step in range(1, (context.max_iterations or script.config.max_iterations) + 1):
        ask_model = partial(ask, script, turn, context, step, deadline_at, progress.remembered)
        try:
            asked: Asked = yield ask_with_room(script, ask_model)
        except ProviderError as error:
            if not progress.acted:
                raise
            return Outcome(ANSWERED, f"cut short: {error}")
        progress = yield act_on_reply(script, turn, asked, step, progress)
        is_single = context.loop_mode == "single_action"
        if is_single or progress.loop.ended or not asked.reply.tool_calls:
            break
    return outcome_of(progress, context)


@inlineCallbacks
def act_on_reply(
    script: Script, turn: TurnRecord, asked: Asked, step: int, progress: Progress
) -> Steps[Progress]:
    """Say a reply's text or run its tool calls. Fires with the turn's progress after that."""
    reply, tools, specs = asked.reply, asked.tools, asked.specs
    loop = begin_step(remember_earlier(turn, specs) if step == 1 else progress.loop)
    if not reply.tool_calls:
        spoke: bool = yield speak_text(script, turn, tools, reply, step)
        return replace(progress, loop=loop, acted=progress.acted or spoke)
    results: CallResults = yield execute_calls(script, turn, tools, reply, specs, loop)
    noticed = any(name not in specs or specs[name].world for name in results.done)
    return Progress(
        loop=results.state,
        done=progress.done | results.done,
        acted=progress.acted or noticed,
        remembered=results.remembered,
    )


def outcome_of(progress: Progress, context: PromptContext) -> Outcome:
    """Return how a turn ended; raises ProviderUnavailable if the model neither spoke nor acted."""
    if progress.acted:
        return Outcome(ANSWERED)
    if SILENCE in progress.done:
        return Outcome(NOTED, "it chose silence")
    if progress.done and context.loop_mode == "single_action":
        return Outcome(NOTED, "it did something that nobody saw")
    raise ProviderUnavailable("The model's replies held nothing to say and nothing to do.")


@inlineCallbacks
def ask_with_room(script: Script, ask_model: Callable[[], Deferred[Asked]]) -> Steps[Asked]:
    """Ask; if the context window overflows, compact without a model and ask once more.

    Only this step is repeated, so that earlier acts of the turn are not run again (P2). Fires and
    fails as `ask`.
    """
    try:
        asked: Asked = yield ask_model()
    except ContextOverflow:
        made_room: bool = yield script.compact_on_overflow()
        if not made_room:
            raise
        asked = yield ask_model()
    return asked


@inlineCallbacks
def ask(
    script: Script,
    turn: TurnRecord,
    context: PromptContext,
    step: int,
    deadline_at: float,
    remembered: Audience,
) -> Steps[Asked]:
    """Call the model once, for those who would hear the answer now.

    ``step`` counts from 1; ``remembered`` are those whose words the turn's tools recalled. Fires
    with what was `Asked`; fails with `ProviderError` or `TurnAborted`.
    """
    audience = audience_now(script, turn)
    tools = tool_context(script, turn, audience, False, context.tools)
    specs = offered_specs(script, tools)
    tool_tokens = sum(spec.tokens for spec in specs.values())
    prompt = build_prompt(script, context, audience, turn.events, tool_tokens, goes_on=step > 1)
    tools = replace(
        tools,
        private=tools.private or prompt.private,
        deadline_at=deadline_at,
        remembered=remembered | prompt.remembered,
    )
    if tools.remembered - tools.speakers:  # they may not use what the speakers may
        specs = offered_specs(script, tools)
    request = build_request(script, turn, prompt, tuple(specs.values()), step)
    reply: LLMReply = yield call_model(script, turn, request, context.name, deadline_at)
    return Asked(reply, tools, specs)


def offered_specs(script: Script, tools: ToolContext) -> dict[str, ToolSpec]:
    """Return the tools that the model may call, by name."""
    return {spec.name: spec for spec in script.services.toolbox.offered(tools)}


def remember_earlier(turn: TurnRecord, specs: Mapping[str, ToolSpec]) -> LoopState:
    """Return the state of a new loop, with the acts of earlier attempts at the same events."""
    categories = {spec.name: spec.category for spec in specs.values()}
    safe = {spec.name for spec in specs.values() if spec.safe_to_retry}
    binding = [call for call in turn.done_before if call.name not in safe]
    return with_earlier_acts(LoopState(turn.id), binding, categories)


@inlineCallbacks
def speak_text(
    script: Script, turn: TurnRecord, tools: ToolContext, reply: LLMReply, step: int
) -> Steps[bool]:
    """Say a reply in plain text, as models without tool calls send it. Fires with True if said."""
    words = spoken_words(reply.content, script.character_name, script.config.max_speech_chars)
    if not words:
        return False
    result = yield say_aloud(script, turn, tools, words, own_call_id(turn.id, step, 0))
    return bool(result.state == DONE)


@inlineCallbacks
def say_aloud(
    script: Script, turn: TurnRecord, tools: ToolContext, words: str, call_id: str, **metadata: Any
) -> Steps[ToolResult]:
    """Make the character say words that no tool call asked for; log them, with more metadata."""

    def as_logged(result: ToolResult) -> list[Message]:
        if result.state != DONE:
            return []
        return [
            make_message("assistant", words, **audience_metadata(turn, tools, result), **metadata)
        ]

    call = ToolCallRequest(call_id, "say", json.dumps({"text": words}))
    result: ToolResult = yield perform(script, turn, tools, call, True, as_logged)
    return result
