"""Recall what was said, noted and told about the current conversation.

One search over everything the character remembers, one token budget. What is recalled stands in the
order of its time, each with its age, so that a reader sees what is newer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import takewhile

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.messages import (
    CLAIMED,
    MARK,
    PERCEIVED,
    Audience,
    ChatMessage,
    as_name,
    quoted,
    unmarked,
)
from evennia_ai.policy.audience import KnownLine, of_record
from evennia_ai.policy.compaction.restored_context import is_synthesis, nearest_lines
from evennia_ai.policy.facts.check import WHISPERED, source_label, without_address
from evennia_ai.policy.facts.terms import heard_words, parse_heard_line
from evennia_ai.policy.facts.terms import is_question as asks
from evennia_ai.policy.recallable_lines import LINE, line_id
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.record import Record, is_known_to, time_of
from evennia_ai.policy.retrieval.relevance import QueryContext
from evennia_ai.policy.retrieval.words import name_words, without_words
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import MemoryMatch, MindContext, TurnRecord
from evennia_ai.scheduling import Coroutine, yield_to_reactor

log = Logger()

MOST_FOUND = 28
COMPANIED = 1  # lines that come with what follows them
LINE_CHARS = 300
MARK_TOKENS = 2  # the line break and "- " of each line
# What the memories of a line may take. Lines that ask nothing are short (half of strangers' ones
# have at most four words, of their questions one in ten), and scores do not tell them apart.
LEAST_TOKENS, TOKENS_A_TOKEN, MOST_TOKENS = 130, 20, 350
BRIEF_TOKENS = 300  # for a model that reads slowly: the prompt shows the few that fit best
# The fit of the best memory, below which a short prompt's line is taken for a follow-up: 9 of 12
# strangers' ones find their fact with the line before them, 4 without; it fits so well at most.
NEAR_NOTHING, FOLLOWED = 0.3, 0.29
TEXTS_KNOWN = 1_024  # a talk recalls the same lines turn after turn: about 1 MB


@dataclass(frozen=True, slots=True)
class RecentTalk:
    """The lines to answer, and the lines before them, as in the log."""

    asked: Sequence[str]
    before: Sequence[str] = ()
    shown: Sequence[str] = ()  # those of the searched lines that the prompt holds


@dataclass(frozen=True)
class RecallRequest:
    """What a recall is for: its listeners, its budget, and what the prompt holds already."""

    audience: Audience
    budget_tokens: int
    upto: int | None = None  # the last message that the prompt does not show, None if it shows none
    told: Collection[str] = ()  # lines that the prompt holds
    brief: bool = False  # others' telling lines and the journal alone, each line with its age


def memory_query(lines: Sequence[str], name: str = "") -> str:
    """Return the search query for some lines to somebody of this name."""
    words = map(heard_words, lines)
    return " ".join(without_words(text, name_words(name)) or text for text in words)


def follow_up_query(talk: RecentTalk, name: str) -> str:
    """Return the search query for what the asker said before with what they ask now."""
    return memory_query([*earlier_lines(talk), *talk.asked], name)


def earlier_lines(talk: RecentTalk) -> list[str]:
    """Return the line that the asker said just before, if any."""
    asker = asker_of(talk.asked)
    return [line for line in talk.before if asker_of([line]) == asker][-1:]


def asker_of(lines: Sequence[str]) -> str:
    """Return the name of the speaker of the last of some heard lines."""
    return parse_heard_line(lines[-1], "")[0] if lines else ""


@dataclass(eq=False)
class Recall:
    """Finds what the character remembers, and shows it as lines of a prompt."""

    _mind: MindContext

    @inlineCallbacks
    def prepare(self, turn: TurnRecord, queries: Sequence[str]) -> Coroutine[None]:
        """Make what queries recall ready; memories of other assistants may have displaced it.

        It gives way before and after, since what a turn does before the model is asked would hold
        the reactor for 20 ms: at most 10 now, between two of them (measured). The turn's own lines,
        which the prompt holds, are taken in by `remember_turn`.
        """
        put = self._mind.slices.put
        yield yield_to_reactor(put)
        upto = last_before(self._mind.log.view(), turn)
        yield self._mind.memories().prepare(self._mind.services, queries, upto, whole=False)
        yield yield_to_reactor(put)

    @inlineCallbacks
    def remember_turn(self) -> Coroutine[None]:
        """Take the lines of a turn into the index, so that the next answer need not wait for it."""
        if not self._mind.status.may_think():
            return
        try:
            yield self._mind.memories().prepare(self._mind.services, whole=False)
        except TurnAborted:
            raise
        except StoreUnavailable:
            pass  # the next turn does it
        except Exception:  # noqa: BLE001  # whoever waits for the next turn must not wait for more
            log.failure("{name}: a turn's lines are not in memory", name=self._mind.name)

    def recall(self, talk: RecentTalk, wanted: RecallRequest) -> list[KnownLine]:
        """Return what the audience may know of what fits the talk best, within the budget (P9).

        The lines stand in the order of their time, the newest last. Nothing that the prompt holds
        already comes twice.
        """
        if wanted.budget_tokens <= 0:
            return []
        room = min(wanted.budget_tokens, BRIEF_TOKENS if wanted.brief else room_for(talk.asked))
        chosen = self._choose(self._find(talk, wanted), wanted, room)
        by_time = sorted(chosen, key=lambda match: time_of(match.record))
        return list(self._known_lines(by_time, wanted.brief))

    def _find(self, talk: RecentTalk, wanted: RecallRequest) -> Sequence[MemoryMatch]:
        def keep(record: Record) -> bool:
            if record.get("kind") == LINE:
                is_late = record["own"] or asks(record["words"])
                return not (wanted.brief and is_late)
            return not is_synthesis(record) and not record.get("pinned")

        asker, earlier = asker_of(talk.asked), earlier_lines(talk)
        context = QueryContext(asker, memory_query(earlier), 0 if wanted.brief else COMPANIED)
        search = partial(
            self._mind.memories().search,
            limit=MOST_FOUND,
            audience=wanted.audience,
            now=self._mind.now(),
            keep=keep,
            upto=wanted.upto,
            context=context,
        )
        matches = search(memory_query(talk.asked, self._mind.name))
        best = best_fit(matches)
        if wanted.brief and earlier and best < NEAR_NOTHING:
            # The line alone is near to none of them, whatever it follows up.
            before = "\n".join(map(normalised, earlier))
            followed = [
                match
                for match in search(follow_up_query(talk, self._mind.name))
                if normalised(text_of(match.record)) not in before
            ]
            scale = min(1.0, FOLLOWED / max(best_fit(followed), FOLLOWED))
            own = {match.record["id"]: match.fit for match in matches}
            matches = [
                replace(match, fit=max(scale * match.fit, own.pop(match.record["id"], 0.0)))
                for match in followed
            ] + [match for match in matches if match.record["id"] in own]
        return without_questions(matches, talk.asked)

    def _choose(
        self, matches: Iterable[MemoryMatch], wanted: RecallRequest, room: int
    ) -> Iterator[MemoryMatch]:
        """Yield the best memories as far as the room reaches, in tokens."""
        known = "\n".join(map(normalised, wanted.told))
        taken, ages = set[str](), set[str]()
        for match in matches:
            text = normalised(text_of(match.record))
            noted = [*map(line_id, match.record.get("source_seqs", ()))]
            if text in known or (noted and taken.issuperset(noted)):
                continue
            age = self._age_of(match.record)
            cost = tokens_of(self._told(match.record, wanted.brief, age not in ages)) + MARK_TOKENS
            if cost > room:
                continue
            room -= cost
            ages.add(age)
            taken.add(match.record["id"])
            known = f"{known}\n{text}"
            yield match

    def _known_lines(self, matches: Iterable[MemoryMatch], brief: bool) -> Iterator[KnownLine]:
        """Yield memories as lines of a prompt; a line of the log has its age if that is new.

        If ``brief``, each has it.
        """
        age = ""
        for match in matches:
            record, before = match.record, age
            age = self._age_of(record)
            text = self._told(record, brief, age != before)
            authors = of_record(record)
            if record.get("kind") == ATTRIBUTE:
                authors |= self._mind.world.authors_of(record["subject"])
            private = record["audience"] is not None
            yield KnownLine(text, private, authors, record["id"], match.fit)

    def _age_of(self, record: Record) -> str:
        return self._mind.world_clock.age(time_of(record))

    def gone(self, lines: Collection[KnownLine], audience: Audience) -> set[KnownLine]:
        """Return those of some lines whose entry or goal is deleted, withheld or has other words.

        So is one that this audience may not know any more.
        """
        return {line for line in lines if not self._still_tells(line, audience)}

    def _still_tells(self, line: KnownLine, audience: Audience) -> bool:
        """Return True if a line has the words of a record that this audience may know."""
        who = self._mind.character
        for store in (who.journal, who.ai_goals):
            record = store.get(line.source)
            if record and is_known_to(record, audience) and not store.withholds(record):
                words = text_of(record)
                return any(unmarked(text) in line.text for text in (words, shown(words)))
        return False

    def _told(self, record: Record, brief: bool, dated: bool) -> str:
        """Return a `line`; if ``brief``, as a small model reads it best: who told it, and when."""
        if not brief or record.get("kind") != LINE or record["evidence"] != CLAIMED:
            return self.line(record, dated=dated or brief)
        bare = unmarked(without_address(shown(text_of(record)), self._mind.name))
        speaker = as_name(unmarked(record["speaker_name"]))
        return f"{self._age_of(record)} {speaker} told you: {quoted(bare)}"

    def line(self, record: Record, words: str = "", dated: bool = True) -> str:
        """Return a memory on one line of a prompt: its age, its source and its content.

        A line of the log has no age if it is not ``dated``. Of a summary, the lines that fit the
        searched ``words`` best are shown.
        """
        age = self._age_of(record)
        kind, text = record.get("kind"), text_of(record)
        if kind == LINE:
            bare = without_address(shown(text), self._mind.name)  # of whoever is told of it
            return f"{age}: " * dated + line_label(record) + unmarked(bare)
        name_of = partial(self._mind.world.name_of, self._mind.character)
        source = name_of(record["source_entity"])
        label = shown(record.get("label", "")) + (f", from {source}" if source else "")
        if kind == ATTRIBUTE:
            text = f"{name_of(record['subject']) or 'somebody'}: {record['attribute']}: {text}"
        if is_synthesis(record):
            text = nearest_lines(text, words, LINE_CHARS)
        return unmarked(f"{age}{label}: {shown(text)}")


def best_fit(matches: Iterable[MemoryMatch]) -> float:
    return max((match.fit for match in matches), default=0.0)


def room_for(lines: Iterable[str]) -> int:
    """Return the tokens that memories of some lines may have: a short line asks for less."""
    words = " ".join(parse_heard_line(line, "")[1] for line in lines)
    return min(MOST_TOKENS, LEAST_TOKENS + TOKENS_A_TOKEN * estimate_tokens(words))


def without_questions(matches: Sequence[MemoryMatch], lines: Iterable[str]) -> list[MemoryMatch]:
    """Leave out bare questions, but for the best line with its answer, which may need it.

    A question that one of the ``lines`` to answer asks again is left out, too. What follows the
    best line has its score (`MemoryIndex.find`).
    """
    telling = [match for match in matches if not is_question(match.record)]
    best, answers = matches[:1], matches[1:2]
    if best == telling[:1] or [match.score for match in best] != [match.score for match in answers]:
        return telling
    is_new = normalised(text_of(best[0].record)) not in "\n".join(map(normalised, lines))
    return [*best, *telling] if is_new else telling


def is_question(record: Record) -> bool:
    """Return True for a line of questions alone: they tell nothing."""
    asks = [part.rstrip(' "”').endswith("?") for part in sentences(str(record.get("words", "")))]
    return record.get("kind") == LINE and all(asks)


tokens_of = lru_cache(maxsize=TEXTS_KNOWN)(estimate_tokens)


@lru_cache(maxsize=TEXTS_KNOWN)
def shown(text: str) -> str:
    """Return a memory's text as a prompt shows it."""
    return clean_heard(text, LINE_CHARS)


def text_of(record: Record) -> str:
    if record.get("kind") == ATTRIBUTE:
        return str(record["value"])
    return str(record["words"] if record.get("kind") == LINE else record["content"])


def line_label(record: Record) -> str:
    """Return what stands before the words of a line of the log: its speaker, or the mark."""
    if record["evidence"] == PERCEIVED:
        return f"{MARK} "
    whispered = WHISPERED if record["audience"] is not None else ""
    return unmarked(source_label(record["speaker_name"] + whispered, record["evidence"]))


def last_before(view: Sequence[ChatMessage], turn: TurnRecord) -> int | None:
    """Return the number before a turn's first message, None while it has none."""
    known = (message["metadata"] for message in reversed(view))
    own = [meta["seq"] for meta in takewhile(lambda meta: meta.get("turn_id") == turn.id, known)]
    return own[-1] - 1 if own else None
