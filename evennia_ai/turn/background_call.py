"""Ask a model for something that no player waits for, such as a reflection during sleep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from twisted.internet.defer import inlineCallbacks

from evennia_ai.config.profiles import request_form
from evennia_ai.messages import OFFLINE, LLMReply, WireMessage
from evennia_ai.policy.compaction.summary import CUT_OFF
from evennia_ai.policy.model_text import complete_lines
from evennia_ai.ports import Scene, Script
from evennia_ai.scheduling import Steps
from evennia_ai.turn.llm_interaction import background_request
from evennia_ai.turn.model_call import ask_apart


@dataclass(frozen=True)
class BackgroundReply:
    """A model's reply in complete lines; ``is_cut`` is True if it reached its token limit."""

    text: str
    is_cut: bool = False


def has_model(script: Script) -> bool:
    """Return False if the offline brain answers, which cannot handle such requests."""
    return script.profile.client != "offline"


def own_nature(script: Script) -> str:
    """Return the nature of what the character says: `OFFLINE` if the offline brain chooses it."""
    return "" if has_model(script) else OFFLINE


def calls_tools(script: Script) -> bool:
    """Return True if the assistant's model is asked by native tool calls."""
    return request_form(script.profile).native


@inlineCallbacks
def ask_in_background(
    script: Script, purpose: str, messages: Sequence[WireMessage], max_tokens: int
) -> Steps[BackgroundReply]:
    """Ask the model for summaries, at the gateway's low priority.

    ``purpose`` is the call's name in the log; ``messages`` are everything that the model sees.
    Fires with the reply, without a last line that was cut off. Fails with a `ProviderError`, and
    with TurnAborted if the assistant must not think any more.
    """
    scene = Scene(script.character_name, script.persona, ())
    request = background_request(script, messages, scene, max_tokens)
    reply: LLMReply = yield ask_apart(script, request, purpose)
    if reply.finish_reason == CUT_OFF:
        return BackgroundReply(complete_lines(reply.content), is_cut=True)
    return BackgroundReply(reply.content)
