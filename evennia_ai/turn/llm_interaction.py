"""Build requests to a model, and ask for summaries."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import ProviderError
from evennia_ai.messages import Audience, Authors, ChatMessage, LLMReply, WireMessage, is_offline
from evennia_ai.policy.audience import of_messages
from evennia_ai.policy.compaction import summary
from evennia_ai.policy.compaction.plan import SUMMARY_ROOM
from evennia_ai.policy.compaction.unverified_claims import (
    ONLY_SPOKEN,
    SpokenDeed,
    SpokenSentence,
    Talk,
    claims_in,
    read_lines,
    without_claimed,
    without_claims,
)
from evennia_ai.policy.replies.reply_reader import CUT_OFF
from evennia_ai.policy.sanitize import strip_reasoning
from evennia_ai.policy.tokens import MESSAGE_OVERHEAD, estimate_tokens, stored_tokens
from evennia_ai.ports import TASK_CHECK, TASK_SUMMARY, LLMRequest, MindContext, RequestSource
from evennia_ai.scheduling import Coroutine, map_in_slices, yield_to_reactor
from evennia_ai.turn.model_call import ModelCalls
from evennia_ai.turn.prompt_contexts import TurnKind
from evennia_ai.turn.prompt_trace import trace_apart, trace_summary

log = Logger()

SUMMARY_TOKENS = 1_200
ONLY_CLAIMS = "it told nothing but that the character is a program, or its tools"


@dataclass(frozen=True)
class SummaryLimits:
    """The limits of a request for a summary."""

    room: int = SUMMARY_ROOM  # the most tokens for the summary
    profile: ModelProfile | None = None  # the model profile to ask, None for the usual one
    # The clock's second at which it is too late, None for a turn's time from now.
    deadline_at: float | None = None
    audience: Audience | None = None  # of the summary, None for everybody
    authors: Authors = frozenset()  # of all its material (`policy.audience`)
    background: bool = True  # False if somebody waits for it


@dataclass(eq=False)
class Summariser:
    """Asks a model for summaries of messages."""

    _mind: MindContext
    _calls: ModelCalls

    @inlineCallbacks
    def summarise(
        self,
        messages_to_compact: Sequence[ChatMessage],
        focus: str | None = None,
        *,
        previous: str = "",
        with_results: bool = True,
        terms: SummaryLimits = SummaryLimits(),
    ) -> Coroutine[str | None]:
        """Summarise messages in a separate call that holds them as data and nothing else.

        Args:
            messages_to_compact: the messages to evict, all of one audience.
            focus: what the summary must keep above all.
            previous: the previous summary, to be updated.
            with_results: False leaves tool results out.

        Fires with the summary, shortened to its room; None if the reply is rejected: empty, a
        refusal, longer than its input, nothing but claims (`without_claims`), or next to nothing of
        the talk (`tells_too_little`). Fails with a `ProviderError`, and with TurnAborted if the
        server stops.
        """
        put, name, room = self._mind.slices.put, self._mind.name, summary.text_room(terms.room)
        stated = [m for m in messages_to_compact if not is_offline(m)]
        lines = summary.transcript_lines(stated, name, with_results)
        most = summary.words_for(terms.room, tokens_a_word(messages_to_compact))
        yield yield_to_reactor(put)
        wire = summary.summary_request(
            name, lines, previous, focus, self._mind.config.compact_prompt, most
        )
        trace = trace_summary(self._mind.log, name, stated, terms.audience, previous, with_results)
        yield yield_to_reactor(put)
        most_tokens = max(SUMMARY_TOKENS, self._mind.config.max_reply_tokens)
        request = self._calls.background_request(wire, most_tokens)
        request = replace(
            request,
            trace=trace,
            authors=terms.authors or of_messages(stated),
            caller=replace(request.caller, background=terms.background),
            source=RequestSource(self._mind, material=(previous, *lines), room_tokens=room),
        )
        profile = terms.profile or self._calls.summary_profile
        reply: LLMReply = yield self._calls.apart(request, TASK_SUMMARY, profile, terms.deadline_at)
        text = strip_reasoning(reply.content).strip()
        tokens = estimate_tokens(previous) + sum(map(stored_tokens, messages_to_compact))
        problem = summary.summary_problem(text, estimate_tokens(text), tokens)
        if not problem:
            yield yield_to_reactor(put)
            carried = self._mind.world.situation(self._mind.character).carrying
            stated_lines = [*lines, *claims_in(previous)]
            text = without_claims(text, name, stated_lines, carried)
            problem = "" if text else ONLY_CLAIMS
            yield yield_to_reactor(put)
            if terms.deadline_at is None:  # else somebody waits
                talk: Talk = yield self.read_talk([*without_claimed(previous), *stated_lines])
                own_trace = trace_apart(trace.audience if trace.private else None)
                template = replace(request, trace=own_trace)
                text = yield self._without_spoken_deeds(text, talk, template, profile)
        if not problem:
            text = summary.shortened(text, room, reply.finish_reason == CUT_OFF)
            messages: list[summary.MessageWords] = yield map_in_slices(
                put, stated, lambda message: summary.message_words(message, name)
            )
            problem = summary.tells_too_little(text, messages, previous)
        if problem:
            log.warn("{name}: summary rejected: {problem}", name=name, problem=problem)
            return None
        return text

    @inlineCallbacks
    def _without_spoken_deeds(
        self, text: str, talk: Talk, template: LLMRequest, profile: ModelProfile
    ) -> Coroutine[str]:
        """Fire with a summary in which lines stand in place of deeds that were only spoken of.

        What the model that is asked which sentences hold does not judge, an embedder does.
        ``template`` is the request to that model but for its messages.
        """
        services, put = self._mind.services, self._mind.slices.put
        nearness = services.nearness
        deeds: list[SpokenDeed] = yield map_in_slices(put, summary.told_in(text), talk.deed)
        compared: list[list[str]] = yield map_in_slices(put, deeds, talk.compared)
        yield nearness.prepare(services, [*chain(*compared)])
        score = partial(talk.score, cosines=nearness.cosines, kind_of=nearness.kinds)
        scores: list[float] = yield map_in_slices(put, deeds, score)
        only_spoken = compress(deeds, [score >= ONLY_SPOKEN for score in scores])
        verdicts = {deed.sentence: summary.SAID for deed in only_spoken}
        candidates = [deed for deed in deeds if talk.may_be_deed(deed, nearness.kinds)]
        verdicts |= yield self.ask_what_holds(talk, candidates, template, profile)
        quotes = {
            deed.sentence: talk.quoted(deed) if verdict == summary.SAID else ""
            for deed in deeds
            if (verdict := verdicts.get(deed.sentence, summary.DONE)) != summary.DONE
        }
        return summary.with_lines_for(text, quotes)

    @inlineCallbacks
    def read_talk(self, lines: Sequence[str]) -> Coroutine[Talk]:
        """Read in slices the lines of a transcript, what is known before them first."""
        name = self._mind.name
        parts: list[list[SpokenSentence]] = yield map_in_slices(
            self._mind.slices.put, lines, lambda line: read_lines([line], name)
        )
        return Talk([*chain(*parts)], name)

    @inlineCallbacks
    def ask_what_holds(
        self, talk: Talk, deeds: Sequence[SpokenDeed], template: LLMRequest, profile: ModelProfile
    ) -> Coroutine[dict[str, str]]:
        """Ask a model which sentences the lines of a talk hold, if `can_judge`.

        ``template`` is the request but for its messages. Fires with `DONE`, `SAID` or `WRONG` for
        each sentence that it judges, none after a ProviderError. Fails with TurnAborted.
        """
        if not deeds or not can_judge(self._mind.config, profile):
            return {}
        near: list[set[int]] = yield map_in_slices(self._mind.slices.put, deeds, talk.evidence)
        statements = [deed.sentence for deed in deeds]
        wire = summary.check_request(talk.lines_at(set().union(*near)), statements)
        try:
            request = replace(template, messages=wire, tokens=0)
            reply: LLMReply = yield self._calls.apart(request, TASK_CHECK, profile)
        except ProviderError as error:
            log.warn("{name}: nobody said what holds: {error}", name=self._mind.name, error=error)
            return {}
        return summary.read_verdicts(strip_reasoning(reply.content), statements)


def can_judge(config: AssistantConfig, profile: ModelProfile) -> bool:
    """Return True for a model with native tool calls, unless ``compact_check_enabled`` is off.

    Qwen 2.5 1.5B found fault with 18 to 20 of 20 true summaries, in three forms of the question.
    Asked only of what scores 0.4, it made 37 of 120 invented deeds known, for three true summaries;
    an `ONLY_SPOKEN` of 0.5 did 36, for four.
    """
    return config.compact_check_enabled and profile.calls_tools


def tokens_a_word(messages: Sequence[ChatMessage]) -> float:
    """Return the average tokens of a word that was heard, 0 if nothing was."""
    heard_messages = [message for message in messages if message["role"] == "user"]
    words = sum(len(message["content"].split()) for message in heard_messages)
    tokens = sum(stored_tokens(message) - MESSAGE_OVERHEAD for message in heard_messages)
    return tokens / max(1, words)


def build_llm_messages(script: Any, context: TurnKind, audience: Audience) -> list[WireMessage]:
    """Return the wire messages of the next call for those who will hear the answer.

    ``script`` is an `AssistantScript`.
    """
    messages: list[WireMessage] = script.mind.prompts.build(context, audience).messages
    return messages


def generate_context_summary(
    script: Any, messages_to_compact: Sequence[ChatMessage], focus: str | None = None
) -> Deferred[str | None]:
    """Summarise messages of one audience; fires and fails as `Summariser.summarise`.

    ``script`` is an `AssistantScript`; ``focus`` is what the summary must keep above all.
    """
    summary: Deferred[str | None] = script.mind.summariser.summarise(messages_to_compact, focus)
    return summary
