"""Ask a model for something that no player waits for, such as a reflection during sleep."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import LLMReply, WireMessage
from evennia_ai.ports import Scene, Script
from evennia_ai.scheduling import Steps
from evennia_ai.turn.llm_interaction import background_request
from evennia_ai.turn.model_call import Purpose, ask_model, ensure_awake, summary_profile


def has_model(script: Script) -> bool:
    """Return False if the offline brain answers, which cannot handle such requests."""
    return script.profile.client != "offline"


@inlineCallbacks
def ask_in_background(
    script: Script, purpose: str, messages: Sequence[WireMessage], max_tokens: int
) -> Steps[str]:
    """Ask the model for summaries, at the gateway's low priority.

    ``purpose`` is the call's name in the log; ``messages`` are everything that the model sees.
    Fires with the reply's text; fails with a `ProviderError`, and with TurnAborted if the assistant
    must not think any more.
    """
    scene = Scene(script.character_name, script.persona, ())
    request = background_request(script, messages, scene, max_tokens)
    call = Purpose(purpose, summary_profile(script), None, partial(ensure_awake, script))
    deadline_at = script.services.clock.seconds() + script.config.turn_deadline
    reply: LLMReply = yield ask_model(script, request, call, deadline_at)
    return reply.content
