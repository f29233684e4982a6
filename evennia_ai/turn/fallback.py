"""Say a fallback line if no model answers, and close the turn."""

from dataclasses import dataclass, replace

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import ModelProfile
from evennia_ai.errors import Busy, OutcomeUnknown, ProviderError, TurnAborted
from evennia_ai.messages import EXCUSE, LLMReply, turn_label
from evennia_ai.policy.conversation.ai_disclosure import (
    DENYING,
    asking,
    spoken_by_people,
    to_prepare,
    true_answer,
)
from evennia_ai.policy.conversation.tool_call_rules import own_call_id
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import MindContext, ToolResult, TurnRecord
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.guardrails import ModerationGate
from evennia_ai.turn.prompt_building import PromptBuilder, PromptRequest
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from evennia_ai.turn.react_loop import ANSWERED, EXCUSED, EXPIRED, FAILED, Outcome, OwnWords
from evennia_ai.turn.tool_executor import DONE, ToolExecutor

log = Logger()

EXCUSE_STEP = 0
BY_CODE = "whether it is a machine is answered by code"
STAND_IN_TIME_S = 0.5
SPEAKING_TIME_S = 0.5
STAND_IN = ModelProfile("offline", client="offline", model="offline")


@dataclass(eq=False)
class Fallback:
    """Says a line in character where no model answered."""

    _mind: MindContext
    _prompts: PromptBuilder
    _tool_executor: ToolExecutor
    _moderation_gate: ModerationGate

    @inlineCallbacks
    def excuse(
        self, turn: TurnRecord, failed: Outcome, answer_lost: bool = False
    ) -> Coroutine[Outcome]:
        """Say an excuse to whoever waits for an answer; saying it twice does no harm.

        If an answer may have been heard already (``answer_lost``), the line is short. An excuse
        counts as the last line of a chain of assistants' answers, so that no assistant answers it.
        Fires with the turn's `Outcome`: excused, or expired if even the excuse could not be said.
        """
        chosen: OwnWords = yield self._choose(turn, failed, answer_lost)
        result: ToolResult | str = yield self._say(turn, chosen, 0, type=EXCUSE)
        if isinstance(result, str):  # it may have been heard, and once is enough
            return Outcome(EXPIRED, f"{failed.detail}; and of the excuse: {result}")
        if result.state != DONE:
            return Outcome(EXPIRED, f"{failed.detail}; and no excuse could be made: {result.text}")
        return Outcome(EXCUSED, failed.detail)

    @inlineCallbacks
    def tell_truth(self, turn: TurnRecord) -> Coroutine[Outcome | None]:
        """Say that it is a machine, if a line of the turn asks; nothing turns that off.

        Fires with the turn's `Outcome`, which is `FAILED` if nothing could be said; None if no line
        asks.
        """
        own, name = self._mind.config.ai_disclosure_line or "", self._mind.name
        services, lines = self._mind.services, spoken_by_people(turn.events)
        yield services.nearness.prepare(services, to_prepare(e.heard.text for e in lines))
        questions = asking(lines, services.nearness.cosines)
        if not questions:
            return None
        if own:
            yield services.nearness.prepare(services, to_prepare([own], DENYING))
        text, cosines = questions[0].heard.text, services.nearness.cosines
        words = true_answer(text, name, own, turn.id, cosines)
        result: ToolResult | str = yield self._say(turn, OwnWords(words), 1)
        if isinstance(result, str):
            return Outcome(EXPIRED, result)
        return Outcome(ANSWERED, BY_CODE) if result.state == DONE else Outcome(FAILED, result.text)

    @inlineCallbacks
    def _say(
        self, turn: TurnRecord, chosen: OwnWords, number: int, **metadata: str
    ) -> Coroutine[ToolResult | str]:
        """Say words that are no model's. Fires with the result, or why its outcome is unknown."""
        # Somebody who arrived in the meantime must not hear what only others may know.
        audience = (
            self._tool_executor.audience_now(turn) if chosen.audience is None else chosen.audience
        )
        tools = self._tool_executor.context_for(turn, audience, chosen.private, None)
        deadline_at = self._mind.clock.seconds() + SPEAKING_TIME_S
        hops = max(turn.hops, self._mind.config.max_bot_replies)
        authors = tools.authors | chosen.authors
        tools = replace(tools, hops=hops, deadline_at=deadline_at, authors=authors)
        call_id = own_call_id(turn.id, EXCUSE_STEP, number)
        try:
            result: ToolResult = yield self._tool_executor.say_aloud(
                turn, tools, chosen.words, call_id, **metadata
            )
        except OutcomeUnknown as error:
            return str(error)
        return result

    @inlineCallbacks
    def _choose(self, turn: TurnRecord, failed: Outcome, answer_lost: bool) -> Coroutine[OwnWords]:
        """Fire with the builder's line, a busy model's, the stand-in's, or the game's."""
        # What a guard refuses is passed over.
        own = self._mind.config.fallback_line or ""
        if own and not (yield self._moderation_gate.why_unsaid(own, True)):
            return OwnWords(own)
        key = "busy" if failed.kind == Busy.kind else "fallback"
        if key == "fallback" and not answer_lost and self._mind.profile.client != STAND_IN.client:
            spare: OwnWords = yield self._ask_stand_in(turn, PromptRequest(turn.events))
            if spare.words and not (yield self._moderation_gate.why_unsaid(spare.words)):
                return spare
        # The game's variants: the unsaid ones, then those said longest ago.
        excuses = [excuse["content"] for excuse in self._mind.log.current.excuses]
        last = {words: number for number, words in enumerate(excuses)}
        variants = filter(str.strip, self._mind.services.text(key).splitlines())
        for words in sorted(variants, key=lambda words: last.get(words, -1)):
            if words and not (yield self._moderation_gate.why_unsaid(words, True)):
                return OwnWords(words)
        return OwnWords("")

    def answer_surely(
        self, turn: TurnRecord, step: int = 1, undone: frozenset[str] = frozenset()
    ) -> Deferred[OwnWords]:
        """Fire with what the stand-in surely knows in answer to a turn, else with no words.

        From the second step on that is what the turn did; ``undone`` are calls that were not done.
        """
        asking = PromptRequest(turn.events, turn.id, undone=undone)
        return self._ask_stand_in(turn, asking, step, certain=True)

    @inlineCallbacks
    def _ask_stand_in(
        self, turn: TurnRecord, asking: PromptRequest, step: int = 1, certain: bool = False
    ) -> Coroutine[OwnWords]:
        """Ask the stand-in for a line, without tools, since it must not act for the model.

        If ``certain``, it says only what it surely knows. Fires with no words if there are none;
        fails only with TurnAborted.
        """
        audience = self._tool_executor.audience_now(turn)
        deadline_at = self._mind.clock.seconds() + STAND_IN_TIME_S
        try:
            prompt = self._prompts.build(CONTEXT_TICK_EVENT, audience, asking)
            request = self._prompts.request(turn, prompt, asking, step)
            request = replace(request, certain=certain)
            reply: LLMReply = yield self._mind.services.gateway.complete(
                request, STAND_IN, deadline_at
            )
        except TurnAborted:
            raise
        except ProviderError:
            return OwnWords()
        except Exception:  # noqa: BLE001  # whatever failed the turn may fail here again
            message = "{name}, {turn}: the stand-in failed; using the game's line"
            log.failure(message, name=self._mind.name, turn=turn_label(turn.id))
            return OwnWords()
        words = spoken_words(reply.content, self._mind.name, self._mind.config.max_speech_chars)
        return OwnWords(words, prompt.private, audience, prompt.authors)
