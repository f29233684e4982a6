"""Call a model through the gateway and record what the call cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import ModelProfile, window_known
from evennia_ai.errors import ContextOverflow, ProviderError, TurnAborted
from evennia_ai.messages import NO_USAGE, OFFLINE, LLMReply, Usage, turn_label
from evennia_ai.policy.explanation.call_record import (
    CallRecord,
    KeptCall,
    RawReply,
    make_record,
)
from evennia_ai.policy.limits.budgets import add_call
from evennia_ai.policy.overflow import is_silent_overflow, is_silently_truncated
from evennia_ai.policy.tokens import UsageReport
from evennia_ai.ports import TASK_SUMMARY, LLMRequest, ModelCallRecord, Script, TurnRecord
from evennia_ai.scheduling import Steps, persist
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION

log = Logger()

NO_REPLY = LLMReply("")
COMPACTING = frozenset({TASK_SUMMARY, CONTEXT_PRE_COMPACTION.name})


@dataclass(frozen=True)
class Purpose:
    """What a model call is for, and its name in the log of calls."""

    name: str
    profile: ModelProfile
    turn_id: int | None
    ensure_wanted: Callable[[], None]  # raises TurnAborted once nobody needs the reply


def summary_profile(script: Script) -> ModelProfile:
    """Return the model profile for summaries: ``compact_model``, else the assistant's own model."""
    return script.profile.with_model(script.config.compact_model or script.profile.model)


@inlineCallbacks
def call_model(
    script: Script, turn: TurnRecord, request: LLMRequest, purpose: str, deadline_at: float
) -> Steps[LLMReply]:
    """Ask the model once for a turn and record what the call cost.

    Fires with an `LLMReply`; fails with a `ProviderError`, and with `TurnAborted` if the turn lost
    its lease meanwhile, so that a late reply is dropped.
    """
    wanted = partial(ensure_current, script, turn)
    call = Purpose(purpose, script.profile, turn.id, wanted)
    reply: LLMReply = yield ask_model(script, request, call, deadline_at)
    return reply


def ask_apart(
    script: Script,
    request: LLMRequest,
    purpose: str,
    profile: ModelProfile | None = None,
    deadline_at: float | None = None,
) -> Deferred[LLMReply]:
    """Ask for something apart from any turn, by default the model for summaries.

    The reply must come in the time of a turn, and before ``deadline_at``, if that is given. Fires
    and fails as `call_model`; `TurnAborted` means that the assistant must not think any more.
    """
    wanted = partial(ensure_awake, script)
    call = Purpose(purpose, profile or summary_profile(script), None, wanted)
    end_at = script.services.clock.seconds() + script.config.turn_deadline
    if deadline_at is not None:
        end_at = min(end_at, deadline_at)
    return ask_model(script, request, call, end_at)


@inlineCallbacks
def ask_model(
    script: Script, request: LLMRequest, purpose: Purpose, deadline_at: float
) -> Steps[LLMReply]:
    """Ask through the gateway and record what the call cost. Fires and fails as `call_model`."""
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
        prices=profile.price,
    )
    failure: ProviderError | None = None
    reply = NO_REPLY
    try:
        reply = yield script.services.gateway.complete(request, profile, deadline_at)
        record = replace(
            record,
            model=reply.model or profile.model,
            usage=reply.usage,
            finish_reason=reply.finish_reason,
            prices=profile.each[reply.endpoint].price,
        )
        if reply.model == OFFLINE:
            record = replace(record, usage=NO_USAGE, estimated_tokens=0)
        failure = hidden_failure(script, request, reply, profile)
    except ProviderError as error:
        failure = error
    if failure:
        record = replace(record, error_kind=failure.kind, error=str(failure))
    elapsed_ms = int((clock.seconds() - started) * 1000)
    record = replace(record, duration_ms=max(0, elapsed_ms), kept=record_of(request, reply))
    if purpose.name in COMPACTING:
        usage = record.usage or Usage(record.estimated_tokens, 0)
        script.compaction_cost = add_call(
            script.compaction_cost, usage.prompt_tokens, usage.completion_tokens, record.duration_ms
        )
    yield persist(clock, partial(record_call, script, purpose, record))
    purpose.ensure_wanted()
    if failure:
        raise failure
    if reply.usage is not None and purpose.turn_id is not None:
        script.usage_reports.append(UsageReport(request.tokens, reply.usage.prompt_tokens))
    return reply


def record_of(request: LLMRequest, reply: LLMReply) -> CallRecord | None:
    """Return what to store of a call's prompt and reply, None if its prompt has no trace."""
    if request.trace is None:
        return None
    raw = reply.raw or reply
    calls = tuple((call.name, call.arguments) for call in raw.tool_calls)
    kept = KeptCall(request.trace, request.sent, RawReply(raw.content, calls))
    try:
        return make_record(kept, request.messages, request.authors)
    except Exception:  # noqa: BLE001  # an answer must not fail because it cannot be explained
        log.failure("the prompt of a call cannot be kept; aiwhy will not explain its lines")
        return None


def record_call(script: Script, purpose: Purpose, record: ModelCallRecord) -> None:
    """Store a call; raises StoreUnavailable, and TurnAborted once nobody needs the reply."""
    purpose.ensure_wanted()
    script.turns.record_model_call(purpose.turn_id, record)


def hidden_failure(
    script: Script, request: LLMRequest, reply: LLMReply, profile: ModelProfile
) -> ContextOverflow | None:
    """Return the overflow that a reply hides, None if there is none."""
    # Tell the owner if a local server seems to have truncated the prompt silently.
    window = window_known(profile).tokens
    if is_silent_overflow(reply, window or script.config.max_context_tokens):
        return ContextOverflow(f"The request filled the window of '{profile.model}'.")
    local = profile.each[reply.endpoint].is_local
    if reply.usage and is_silently_truncated(reply.usage.prompt_tokens, request.tokens, local):
        # Without numbers: the same trouble with others would be told again with each call.
        script.tell_owner(
            f"The model '{profile.model}' counts far fewer tokens than it was sent: its server "
            "seems to cut long prompts. Give it more context, or set context_window in the profile "
            f"'{profile.name}' to what it takes."
        )
    return None


def ensure_awake(script: Script) -> None:
    """Raise TurnAborted if the assistant must not think any more."""
    if not script.may_think():
        raise TurnAborted(f"{script.character_name} may not think any more")


def ensure_current(script: Script, turn: TurnRecord) -> None:
    """Raise TurnAborted if the turn has lost its lease."""
    if not script.turns.is_current(turn.id):
        raise TurnAborted(f"{turn_label(turn.id)} is no longer current")
