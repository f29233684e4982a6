"""One turn: ask, act on the reply, ask again with the results, until nothing is left to do."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.errors import ProviderError, ProviderUnavailable
from evennia_ai.events import Audience
from evennia_ai.messages import LLMReply, ToolCallRequest, make_message
from evennia_ai.policy.react import LoopState, begin_step, own_call_id, with_earlier_acts
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import ToolContext, ToolResult, ToolSpec, TurnRecord
from evennia_ai.turn.llm_interaction import build_prompt, build_request, call_model
from evennia_ai.turn.prompt_contexts import PromptContext
from evennia_ai.turn.tool_execution import DONE, Worked, audience_metadata, execute_calls, perform

ANSWERED, NOTED, EXCUSED, EXPIRED = "answered", "noted", "excused", "expired"
SILENCE = "noop"
EXCUSE_STEP = 0


@dataclass(frozen=True)
class Outcome:
    """How a turn ended: answered, noted (it chose silence), excused (by the fallback line), or
    expired, where not even that could be said."""

    state: str
    detail: str = ""


def audience_now(script: Any, turn: TurnRecord) -> Audience:
    """Who will hear the next words of this turn: its parties if whispered, else the room as it is
    now, since somebody may have come in and the character may have walked."""
    if turn.private:
        return turn.audience
    listeners: Audience = script.services.world.listeners(script.character)
    return listeners


def tool_context(
    script: Any, turn: TurnRecord, audience: Audience, private: bool, allowed: frozenset[str] | None
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


@inlineCallbacks
def run_turn(
    script: Any, turn: TurnRecord, context: PromptContext, deadline_at: float
) -> Generator[Deferred[Any], Any, Outcome]:
    """Think until the turn has ended.

    Args:
        script: the assistant.
        turn: the open turn.
        context: the situation it thinks in.
        deadline_at: the clock's seconds at which the turn must have ended.

    Fires with the `Outcome`; fails with `ProviderError` or `TurnAborted`.
    """
    config = script.config
    state = LoopState(turn.id)
    done: frozenset[str] = frozenset()
    acted = False
    for step in range(1, (context.max_iterations or config.max_iterations) + 1):
        audience = audience_now(script, turn)
        prompt = build_prompt(script, context, audience, turn.events if step == 1 else ())
        tools = tool_context(script, turn, audience, prompt.private, context.tools)
        specs = {spec.name: spec for spec in script.services.toolbox.offered(tools)}
        state = begin_step(remember_earlier(turn, specs) if step == 1 else state)
        request = build_request(script, turn, prompt, tuple(specs.values()), step)
        try:
            reply: LLMReply = yield call_model(
                script, turn, request, prompt.tokens, context.name, deadline_at
            )
        except ProviderError as error:
            if not acted:
                raise
            return Outcome(ANSWERED, f"cut short: {error}")
        if not reply.tool_calls:
            acted = (yield speak_text(script, turn, tools, reply, step)) or acted
            break
        worked: Worked = yield execute_calls(script, turn, tools, reply, specs, state)
        state, done = worked.state, done | worked.done
        acted = acted or any(name not in specs or specs[name].world for name in worked.done)
        if state.ended or context.loop_mode == "single_action":
            break
    if acted:
        return Outcome(ANSWERED)
    if SILENCE in done:
        return Outcome(NOTED, "it chose silence")
    raise ProviderUnavailable("The model's replies held nothing to say and nothing to do.")


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
    script: Any, turn: TurnRecord, tools: ToolContext, reply: LLMReply, step: int
) -> Generator[Deferred[Any], Any, bool]:
    """Say a reply that came as plain text, as models without tool calls do.

    Fires with True where something was said.
    """
    words = spoken_words(reply.content, script.character_name, script.config.max_speech_chars)
    if not words:
        return False
    result = yield say_aloud(script, turn, tools, words, own_call_id(turn.id, step, 0))
    return bool(result.state == DONE)


@inlineCallbacks
def say_aloud(
    script: Any, turn: TurnRecord, tools: ToolContext, words: str, call_id: str
) -> Generator[Deferred[Any], Any, ToolResult]:
    """Have the character say words that no tool call asked for; the log holds them as its own."""
    call = ToolCallRequest(call_id, "say", json.dumps({"text": words}))
    result: ToolResult = yield perform(script, turn, tools, call, world=True)
    if result.state == DONE:
        metadata = audience_metadata(turn, tools, result)
        script.conversation.append([make_message("assistant", words, **metadata)])
    return result


@inlineCallbacks
def excuse(script: Any, turn: TurnRecord, detail: str) -> Generator[Deferred[Any], Any, Outcome]:
    """Say the fallback line to whoever waits for an answer; it may safely be said twice.

    It counts as the last of a chain of assistants' answers, so that none of them answers an excuse.
    """
    tools = tool_context(script, turn, audience_now(script, turn), turn.private, None)
    tools = replace(tools, hops=max(turn.hops, script.config.max_hops))
    call_id = own_call_id(turn.id, EXCUSE_STEP, 0)
    words = script.config.fallback_line or script.services.text("fallback")
    result: ToolResult = yield say_aloud(script, turn, tools, words, call_id)
    if result.state != DONE:
        return Outcome(EXPIRED, f"{detail}; and no excuse could be made: {result.text}")
    return Outcome(EXCUSED, detail)
