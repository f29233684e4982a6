"""Asking models again what was asked in an earlier turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderError
from evennia_ai.messages import LLMReply, ToolCallRequest, WireMessage
from evennia_ai.policy.call_record import KeptCall, RecordedReply
from evennia_ai.policy.tool_call_modes.form import choose_form
from evennia_ai.ports import LLMRequest, RequestSource
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.prompt_building import PromptRequest

REPLAY = "replay"


@dataclass(frozen=True)
class ReplayResult:
    """One call that was asked again; ``problem`` says why there is no reply, "" if there is."""

    before: RecordedReply
    content: str = ""
    calls: tuple[ToolCallRequest, ...] = ()
    problem: str = ""


@inlineCallbacks
def ask_again(
    mind: Any,
    kept: KeptCall,
    messages: Sequence[WireMessage],
    profile: ModelProfile,
    own_persona: bool = False,
) -> Coroutine[ReplayResult]:
    """Ask a model what an earlier call asked; with today's persona, if ``own_persona``.

    Fires with the `ReplayResult`; fails with TurnAborted if the server stops.
    """
    form, sent = choose_form(profile.model, kept.sent.form), messages
    if own_persona:
        asking = PromptRequest(form=form, tools=kept.sent.tools)
        opening = mind.prompts.opening(asking).messages
        sent = [*opening, *messages[len(kept.trace.opening) :]]
    request = LLMRequest(
        messages=sent,
        tools=kept.sent.tools,
        max_tokens=kept.sent.max_tokens,
        temperature=kept.sent.temperature,
        caller=mind.calls.caller(frozenset(), background=False),
        form=form.name,
        source=RequestSource(mind),
    )
    try:
        reply: LLMReply = yield mind.calls.apart(request, REPLAY, profile)
    except ProviderError as error:
        return ReplayResult(kept.reply, problem=str(error))
    return ReplayResult(kept.reply, reply.content, reply.tool_calls)
