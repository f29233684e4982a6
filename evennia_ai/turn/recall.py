"""Recall what was said, noted and told about the current conversation.

One search over everything the character remembers, one token budget. A line comes with the lines
that belong to it, and a memory with later ones that may correct it, in the order they were said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from itertools import accumulate, chain, islice, takewhile
from operator import attrgetter
from typing import NamedTuple

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.messages import MARK, PERCEIVED, Audience, ChatMessage, unmarked
from evennia_ai.policy.audience import KnownLine, of_record
from evennia_ai.policy.compaction.restored_context import is_synthesis, nearest_lines
from evennia_ai.policy.facts.check import WHISPERED, source_label
from evennia_ai.policy.facts.terms import is_question, parse_heard_line, sentences_of
from evennia_ai.policy.recallable_lines import LINE, line_id
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.record import Record, is_known_to, time_of
from evennia_ai.policy.retrieval.exchange import FIRST_PERSON, TEXTS_KNOWN, same_subject, subject_of
from evennia_ai.policy.retrieval.relevance import words_of_names
from evennia_ai.policy.retrieval.words import is_small_talk, undressed
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import MindContext, RelatedLines, TurnRecord
from evennia_ai.scheduling import Coroutine, yield_to_reactor

log = Logger()

MOST_FOUND = 24
MOST_CORRECTED = 5  # lines that are looked up for later corrections
LINE_CHARS = 300
MARK_TOKENS = 2  # the line break and "- " of each line
BRIEF_TOKENS = 120  # for a model that reads slowly
# How memories fit, see `memory.index.Hit`. Fitted on five public dialogues (tests/bench/
# test_recalled_evidence.py): of the questions that a dialogue answers, 96 in 100 have a memory
# above the floor, of those of other dialogues 41, some of which it answers, too.
FLOOR = 5.4  # what fits less may be there by chance
LEAST_FIT = 2.5  # what fits less is not worth a line
NEAREST_TOKENS = 30  # for all memories if none fits better than the floor
TOKENS_BY_FIT = 200  # for each point by which the best fits better than the floor
COMPANY_TOKENS = 80  # for a memory with all that belongs to it; long lines say enough alone
COMPANIED = 3  # memories with all that belongs to them


@dataclass(frozen=True, slots=True)
class RecentTalk:
    """The lines to answer, and the lines before them, as in the log."""

    asked: Sequence[str]
    before: Sequence[str] = ()


@dataclass(frozen=True)
class RecallRequest:
    """What a recall is for: its listeners, its budget, and what the prompt holds already."""

    audience: Audience
    budget_tokens: int
    upto: int | None = None  # the last message that the prompt does not show, None if it shows none
    told: Collection[str] = ()  # lines that the prompt holds
    brief: bool = False  # recalls little, the best last, for a model that reads slowly


def memory_query(lines: Sequence[str], name: str = "") -> str:
    """Return the search query for some lines to somebody of this name.

    It holds what they ask, without what they put the question in, and who asks about themselves.
    """
    return " ".join(query_of(line, name) for line in lines)


def query_of(line: str, name: str = "") -> str:
    speaker, words, _evidence = parse_heard_line(line, "")
    question = undressed(words.strip('" '), name)
    return f"{speaker} {question}".strip() if FIRST_PERSON.search(question) else question


@dataclass(eq=False)
class Recall:
    """Finds what the character remembers, and shows it as lines of a prompt.

    ``memories`` returns the search over all its memories.
    """

    _mind: MindContext

    @inlineCallbacks
    def prepare(self, turn: TurnRecord, query: str) -> Coroutine[None]:
        """Make what a query recalls ready; memories of other assistants may have displaced it.

        It gives way before and after, since what a turn does before the model is asked would hold
        the reactor for 20 ms: at most 10 now, between two of them (measured). The turn's own lines,
        which the prompt holds, are taken in by `remember_turn`.
        """
        put = self._mind.slices.put
        yield yield_to_reactor(put)
        upto = last_before(self._mind.log.view(), turn)
        yield self._mind.memories().prepare(self._mind.services, [query], upto, whole=False)
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

        The lines stand in the order of their time, lines that belong together one after the other.
        Small talk recalls nothing, and nothing that the prompt holds already comes twice.
        """
        words = " ".join(parse_heard_line(line, "")[1] for line in talk.asked)
        if wanted.budget_tokens <= 0 or is_small_talk(words, [self._mind.name]):
            return []
        candidates = self._find(talk, wanted)
        chosen = list(self._choose(candidates, self._related(candidates, wanted), wanted))
        pieces = (
            joined(chosen)[::-1]
            if wanted.brief
            else sorted(joined(chosen), key=lambda candidate: time_of(candidate[0]))
        )
        fits = {candidate.record["id"]: candidate.fit for candidate in candidates}
        return list(self._known_lines(chain.from_iterable(pieces), fits))

    def _find(self, talk: RecentTalk, wanted: RecallRequest) -> list[Candidate]:
        def keep(record: Record) -> bool:
            if record.get("kind") == LINE:
                return not (wanted.brief and record["own"])
            return not is_synthesis(record) and not record.get("pinned")

        matches = self._mind.memories().search(
            memory_query(talk.asked, self._mind.name),
            MOST_FOUND,
            wanted.audience,
            self._mind.now(),
            keep=keep,
            upto=wanted.upto,
        )
        matches = [item for item in matches if item.fit >= LEAST_FIT]
        name_of = partial(self._mind.world.name_of, self._mind.character)
        names = words_of_names((item.record["source_entity"] for item in matches), name_of)
        candidates = [as_candidate(item.record, item.fit, names) for item in matches]
        # Earlier questions answer nothing, and without the character's lines nor does what follows.
        return sorted(candidates, key=only_asks) if wanted.brief else candidates

    def _related(self, candidates: Iterable[Candidate], wanted: RecallRequest) -> RelatedLines:
        """Return what belongs to the candidates that are lines of the log."""
        lines = {
            candidate.record["id"]: candidate.words
            for candidate in candidates
            if candidate.record.get("kind") == LINE
        }
        corrected = dict(islice(lines.items(), MOST_CORRECTED))
        return self._mind.memories().related(list(lines), corrected, wanted.audience, wanted.upto)

    def _choose(
        self, candidates: Sequence[Candidate], related: RelatedLines, wanted: RecallRequest
    ) -> Iterator[list[Record]]:
        """Yield memories with what belongs to each, the best first, as far as the room reaches.

        The better the best one fits, the more room there is; what chance may have brought up has
        little. A correction always comes along, what else belongs to a memory as far as it fits.
        """
        known = "\n".join(map(normalised, wanted.told))
        room, used = room_for(candidates, wanted), 0
        taken: set[str] = set()
        days = {self._mind.now().date()}
        for number, candidate in enumerate(candidates):
            record = candidate.record
            if (
                record["id"] in taken
                or normalised(text_of(record)) in known
                or restates(record, taken)
            ):
                continue
            beside = related.beside.get(record["id"], ())
            newer = [*candidates, *map(as_candidate, related.later.get(record["id"], ()))]
            needed = [record, *corrected_by(record, beside), *later(candidate, newer)]
            near = sorted(beside, key=lambda line: abs(line["seq"] - record["seq"]))
            wished = [*needed, *(near if number < COMPANIED else ())]
            group = {line["id"]: line for line in wished if not (wanted.brief and line.get("own"))}
            least = len({line["id"] for line in needed}.intersection(group))
            new = (self._cost_of(line, days) * (name not in taken) for name, line in group.items())
            sums = list(accumulate(new))
            if used + sums[least - 1] > room:
                continue
            most = max(least, sum(line <= min(room - used, COMPANY_TOKENS) for line in sums))
            group = dict(islice(group.items(), most))
            used += sums[most - 1]
            taken.update(group)
            days.update(time_of(line).date() for line in group.values())
            known = "\n".join([known, *(normalised(text_of(line)) for line in group.values())])
            yield list(group.values())

    def _cost_of(self, record: Record, days: Collection[date]) -> int:
        """Return the tokens of a memory as a line, among others of these days."""
        return tokens_of(self.line(record, dated=time_of(record).date() not in days)) + MARK_TOKENS

    def _known_lines(
        self, records: Iterable[Record], fits: Mapping[str, float]
    ) -> Iterator[KnownLine]:
        """Yield memories as lines of a prompt; a line of the log is dated if its day is new."""
        day = self._mind.now().date()
        for record in records:
            text = self.line(record, dated=time_of(record).date() != day)
            day = time_of(record).date()
            authors = of_record(record)
            if record.get("kind") == ATTRIBUTE:
                authors |= self._mind.world.authors_of(record["subject"])
            private, fit = record["audience"] is not None, fits.get(record["id"], 0.0)
            yield KnownLine(text, private, authors, record["id"], fit)

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

    def line(self, record: Record, words: str = "", dated: bool = True) -> str:
        """Return a memory on one line of a prompt: its day, its source and its content.

        A line of the log has no day if it is not ``dated``. Of a summary, the lines that fit the
        searched ``words`` best are shown.
        """
        day = time_of(record).date().isoformat()
        kind, text = record.get("kind"), text_of(record)
        if kind == LINE:
            label = line_label(record) + unmarked(shown(text))
            return f"{day}: " * dated + label
        name_of = partial(self._mind.world.name_of, self._mind.character)
        source = name_of(record["source_entity"])
        label = shown(record.get("label", "")) + (f", from {source}" if source else "")
        if kind == ATTRIBUTE:
            text = f"{name_of(record['subject']) or 'somebody'}: {record['attribute']}: {text}"
        if is_synthesis(record):
            text = nearest_lines(text, words, LINE_CHARS)
        return unmarked(f"{day}{label}: {shown(text)}")


class Candidate(NamedTuple):
    """A memory that may be recalled, with its content words and its time in unix seconds."""

    record: Record
    words: frozenset[str]
    at: float
    changed: float  # see `exchange.subject_of`
    fit: float = 0.0  # see `memory.index.Hit`


def as_candidate(record: Record, fit: float = 0.0, names: Collection[str] = ()) -> Candidate:
    """Return a record with what its comparison with others needs: of its words, not the names."""
    words, changed = subject_of(text_of(record))
    return Candidate(record, words.difference(names), time_of(record).timestamp(), changed, fit)


def fits(line: KnownLine) -> bool:
    """Return True if a recalled line fits the talk better than what chance brings up."""
    return line.score >= FLOOR


def room_for(candidates: Iterable[Candidate], wanted: RecallRequest) -> int:
    """Return the tokens that the memories may have, by how well the best of them fits."""
    most = min(wanted.budget_tokens, BRIEF_TOKENS) if wanted.brief else wanted.budget_tokens
    best = max((candidate.fit for candidate in candidates), default=0.0)
    return min(most, NEAREST_TOKENS + int(TOKENS_BY_FIT * max(0.0, best - FLOOR)))


def corrected_by(record: Record, beside: Iterable[Record]) -> list[Record]:
    """Return which lines beside one its speaker corrects it by, or what it corrects itself."""
    same = (
        neighbour for neighbour in beside if neighbour["source_entity"] == record["source_entity"]
    )
    newest = (
        (neighbour, max(neighbour, record, key=lambda line: line["seq"])) for neighbour in same
    )
    return [neighbour for neighbour, corrects in newest if subject_of(text_of(corrects))[1]]


def only_asks(candidate: Candidate) -> bool:
    return all(map(is_question, sentences_of(text_of(candidate.record))))


def restates(record: Record, taken: Collection[str]) -> bool:
    """Return True for a note about lines that are all taken already."""
    seqs = record.get("source_seqs", ())
    return bool(seqs) and all(line_id(seq) in taken for seq in seqs)


def later(candidate: Candidate, candidates: Iterable[Candidate]) -> list[Record]:
    """Return the newest memory of the same source that may correct this one."""
    source = candidate.record["source_entity"]
    newer = [
        other
        for other in candidates
        if source
        and other.record["source_entity"] == source
        and other.at > candidate.at
        # The same again, with one word more at most, corrects nothing.
        and not (candidate.words <= other.words and len(other.words) <= len(candidate.words) + 1)
        and same_subject(candidate.words, other.words, other.changed)
        and not only_asks(other)
    ]
    return [max(newer, key=attrgetter("at")).record] if newer else []


def joined(groups: Iterable[Sequence[Record]]) -> list[list[Record]]:
    """Return groups in order of time, those with a memory in common as one, the best first."""
    pieces: list[dict[str, Record]] = []
    for group in groups:
        piece = {record["id"]: record for record in group}
        same = [other for other in pieces if not piece.keys().isdisjoint(other)]
        place = pieces.index(same[0]) if same else len(pieces)
        pieces = [other for other in pieces if other not in same]
        for other in same:
            piece |= other
        pieces.insert(place, piece)
    return [sorted(piece.values(), key=time_of) for piece in pieces]


@lru_cache(maxsize=TEXTS_KNOWN)
def tokens_of(line: str) -> int:
    return estimate_tokens(line)


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
