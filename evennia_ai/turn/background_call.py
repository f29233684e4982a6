"""Asking a model for something nobody waits for: what it is to make of memories, in sleep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import LLMReply, WireMessage
from evennia_ai.policy.tokens import count_conversation_tokens
from evennia_ai.ports import Caller, LLMRequest, Scene, Script
from evennia_ai.scheduling import Steps
from evennia_ai.turn.llm_interaction import Purpose, ask_model, effective_profile, ensure_awake


def has_model(script: Script) -> bool:
    """False where the offline brain thinks: it makes nothing of such a request."""
    return bool(script.profile.client != "offline")


@inlineCallbacks
def ask_in_background(
    script: Script, purpose: str, messages: Sequence[WireMessage], max_tokens: int
) -> Steps[str]:
    """Ask the model that sums up, in the lane of those nobody waits for.

    Args:
        script: the assistant.
        purpose: its name in the log of calls.
        messages: all that the model sees.
        max_tokens: the longest reply.

    Fires with the reply's text; fails with a `ProviderError`, and with TurnAborted where the
    assistant may not think any more.
    """
    config = script.config
    request = LLMRequest(
        messages=messages,
        scene=Scene(script.character_name, script.persona, ()),
        max_tokens=max_tokens,
        temperature=config.temperature,
        tokens=count_conversation_tokens(messages, None),
        caller=Caller(str(script.id), background=True, tokens_per_day=config.tokens_per_day),
    )
    profile = effective_profile(script)
    profile = replace(profile, model=config.compact_model or profile.model)
    call = Purpose(purpose, profile, None, partial(ensure_awake, script))
    deadline_at = script.services.clock.seconds() + config.turn_deadline
    reply: LLMReply = yield ask_model(script, request, call, deadline_at)
    return reply.content
