"""Say a fallback line if no model answers, and close the turn."""

from dataclasses import dataclass, replace

from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import Busy, OutcomeUnknown
from evennia_ai.messages import EXCUSE
from evennia_ai.policy.conversation.ai_disclosure import (
    DENYING,
    asking,
    spoken_by_people,
    to_prepare,
    true_answer,
)
from evennia_ai.policy.conversation.tool_call_rules import own_call_id
from evennia_ai.ports import MindContext, ToolResult, TurnRecord
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.guardrails import ModerationGate
from evennia_ai.turn.prompt_building import PromptBuilder
from evennia_ai.turn.react_loop import ANSWERED, EXCUSED, EXPIRED, FAILED, Outcome
from evennia_ai.turn.stand_in import STAND_IN, OwnWords, ask_stand_in
from evennia_ai.turn.tool_executor import DONE, ToolExecutor

EXCUSE_STEP = 0
BY_CODE = "whether it is a machine is answered by code"
SPEAKING_TIME_S = 0.5


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
            audience = self._tool_executor.audience_now(turn)
            spare: OwnWords = yield ask_stand_in(self._mind, self._prompts, turn, audience)
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
