"""The ladder of summaries: ask in full, then with fewer messages, then another model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import TextWrapper

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import ModelProfile, resolve_profile, usable_window
from evennia_ai.errors import ConfigError, ContextOverflow, ProviderError
from evennia_ai.messages import ChatMessage, make_message
from evennia_ai.policy.audience import of_messages, of_parts
from evennia_ai.policy.compaction import summary
from evennia_ai.policy.compaction.plan import (
    MANUAL,
    OVERFLOW,
    SLEEP,
    STRIKES,
    CompactionOrder,
    DecidedCompaction,
)
from evennia_ai.policy.context.projection import part_audience, split_by_audience
from evennia_ai.policy.facts.check import Fact, as_bullets
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.ports import MindContext
from evennia_ai.scheduling import Coroutine, yield_to_reactor
from evennia_ai.sleep.compaction.journal_summary import FactCheck, SummaryPart
from evennia_ai.turn.llm_interaction import Summariser, SummaryLimits
from evennia_ai.turn.model_call import ModelCalls

log = Logger()

SUMMARY, CLEARED, CHUNKS, OTHER = "summary", "cleared", "chunks", "other model"
DIGEST, LAST = "digest", "last turn"
RUNGS = (SUMMARY, CLEARED, CHUNKS, OTHER, DIGEST, LAST)
OF_A_MODEL = RUNGS[: RUNGS.index(DIGEST)]
CHUNK_PART = 1 / 3  # of the window
MOST_LABEL_CHARS = 60  # of a line's beginning such as "Ann says: "


@dataclass(frozen=True)
class SummaryInput:
    """What to summarise: the messages of one audience."""

    messages: Sequence[ChatMessage]
    previous: str = ""  # the summary so far, to be updated
    focus: str | None = None  # what to keep above all


@dataclass(frozen=True)
class Strategy:
    """One step of the ladder: its name, and the model profile to ask."""

    name: str
    profile: ModelProfile


def worst_of(rungs: Iterable[str]) -> str:
    """Return the ladder step furthest down, the first one for none."""
    return max(rungs, key=RUNGS.index, default=SUMMARY)


@dataclass(frozen=True, eq=False)
class SummaryFallbacks:
    """Asks for a summary step by step."""

    _mind: MindContext
    _calls: ModelCalls
    _summariser: Summariser

    @inlineCallbacks
    def run_strategies(
        self, material: SummaryInput, terms: SummaryLimits
    ) -> Coroutine[tuple[str, str]]:
        """Ask for a summary step by step, until one comes.

        After an overflow the next step asks with fewer messages; after any other error the same
        model is not asked again. Fires with the summary and its ladder step, both empty if every
        step failed.
        """
        broken: ModelProfile | None = None
        for rung in self._rungs():
            is_late = (
                terms.deadline_at is not None and self._mind.clock.seconds() >= terms.deadline_at
            )
            if rung.profile == broken or is_late:
                continue
            try:
                text: str = yield self._ask_by_rung(rung, material, terms)
            except ProviderError as error:
                message = "{name}: summary step {rung} failed: {problem}; going on without it"
                log.warn(message, name=self._mind.name, rung=rung.name, problem=str(error))
                if not isinstance(error, ContextOverflow):
                    broken = rung.profile
                continue
            if text:
                return text, rung.name
        return "", ""

    def _rungs(self) -> list[Strategy]:
        """Return the steps; tells the owner of an unknown ``compact_fallback_profile``."""
        first, profiles = self._calls.summary_profile, [self._mind.profile]
        if (name := self._mind.config.compact_fallback_profile) is not None:
            try:
                profiles.append(resolve_profile(name, self._mind.services.profiles))
            except ConfigError as error:
                self._mind.settings.tell_owner(f"compact_fallback_profile: {error}")
        others = {profile.name + profile.model: profile for profile in profiles}
        others.pop(first.name + first.model, None)
        same = [Strategy(name, first) for name in (SUMMARY, CLEARED, CHUNKS)]
        return [*same, *(Strategy(OTHER, profile) for profile in others.values())]

    @inlineCallbacks
    def _ask_by_rung(
        self, rung: Strategy, material: SummaryInput, terms: SummaryLimits
    ) -> Coroutine[str]:
        """Try one step of the ladder. Fires with the summary, empty if none came.

        A step that asks for everything at once is skipped if the request would not fit.
        """
        terms = replace(terms, profile=rung.profile)
        chunks: Sequence[Sequence[ChatMessage]] = [material.messages]
        text, with_results = material.previous, rung.name == SUMMARY
        window = usable_window(self._mind.config, rung.profile)
        if rung.name in (CHUNKS, OTHER):
            chunks = in_chunks(material.messages, int(CHUNK_PART * window), self._mind.name)
        else:
            kept = [m for m in material.messages if with_results or m["role"] != "tool"]
            fixed = self._mind.config.compact_prompt or summary.INSTRUCTIONS + summary.UPDATE
            tokens = estimate_tokens(fixed) + estimate_tokens(material.previous)
            if tokens + sum(map(stored_tokens, kept)) > window:
                return ""
        for chunk in chunks:
            yield yield_to_reactor(self._mind.slices.put)
            text = yield self._summariser.summarise(
                chunk, material.focus, previous=text, with_results=with_results, terms=terms
            )
            if not text:
                return ""
        return text


def in_chunks(messages: Sequence[ChatMessage], size: int, name: str) -> list[list[ChatMessage]]:
    """Split messages into runs of about ``size`` tokens, an overlong message into parts.

    ``name`` is the character's, for what it says itself.
    """
    chunks: list[list[ChatMessage]] = [[]]
    left = size
    for message in (part for whole in messages for part in in_parts(whole, size, name)):
        tokens = stored_tokens(message)
        if chunks[-1] and tokens > left:
            chunks.append([])
            left = size
        chunks[-1].append(message)
        left -= tokens
    return chunks


def in_parts(message: ChatMessage, size: int, name: str) -> list[ChatMessage]:
    """Split a message of more than ``size`` tokens into lines of about that size.

    Every part names the speaker, so that no words lose who said them. A tool result stays whole,
    because a transcript shortens it.
    """
    tokens = stored_tokens(message)
    if tokens <= size or message["role"] == "tool":
        return [message]
    text = "\n".join(summary.transcript_lines([message], name))
    head, colon, _ = text[:MOST_LABEL_CHARS].partition(": ")
    width = max(MOST_LABEL_CHARS, len(text) * size // tokens)
    cut = TextWrapper(width, expand_tabs=False, replace_whitespace=False, break_on_hyphens=False)
    first, *others = cut.wrap(text) or [""]
    label = f"{head} (continued): " if colon else ""
    return [make_message("user", part) for part in (first, *(label + other for other in others))]


ASKED_AGAIN_EVERY = 4
TURN_PART = 0.25  # of a part's limit, for the beginning of a turn


@dataclass(frozen=True)
class EvictedMessages:
    """Messages that leave one audience's view: whole turns, and the beginning of one that stays."""

    older: Sequence[ChatMessage] = ()
    begun: Sequence[ChatMessage] = ()

    @property
    def messages(self) -> list[ChatMessage]:
        return [*self.older, *self.begun]


@dataclass(frozen=True, eq=False)
class PartSummaries:
    """Summarises what a compaction evicts, once for each audience.

    ``strikes`` are the compactions in a row that had no summary.
    """

    _mind: MindContext
    _ladder: SummaryFallbacks
    _facts: FactCheck

    @inlineCallbacks
    def summarise(
        self, task: DecidedCompaction, strikes: int
    ) -> Coroutine[dict[str, SummaryPart] | None]:
        """Summarise the evicted messages, once for each audience, on from its earlier part.

        Fires with the parts; a part without new messages is unchanged. Fires with None if a part
        could not be summarised and may be tried again later.
        """
        request, earlier, room = task.request, task.view.record, task.limits.summary_room
        texts = earlier.summary if earlier else {}
        parts = {key: SummaryPart(text, SUMMARY) for key, text in texts.items()}
        speakers = earlier.speakers if earlier else {}
        deadline_at = None
        if request.is_urgent:  # somebody waits
            deadline_at = self._mind.clock.seconds() + self._mind.config.turn_deadline
        for key, evicted in split_task(task).items():
            authors = of_messages(evicted.messages) | of_parts(speakers, texts.keys() & {key})
            terms = SummaryLimits(
                room,
                deadline_at=deadline_at,
                audience=part_audience(key),
                authors=authors,
                background=request.reason == SLEEP,
            )
            part: SummaryPart | None = yield self._sum_up(
                request, evicted, texts.get(key, ""), terms, strikes
            )
            if part is None:
                return None
            yield yield_to_reactor(self._mind.slices.put)
            parts[key] = yield self._facts.check(part, evicted.messages, part_audience(key))
            yield yield_to_reactor(self._mind.slices.put)
        return parts

    @inlineCallbacks
    def _sum_up(
        self,
        request: CompactionOrder,
        evicted: EvictedMessages,
        earlier: str,
        terms: SummaryLimits,
        strikes: int,
    ) -> Coroutine[SummaryPart | None]:
        """Summarise one audience's part. Fires with None to be tried again later."""
        text, turn = summary.split_turn(earlier)
        turn_room = int(TURN_PART * terms.room) if evicted.begun else 0
        rungs: list[str] = []
        if evicted.older:
            previous = "\n".join(filter(None, (text, turn)))
            material, turn = SummaryInput(evicted.older, previous, request.focus), ""
            own = replace(terms, room=terms.room - turn_room)
            text, rung = yield self._segment(request, material, own, strikes)
            rungs.append(rung)
        if evicted.begun:
            material = SummaryInput(evicted.begun, turn, request.focus)
            own = replace(terms, room=turn_room)
            turn, rung = yield self._segment(request, material, own, strikes)
            rungs.append(rung)
        return SummaryPart(summary.with_turn(text, turn), worst_of(rungs)) if all(rungs) else None

    @inlineCallbacks
    def _segment(
        self, request: CompactionOrder, material: SummaryInput, terms: SummaryLimits, strikes: int
    ) -> Coroutine[tuple[str, str]]:
        """Summarise one stretch; a stretch shorter than any summary is kept word for word.

        Fires with the summary and its ladder step, both empty if no summary came and it may be
        tried again later.
        """
        tokens = estimate_tokens(material.previous) + sum(map(stored_tokens, material.messages))
        if tokens <= summary.LEAST_TEXT_ROOM:
            lines = summary.transcript_lines(material.messages, self._mind.name)
            return "\n".join(filter(None, (material.previous, *lines))), SUMMARY
        if may_ask(request, strikes):
            text, rung = yield self._ladder.run_strategies(material, terms)
            if text:
                return text, rung
        if not request.is_urgent and strikes < STRIKES:
            return "", ""
        facts: tuple[Fact, ...] = yield self._facts.find(material.messages)
        room = summary.text_room(terms.room)
        bullets = as_bullets(facts, room)
        return summary.make_digest(material.messages, material.previous, bullets, room), DIGEST


def split_task(task: DecidedCompaction) -> dict[str, EvictedMessages]:
    """Return the evicted messages by audience, the public part first."""
    messages, plan = task.messages, task.plan
    turn_at = plan.turn_start if plan.splits_turn else plan.cut
    older = split_by_audience(messages[:turn_at])
    begun = split_by_audience(messages[turn_at : plan.cut])
    evicted = {
        key: EvictedMessages(older.get(key, ()), begun.get(key, ())) for key in {**older, **begun}
    }
    return {
        key: messages_evicted
        for key, messages_evicted in evicted.items()
        if messages_evicted.older or messages_evicted.begun
    }


def may_ask(request: CompactionOrder, strikes: int) -> bool:
    """Return True if a model may be asked for a summary.

    An overflow asks none, nor does a request that says so. After `STRIKES` failures in a row only
    every `ASKED_AGAIN_EVERY`-th compaction asks. An admin's request always does.
    """
    if request.reason == OVERFLOW or not request.asks:
        return False
    return request.reason == MANUAL or strikes < STRIKES or strikes % ASKED_AGAIN_EVERY == 0
