"""When no model answers: a line in character all the same, and the matter is closed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import ModelProfile
from evennia_ai.errors import Busy, ProviderError, TurnAborted
from evennia_ai.messages import Audience, LLMReply
from evennia_ai.policy.conversation.react import own_call_id
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import Script, ToolResult, TurnRecord
from evennia_ai.scheduling import Steps
from evennia_ai.turn.llm_interaction import build_request
from evennia_ai.turn.prompt_building import build_prompt
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from evennia_ai.turn.react_loop import (
    EXCUSED,
    EXPIRED,
    Outcome,
    audience_now,
    say_aloud,
    tool_context,
)
from evennia_ai.turn.tool_execution import DONE

log = Logger()

EXCUSE_STEP = 0
STAND_IN_TIME_S = 0.5
SPEAKING_TIME_S = 0.5
STAND_IN = ModelProfile("offline", client="offline", model="offline")


@dataclass(frozen=True)
class Excuse:
    """Words that stand in for an answer; ``private`` where a prompt with secrets led to them, and
    ``audience`` whom that prompt was made for, None where there was no prompt."""

    words: str
    private: bool = False
    audience: Audience | None = None


@inlineCallbacks
def excuse(
    script: Script, turn: TurnRecord, failed: Outcome, answer_lost: bool = False
) -> Steps[Outcome]:
    """Say something to whoever waits for an answer; it may safely be said twice.

    It counts as the last of a chain of assistants' answers, so that none of them answers an excuse.

    Args:
        script: the assistant.
        turn: the open turn.
        failed: why there is no answer.
        answer_lost: True where an answer may have been heard already, so that only a short line
            fits.

    Fires with the turn's `Outcome`: excused, or expired where not even this could be said.
    """
    chosen: Excuse = yield choose_excuse(script, turn, failed, answer_lost)
    private = chosen.private or turn.private
    # Who has come in while the words were made must not hear what only others may know.
    audience = audience_now(script, turn) if chosen.audience is None else chosen.audience
    tools = tool_context(script, turn, audience, private, None)
    deadline_at = script.services.clock.seconds() + SPEAKING_TIME_S
    hops = max(turn.hops, script.config.max_hops)
    tools = replace(tools, hops=hops, deadline_at=deadline_at)
    call_id = own_call_id(turn.id, EXCUSE_STEP, 0)
    result: ToolResult = yield say_aloud(script, turn, tools, chosen.words, call_id)
    if result.state != DONE:
        return Outcome(EXPIRED, f"{failed.detail}; and no excuse could be made: {result.text}")
    return Outcome(EXCUSED, failed.detail)


@inlineCallbacks
def choose_excuse(
    script: Script, turn: TurnRecord, failed: Outcome, answer_lost: bool
) -> Steps[Excuse]:
    """The builder's line; else that somebody is busy; else what the offline brain has to say;
    else the game's own line. Fires with the `Excuse`."""
    text = script.services.text
    if script.config.fallback_line:
        return Excuse(script.config.fallback_line)
    if failed.kind == Busy.kind:
        return Excuse(text("busy"))
    if not answer_lost and script.profile.client != STAND_IN.client:
        spare: Excuse = yield ask_stand_in(script, turn)
        if spare.words:
            return spare
    return Excuse(text("fallback"))


@inlineCallbacks
def ask_stand_in(script: Script, turn: TurnRecord) -> Steps[Excuse]:
    """What the offline brain would say, without tools: it may not act in the model's place.

    Fires with an `Excuse`, without words where it has none; fails with TurnAborted alone.
    """
    services, audience = script.services, audience_now(script, turn)
    deadline_at = services.clock.seconds() + STAND_IN_TIME_S
    try:
        prompt = build_prompt(script, CONTEXT_TICK_EVENT, audience, turn.events)
        request = build_request(script, turn, prompt, (), 1)
        reply: LLMReply = yield services.gateway.complete(request, STAND_IN, deadline_at)
    except TurnAborted:
        raise
    except ProviderError:
        return Excuse("")
    except Exception:  # noqa: BLE001  # whatever failed the turn may fail here again
        log.failure("{name}: no line from the offline brain", name=script.character_name)
        return Excuse("")
    words = spoken_words(reply.content, script.character_name, script.config.max_speech_chars)
    return Excuse(words, prompt.private, audience)
