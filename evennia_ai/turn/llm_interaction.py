"""From the log to a request, and from a reply back: everything that touches a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import AssistantConfig, ModelProfile, usable_window
from evennia_ai.errors import ContextOverflow, ProviderError, TurnAborted
from evennia_ai.messages import Audience, LLMReply, Message, Usage, WireMessage
from evennia_ai.policy.compaction.plan import SUMMARY_ROOM
from evennia_ai.policy.compaction.summary import (
    TextLimits,
    summary_problem,
    summary_request,
    text_room,
    transcript_lines,
    words_for,
)
from evennia_ai.policy.limits.budgets import add_call
from evennia_ai.policy.overflow import is_local, is_silent_overflow, is_silently_truncated
from evennia_ai.policy.sanitize import strip_reasoning
from evennia_ai.policy.tokens import (
    MESSAGE_OVERHEAD,
    UsageReport,
    count_conversation_tokens,
    estimate_tokens,
    stored_tokens,
)
from evennia_ai.ports import (
    TASK_SUMMARY,
    Caller,
    HeardLine,
    LLMRequest,
    ModelCallRecord,
    Scene,
    Script,
    ToolSpec,
    TurnRecord,
)
from evennia_ai.scheduling import Steps, persist
from evennia_ai.turn.prompt_building import Prompt, build_prompt
from evennia_ai.turn.prompt_contexts import (
    CONTEXT_PRE_COMPACTION,
    PromptContext,
    lore_text,
)

log = Logger()

SUMMARY_TOKENS = 1_200
FITTINGS = 3  # what falls out of view is named at the end, and takes room there
COMPACTING = frozenset({TASK_SUMMARY, CONTEXT_PRE_COMPACTION.name})


def build_llm_messages(
    script: Script, context: PromptContext, audience: Audience
) -> list[WireMessage]:
    """The wire messages of the next call, for those who will hear the answer.

    Args:
        script: the assistant.
        context: the situation it thinks in.
        audience: dbrefs of everybody who will hear.
    """
    return build_prompt(script, context, audience).messages


def build_scene(script: Script, turn: TurnRecord, prompt: Prompt, step: int) -> Scene:
    """The turn's new words and what is seen and known, structured, for the offline brain."""
    lines = tuple(
        HeardLine(e.heard.kind, e.heard.speaker_name, e.heard.text, e.heard.private)
        for e in turn.events
    )
    lore = tuple(lore_text(entry) for entry in prompt.lore)
    return Scene(script.character_name, script.persona, lines, prompt.situation, lore, step)


def build_request(
    script: Script, turn: TurnRecord, prompt: Prompt, tools: Sequence[ToolSpec], step: int
) -> LLMRequest:
    """One request to a model."""
    config: AssistantConfig = script.config
    return LLMRequest(
        messages=prompt.messages,
        scene=build_scene(script, turn, prompt, step),
        tools=[spec.schema for spec in tools],
        max_tokens=config.max_reply_tokens,
        temperature=config.temperature,
        tokens=prompt.tokens,
        caller=Caller(
            assistant=str(script.id),
            speakers=turn.speakers,
            background=not turn.events,
            tokens_per_day=config.tokens_per_day,
        ),
    )


def effective_profile(script: Script) -> ModelProfile:
    """The profile with the assistant's own model name, if it has one."""
    profile: ModelProfile = script.profile
    return replace(profile, model=script.config.llm_model or profile.model)


@inlineCallbacks
def call_model(
    script: Script,
    turn: TurnRecord,
    request: LLMRequest,
    purpose: str,
    deadline_at: float,
) -> Steps[LLMReply]:
    """Ask the model once for a turn and store what it cost, however it ended.

    Fires with an `LLMReply`; fails with a `ProviderError`, or with `TurnAborted` where the turn
    lost its lease meanwhile, so that a late reply is dropped.
    """
    call = Purpose(
        purpose, effective_profile(script), turn.id, partial(ensure_current, script, turn)
    )
    reply: LLMReply = yield ask_model(script, request, call, deadline_at)
    return reply


@dataclass(frozen=True)
class Purpose:
    """What a call is for: its name in the log, the profile to ask, the turn it belongs to, and a
    check that raises TurnAborted where nobody wants the reply any more."""

    name: str
    profile: ModelProfile
    turn_id: int | None
    ensure_wanted: Callable[[], None]


@inlineCallbacks
def ask_model(
    script: Script, request: LLMRequest, purpose: Purpose, deadline_at: float
) -> Steps[LLMReply]:
    """Ask through the gateway and store what it cost. Fires and fails as `call_model` does."""
    clock, profile = script.services.clock, purpose.profile
    started = clock.seconds()
    record = ModelCallRecord(
        profile=profile.name,
        model=profile.model,
        purpose=purpose.name,
        estimated_tokens=request.tokens,
        usage=None,
        duration_ms=0,
        speakers=request.caller.speakers,
    )
    failure: ProviderError | None = None
    try:
        reply: LLMReply = yield script.services.gateway.complete(request, profile, deadline_at)
        record = replace(
            record,
            model=reply.model or profile.model,
            usage=reply.usage,
            finish_reason=reply.finish_reason,
        )
        failure = hidden_trouble(script, request, reply, profile)
    except ProviderError as error:
        failure = error
    if failure:
        record = replace(record, error_kind=failure.kind, error=str(failure))
    elapsed_ms = int((clock.seconds() - started) * 1000)
    record = replace(record, duration_ms=max(0, elapsed_ms))
    if purpose.name in COMPACTING:
        script.compaction_cost = add_to(script.compaction_cost, record)
    yield persist(clock, partial(record_call, script, purpose, record))
    purpose.ensure_wanted()
    if failure:
        raise failure
    if reply.usage is not None and purpose.turn_id is not None:
        counted = UsageReport(request.tokens, reply.usage.prompt_tokens, started)
        script.usage_reports.append(counted)
    return reply


def add_to(cost: Mapping[str, int], record: ModelCallRecord) -> dict[str, int]:
    """A cost with that of one call more; as estimated where it was not counted."""
    usage = record.usage or Usage(record.estimated_tokens, 0)
    return add_call(cost, usage.prompt_tokens, usage.completion_tokens, record.duration_ms)


def record_call(script: Script, purpose: Purpose, record: ModelCallRecord) -> None:
    """Store what a call cost; raises StoreUnavailable, or TurnAborted where nobody wants its
    reply any more."""
    purpose.ensure_wanted()
    script.turns.record_model_call(purpose.turn_id, record)


def hidden_trouble(
    script: Script, request: LLMRequest, reply: LLMReply, profile: ModelProfile
) -> ContextOverflow | None:
    """The overflow that a reply hides, None where it is as good as it looks. What a local server
    seems to have cut from the prompt in silence is told to whoever owns the assistant."""
    window = usable_window(script.config, profile)
    if is_silent_overflow(reply, profile.context_window or window):
        return ContextOverflow(f"The request filled the window of '{profile.model}'.")
    local = is_local(profile.base_url)
    if reply.usage and is_silently_truncated(reply.usage.prompt_tokens, request.tokens, local):
        script.tell_owner(
            f"The model '{profile.model}' was sent about {request.tokens} tokens and counts "
            f"{reply.usage.prompt_tokens}: its server seems to cut long prompts. Give it more "
            f"context, or set context_window in the profile '{profile.name}' to what it takes."
        )
    return None


@dataclass(frozen=True)
class SummaryTerms:
    """On which terms a summary is asked for: the room for it and the facts below it, in tokens;
    which model, None for the usual one; and the clock's second at which it comes too late, None
    for a turn's time from now."""

    room: int = SUMMARY_ROOM
    profile: ModelProfile | None = None
    deadline_at: float | None = None


@dataclass(frozen=True)
class SummaryCall:
    """A call for a summary: its messages, what they hold for a brain that is no language model, and
    how many tokens are summed up."""

    wire: list[WireMessage]
    material: tuple[str, ...]
    input_tokens: int


def summary_profile(script: Script) -> ModelProfile:
    """The profile whose model sums up: ``compact_model``, else the assistant's own."""
    profile = effective_profile(script)
    return replace(profile, model=script.config.compact_model or profile.model)


def tokens_a_word(messages: Sequence[Message]) -> float:
    """What a word of the talk takes, by what was heard; 0 where nothing was."""
    heard = [message for message in messages if message["role"] == "user"]
    words = sum(len(message["content"].split()) for message in heard)
    tokens = sum(stored_tokens(message) - MESSAGE_OVERHEAD for message in heard)
    return tokens / max(1, words)


@inlineCallbacks
def generate_context_summary(
    script: Script,
    messages_to_compact: Sequence[Message],
    focus: str | None = None,
    *,
    previous: str = "",
    with_results: bool = True,
    terms: SummaryTerms = SummaryTerms(),
) -> Steps[str | None]:
    """Sum messages up in a call of its own that holds nothing else, wrapped as data.

    Args:
        script: the assistant.
        messages_to_compact: what goes out of view, all of one audience.
        focus: what to keep above all.
        previous: the summary so far, to be brought up to date.
        with_results: False leaves the results of tools out.
        terms: the room for it, whom to ask and until when.

    Fires with the summary, None where the reply is none (empty, a refusal, cut off, longer than its
    input or its room); fails with a `ProviderError`, and with TurnAborted where the server stops.
    """
    name = script.character_name
    lines = transcript_lines(messages_to_compact, name, with_results)
    most = words_for(terms.room, tokens_a_word(messages_to_compact))
    wire = summary_request(name, lines, previous, focus, script.config.compact_prompt, most)
    tokens = estimate_tokens(previous) + sum(map(stored_tokens, messages_to_compact))
    text: str | None = yield ask_for_summary(
        script, SummaryCall(wire, (previous, *lines), tokens), terms
    )
    return text


@inlineCallbacks
def ask_for_summary(script: Script, call: SummaryCall, terms: SummaryTerms) -> Steps[str | None]:
    """Ask for a summary and look whether the reply is one. Fires and fails as
    `generate_context_summary` does."""
    config, name = script.config, script.character_name
    limits = TextLimits(call.input_tokens, text_room(terms.room))
    request = LLMRequest(
        messages=call.wire,
        scene=Scene(
            name,
            script.persona,
            (),
            task=TASK_SUMMARY,
            material=call.material,
            room_tokens=limits.room_tokens,
        ),
        max_tokens=max(SUMMARY_TOKENS, config.max_reply_tokens),
        temperature=config.temperature,
        tokens=count_conversation_tokens(call.wire, None),
        caller=Caller(str(script.id), background=True, tokens_per_day=config.tokens_per_day),
    )
    profile = terms.profile or summary_profile(script)
    purpose = Purpose(TASK_SUMMARY, profile, None, partial(ensure_awake, script))
    deadline_at = script.services.clock.seconds() + config.turn_deadline
    if terms.deadline_at is not None:
        deadline_at = min(deadline_at, terms.deadline_at)
    reply: LLMReply = yield ask_model(script, request, purpose, deadline_at)
    text = strip_reasoning(reply.content).strip()
    problem = summary_problem(text, reply.finish_reason, estimate_tokens(text), limits)
    if problem:
        log.warn("{name}: {problem}", name=name, problem=problem)
        return None
    return text


def ensure_awake(script: Script) -> None:
    """Raise TurnAborted where the assistant may not think any more."""
    if not script.may_think():
        raise TurnAborted(f"{script.character_name} may not think any more")


def ensure_current(script: Script, turn: TurnRecord) -> None:
    """Raise TurnAborted where the turn has lost its lease: nothing may be done for it any more."""
    if not script.turns.is_current(turn.id):
        raise TurnAborted(f"turn {turn.id} is no longer current")
