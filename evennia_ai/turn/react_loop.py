"""One turn: ask, act on the reply, ask again with the results, until nothing is left to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

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
from evennia_ai.turn.llm_interaction import build_request, call_model
from evennia_ai.turn.prompt_building import build_prompt
from evennia_ai.turn.prompt_contexts import PromptContext
from evennia_ai.turn.recall import memory_query
from evennia_ai.turn.tool_execution import DONE, Worked, audience_metadata, execute_calls, perform

ANSWERED, NOTED, EXCUSED, EXPIRED = "answered", "noted", "excused", "expired"
SILENCE = "noop"


@dataclass(frozen=True)
class Outcome:
    """How a turn ended: answered, noted (it chose silence), excused (by the fallback line), or
    expired, where not even that could be said. ``kind`` is that of the model's error, if any."""

    state: str
    detail: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Asked:
    """A reply, and the circumstances in which its calls are run."""

    reply: LLMReply
    tools: ToolContext
    specs: Mapping[str, ToolSpec]


def audience_now(script: Script, turn: TurnRecord) -> Audience:
    """Who will hear the next words of this turn: its parties if whispered, else the room as it is
    now, since somebody may have come in and the character may have walked."""
    if turn.private:
        return turn.audience
    listeners: Audience = script.services.world.listeners(script.character)
    return listeners


def tool_context(
    script: Script,
    turn: TurnRecord,
    audience: Audience,
    private: bool,
    allowed: frozenset[str] | None,
) -> ToolContext:
    """For whom and on whose words this step's tools run."""
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
    """Have at hand what this turn's words may call to mind. Fires when it is; fails with
    StoreUnavailable."""
    lines = [heard_line(e.heard.kind, e.heard.speaker_name, e.heard.text) for e in turn.events]
    prepared: Deferred[None] = script.memories.prepare(script.services, [memory_query(lines)])
    return prepared


@inlineCallbacks
def run_turn(
    script: Script, turn: TurnRecord, context: PromptContext, deadline_at: float
) -> Steps[Outcome]:
    """Think until the turn has ended.

    Args:
        script: the assistant.
        turn: the open turn.
        context: the situation it thinks in.
        deadline_at: the clock's seconds at which the turn must have ended.

    Fires with the `Outcome`; fails with `ProviderError`, `TurnAborted` or `StoreUnavailable`.
    """
    config = script.config
    yield prepare_memories(script, turn)
    state = LoopState(turn.id)
    done: frozenset[str] = frozenset()
    remembered: Audience = frozenset()
    acted = False
    for step in range(1, (context.max_iterations or config.max_iterations) + 1):
        try:
            asked: Asked = yield ask_with_room(script, turn, context, step, deadline_at, remembered)
        except ProviderError as error:
            if not acted:
                raise
            return Outcome(ANSWERED, f"cut short: {error}")
        reply, tools, specs = asked.reply, asked.tools, asked.specs
        state = begin_step(remember_earlier(turn, specs) if step == 1 else state)
        if not reply.tool_calls:
            acted = (yield speak_text(script, turn, tools, reply, step)) or acted
            break
        worked: Worked = yield execute_calls(script, turn, tools, reply, specs, state)
        state, done, remembered = worked.state, done | worked.done, worked.remembered
        acted = acted or any(name not in specs or specs[name].world for name in worked.done)
        if state.ended or context.loop_mode == "single_action":
            break
    if acted:
        return Outcome(ANSWERED)
    if SILENCE in done:
        return Outcome(NOTED, "it chose silence")
    if done and context.loop_mode == "single_action":
        return Outcome(NOTED, "it did something that nobody saw")
    raise ProviderUnavailable("The model's replies held nothing to say and nothing to do.")


@inlineCallbacks
def ask_with_room(
    script: Script,
    turn: TurnRecord,
    context: PromptContext,
    step: int,
    deadline_at: float,
    remembered: Audience,
) -> Steps[Asked]:
    """`ask`; where the model's window overflows, once more after a compaction that asks no model.

    The step is asked again and not the turn: what was done before it stays done (P2). Fires and
    fails as `ask` does.
    """
    try:
        asked: Asked = yield ask(script, turn, context, step, deadline_at, remembered)
    except ContextOverflow:
        made_room: bool = yield script.compact_on_overflow()
        if not made_room:
            raise
        asked = yield ask(script, turn, context, step, deadline_at, remembered)
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
    """One model call, for those who will hear the answer as things are now. ``remembered`` are
    those whose words the turn's tools have called to mind.

    Fires with what was `Asked`; fails with `ProviderError` or `TurnAborted`.
    """
    audience = audience_now(script, turn)
    tools = tool_context(script, turn, audience, False, context.tools)
    specs = {spec.name: spec for spec in script.services.toolbox.offered(tools)}
    room = sum(spec.tokens for spec in specs.values())
    prompt = build_prompt(script, context, audience, turn.events, room, goes_on=step > 1)
    tools = replace(
        tools,
        private=tools.private or prompt.private,
        deadline_at=deadline_at,
        remembered=remembered | prompt.remembered,
    )
    if tools.remembered - tools.speakers:  # they may not use what the speakers may
        specs = {spec.name: spec for spec in script.services.toolbox.offered(tools)}
    request = build_request(script, turn, prompt, tuple(specs.values()), step)
    reply: LLMReply = yield call_model(script, turn, request, context.name, deadline_at)
    return Asked(reply, tools, specs)


def remember_earlier(turn: TurnRecord, specs: Mapping[str, ToolSpec]) -> LoopState:
    """The loop at its beginning, with what an earlier attempt at the same events did."""
    categories = {spec.name: spec.category for spec in specs.values()}
    binding = [
        call
        for call in turn.done_before
        if not (call.name in specs and specs[call.name].safe_to_retry)
    ]
    return with_earlier_acts(LoopState(turn.id), binding, categories)


@inlineCallbacks
def speak_text(
    script: Script, turn: TurnRecord, tools: ToolContext, reply: LLMReply, step: int
) -> Steps[bool]:
    """Say a reply that came as plain text, as models without tool calls do.

    Fires with True where something was said.
    """
    words = spoken_words(reply.content, script.character_name, script.config.max_speech_chars)
    if not words:
        return False
    call_id = own_call_id(turn.id, step, 0)
    result = yield say_aloud(script, turn, tools, words, call_id)
    return bool(result.state == DONE)


@inlineCallbacks
def say_aloud(
    script: Script, turn: TurnRecord, tools: ToolContext, words: str, call_id: str
) -> Steps[ToolResult]:
    """Have the character say words that no tool call asked for; the log holds them as its own."""

    def as_logged(result: ToolResult) -> list[Message]:
        if result.state != DONE:
            return []
        return [make_message("assistant", words, **audience_metadata(turn, tools, result))]

    call = ToolCallRequest(call_id, "say", json.dumps({"text": words}))
    result: ToolResult = yield perform(script, turn, tools, call, True, as_logged)
    return result
