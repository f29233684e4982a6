"""Ask the stand-in, which calls no model, for the words of a turn."""

from __future__ import annotations

from dataclasses import dataclass, replace

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderError, TurnAborted
from evennia_ai.messages import Audience, Authors, LLMReply, turn_label
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import MindContext, TurnRecord
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.prompt_building import PromptBuilder, PromptRequest
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT

log = Logger()

STAND_IN_TIME_S = 0.5
STAND_IN = ModelProfile("offline", client="offline", model="offline")


@dataclass(frozen=True)
class OwnWords:
    """Words that no model wrote, empty if there are none, and the audience of their prompt."""

    words: str
    private: bool = False  # True if the prompt held private content
    audience: Audience | None = None  # None if there was no prompt
    authors: Authors = frozenset()


NO_WORDS = OwnWords("")


@inlineCallbacks
def ask_stand_in(
    mind: MindContext,
    prompts: PromptBuilder,
    turn: TurnRecord,
    audience: Audience,
    certain: bool = False,
) -> Coroutine[OwnWords]:
    """Ask the stand-in for a line, without tools, since it must not act for the model.

    If ``certain``, it says nothing but what it surely knows. Fires with no words if there are none;
    fails only with TurnAborted.
    """
    deadline_at = mind.clock.seconds() + STAND_IN_TIME_S
    try:
        asking = PromptRequest(turn.events)
        prompt = prompts.build(CONTEXT_TICK_EVENT, audience, asking)
        request = replace(prompts.request(turn, prompt, asking, 1), certain=certain)
        reply: LLMReply = yield mind.services.gateway.complete(request, STAND_IN, deadline_at)
    except TurnAborted:
        raise
    except ProviderError:
        return NO_WORDS
    except Exception:  # noqa: BLE001  # whatever failed the turn may fail here again
        log.failure("{name}, {turn}: the stand-in failed", name=mind.name, turn=turn_label(turn.id))
        return NO_WORDS
    words = spoken_words(reply.content, mind.name, mind.config.max_speech_chars)
    return OwnWords(words, prompt.private, audience, prompt.authors)
