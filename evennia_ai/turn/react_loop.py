"""Run one turn: ask the model, run its tool calls, and ask again with the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.errors import ContextOverflow, NothingSpoken, ProviderError
from evennia_ai.messages import (
    NOOP,
    SAY,
    Audience,
    Authors,
    LLMReply,
    Message,
    ToolCallRequest,
    make_message,
)
from evennia_ai.policy.authors import of_turn
from evennia_ai.policy.conversation.persona import render_persona
from evennia_ai.policy.conversation.react import (
    LoopState,
    begin_step,
    own_call_id,
    with_earlier_acts,
)
from evennia_ai.policy.replies.artefacts import Surroundings
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import LLMRequest, Script, ToolContext, ToolResult, ToolSpec, TurnRecord
from evennia_ai.scheduling import Steps
from evennia_ai.turn.background import has_model, own_nature
from evennia_ai.turn.index_upkeep import prepare_memories
from evennia_ai.turn.llm_interaction import build_request
from evennia_ai.turn.model_call import call_model
from evennia_ai.turn.prompt_building import (
    RECALL,
    Asking,
    Prompt,
    ask_with,
    build_prompt,
    question_of,
    shown_schemas,
)
from evennia_ai.turn.prompt_contexts import PromptContext
from evennia_ai.turn.recall import memory_query
from evennia_ai.turn.reply_calls import Ran, ReplyCalls, unlogged
from evennia_ai.turn.speech_check import SpeechCheck
from evennia_ai.turn.tool_execution import DONE, audience_metadata, perform, refuse

ANSWERED, NOTED, EXCUSED, EXPIRED = "answered", "noted", "excused", "expired"
RETRIES = 1  # after words that were not spoken


@dataclass(frozen=True)
class Outcome:
    """How a turn ended."""

    # Answered; noted (the character chose silence); excused (by the fallback line); or expired
    # (even the fallback line could not be said).
    state: str
    detail: str = ""
    kind: str = ""  # of the model's error


@dataclass(frozen=True)
class StepReply:
    """A reply, and the run of its tool calls."""

    reply: LLMReply
    calls: ReplyCalls


@dataclass(frozen=True)
class Progress:
    """What a turn has done so far."""

    loop: LoopState
    done: frozenset[str] = frozenset()  # names of the tools that succeeded
    acted: bool = False  # whether anybody could notice something
    authors: Authors = frozenset()  # authors of what the turn's tools told (`policy.authors`)
    refused: str = ""  # why the last reply was not spoken, "" if it was
    refusals: int = 0  # how many replies were not spoken
    # Whether an act of the last reply failed, so that its words were not said.
    blocked: bool = False
    ended: bool = False  # whether the turn needs no further reply


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
        private=private or turn.secret,
        speakers=turn.speakers,
        authors=of_turn(turn.authors),
        whispered=turn.private,
        askers=turn.askers,
        hops=turn.hops,
        allowed=allowed,
    )


@inlineCallbacks
def run_turn(
    script: Script, turn: TurnRecord, context: PromptContext, deadline_at: float
) -> Steps[Outcome]:
    """Ask the model and run its tool calls until the turn has ended.

    The turn must end at ``deadline_at``, in the clock's seconds. Fires with the `Outcome`; fails
    with `ProviderError`, `TurnAborted` or `StoreUnavailable`.
    """
    progress = Progress(LoopState(turn.id))
    query = memory_query([event.heard.line for event in turn.events])
    for _ in range(context.max_iterations or script.config.max_iterations):
        yield prepare_memories(script, turn, query, audience_now(script, turn))
        begun: list[ReplyCalls] = []
        ask_model = partial(ask, script, turn, context, deadline_at, progress, begun)
        try:
            asked: StepReply = yield ask_with_room(script, ask_model, begun)
        except ProviderError as error:
            # What arrived of a reply may have been said.
            acted = progress.acted
            for calls in begun:
                ran: Ran = yield calls.settle()
                acted = acted or ran.acted
            if not acted:
                raise
            return Outcome(ANSWERED, f"cut short: {error}")
        progress = yield act_on_reply(script, turn, asked, progress)
        if progress.ended or context.loop_mode == "single_action":
            break
    return outcome_of(progress, context)


@inlineCallbacks
def act_on_reply(
    script: Script, turn: TurnRecord, asked: StepReply, progress: Progress
) -> Steps[Progress]:
    """Say a reply's text or run its tool calls. Fires with the turn's progress after that."""
    reply = asked.reply
    if reply.tool_calls:
        ran: Ran = yield asked.calls.finish(reply)
    else:
        ran = yield speak_text(script, turn, asked)
    refusals = progress.refusals + bool(ran.refused)
    whole = not reply.tool_calls or (reply.tied and not ran.blocked)
    return Progress(
        loop=ran.state,
        done=progress.done | ran.done,
        acted=progress.acted or ran.acted,
        authors=ran.authors,
        refused=ran.refused,
        refusals=refusals,
        blocked=ran.blocked,
        ended=refusals > RETRIES or ran.state.ended or (whole and not ran.refused),
    )


def outcome_of(progress: Progress, context: PromptContext) -> Outcome:
    """Return how a turn ended; raises NothingSpoken if the model neither spoke nor acted."""
    if progress.acted:
        return Outcome(ANSWERED)
    if NOOP in progress.done:
        return Outcome(NOTED, "it chose silence")
    if progress.done and context.loop_mode == "single_action":
        return Outcome(NOTED, "it did something that nobody saw")
    if progress.refused:
        raise NothingSpoken(f"The model's words were not spoken: {progress.refused}.")
    raise NothingSpoken("The model's replies held nothing to say and nothing to do.")


@inlineCallbacks
def ask_with_room(
    script: Script, ask_model: Callable[[], Deferred[StepReply]], begun: Sequence[ReplyCalls]
) -> Steps[StepReply]:
    """Ask; if the context window overflows, compact without a model and ask once more.

    Only this step is repeated, so that earlier acts of the turn are not run again (P2); a step of
    which calls arrived is not. Fires and fails as `ask`.
    """
    try:
        asked: StepReply = yield ask_model()
    except ContextOverflow:
        if any(calls.arrived for calls in begun):
            raise
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
    deadline_at: float,
    progress: Progress,
    begun: list[ReplyCalls],
) -> Steps[StepReply]:
    """Call the model once, for those who would hear the answer now.

    The run of the reply's calls is added to ``begun`` before the model is asked. Fires with the
    `StepReply`; fails with `ProviderError` or `TurnAborted`.
    """
    prepared = prepare(script, turn, context, deadline_at, progress)
    begun.append(prepared.calls)
    request = replace(prepared.request, on_call=prepared.calls.arrive)
    reply: LLMReply = yield call_model(script, turn, request, context.name, deadline_at)
    return StepReply(reply, prepared.calls)


@dataclass(frozen=True)
class Prepared:
    """The next request of a turn, and what will run the calls of its reply."""

    request: LLMRequest
    calls: ReplyCalls


def prepare(
    script: Script,
    turn: TurnRecord,
    context: PromptContext,
    deadline_at: float,
    progress: Progress,
) -> Prepared:
    """Return the next request of a turn, for those who would hear the answer now."""
    step, audience = progress.loop.step + 1, audience_now(script, turn)
    tools = tool_context(script, turn, audience, False, context.tools)
    toolbox = script.services.toolbox
    offered = by_name(toolbox.offered(tools))
    asking = ask_with(script, turn, offered.values(), step > 1)
    asking = replace(asking, refused=progress.refused, words_only=progress.blocked)
    prompt = build_prompt(script, context, audience, asking)
    tools = replace(
        tools,
        private=tools.private or prompt.private,
        deadline_at=deadline_at,
        authors=progress.authors | prompt.authors,
    )
    # All authors must be allowed what the speakers are.
    specs = by_name(toolbox.permitted(tools, offered.values()))
    withheld = tuple(sorted(offered.keys() - specs.keys()))
    asking = replace(asking, tools=shown_schemas(specs.values()), withheld=withheld)
    request = build_request(script, turn, prompt, asking, step)
    check = speech_check(script, turn, asking, prompt, specs)
    loop = begin_step(remember_earlier(turn, specs) if step == 1 else progress.loop)
    return Prepared(request, ReplyCalls(script, turn, tools, specs, loop, check))


def speech_check(
    script: Script, turn: TurnRecord, asking: Asking, prompt: Prompt, specs: Mapping[str, ToolSpec]
) -> SpeechCheck:
    """Return the check of a reply's words; the offline brain's own phrases need none."""
    around = None
    if has_model(script):
        heard = [event.heard for event in (*turn.overheard, *turn.events)]
        around = Surroundings(
            name=script.character_name,
            rules="\n".join((asking.form.rules(asking.tools), question_of(script, asking), RECALL)),
            persona=render_persona(script.persona),
            tools=frozenset(specs),
            people=frozenset({*prompt.situation.people, *(one.speaker_name for one in heard)}),
            heard=[one.text for one in heard],
            link_hosts=script.services.link_hosts,
        )
    logged = script.conversation.current.logged
    return SpeechCheck(around, logged, script.config.max_speech_chars)


def by_name(specs: Iterable[ToolSpec]) -> dict[str, ToolSpec]:
    """Return tools by their names."""
    return {spec.name: spec for spec in specs}


def remember_earlier(turn: TurnRecord, specs: Mapping[str, ToolSpec]) -> LoopState:
    """Return the state of a new loop, with the acts of earlier attempts at the same events."""
    categories = {spec.name: spec.category for spec in specs.values()}
    safe = {spec.name for spec in specs.values() if spec.safe_to_retry}
    binding = [call for call in turn.done_before if call.name not in safe]
    return with_earlier_acts(LoopState(turn.id), binding, categories)


@inlineCallbacks
def speak_text(script: Script, turn: TurnRecord, asked: StepReply) -> Steps[Ran]:
    """Say a reply in plain text, as models without tool calls send it. Fires with what it did."""
    ran, text = asked.calls.ran, asked.reply.content
    words = spoken_words(text, script.character_name, script.config.max_speech_chars)
    if not words:
        return ran
    call = speech_call(own_call_id(turn.id, ran.state.step, 0), words)
    problem = asked.calls.check.problem(call)
    if problem:
        yield refuse(script, turn, call, problem, unlogged)
        return replace(ran, refused=problem)
    result: ToolResult = yield say_aloud(script, turn, asked.calls.context, words, call.id)
    return replace(ran, acted=result.state == DONE)


def speech_call(call_id: str, words: str) -> ToolCallRequest:
    """Return the call that says words aloud."""
    return ToolCallRequest(call_id, SAY, json.dumps({"text": words}))


@inlineCallbacks
def say_aloud(
    script: Script, turn: TurnRecord, tools: ToolContext, words: str, call_id: str, **metadata: Any
) -> Steps[ToolResult]:
    """Make the character say words that no tool call asked for; log them, with more metadata."""

    def as_logged(result: ToolResult) -> list[Message]:
        if result.state != DONE:
            return []
        return [
            make_message(
                "assistant",
                words,
                nature=own_nature(script),
                **audience_metadata(turn, tools, result),
                **metadata,
            )
        ]

    call = speech_call(call_id, words)
    result: ToolResult = yield perform(script, turn, tools, call, True, as_logged)
    return result
