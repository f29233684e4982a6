"""Recall what was said, noted and told about the current conversation.

One search over everything the character remembers, one token budget. A line comes with the lines
that belong to it, and a memory with later ones that may correct it, in the order they were said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from itertools import chain, islice
from operator import attrgetter
from typing import NamedTuple

from evennia_ai.messages import MARK, PERCEIVED, Audience, unmarked
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.authors import of_record
from evennia_ai.policy.compaction.journal_summary import is_synthesis, nearest_lines
from evennia_ai.policy.facts.check import WHISPERED, source_label
from evennia_ai.policy.facts.sources import heard
from evennia_ai.policy.lines import LINE, line_id
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.provenance import Record, time_of
from evennia_ai.policy.records.shared_memory import HEARSAY
from evennia_ai.policy.retrieval.exchange import FIRST_PERSON, same_subject, tells_change
from evennia_ai.policy.retrieval.words import find_words, is_small_talk
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import Related, Script

MOST_FOUND = 24
MOST_CORRECTED = 5  # lines that are looked up for later corrections
LINE_CHARS = 300
MARK_TOKENS = 2  # the line break and "- " of each line
TEXTS_KNOWN = 1_024  # a talk recalls the same lines turn after turn: about 1 MB
BRIEF_TOKENS = 90  # for a model that reads slowly


@dataclass(frozen=True, slots=True)
class Talk:
    """The lines to answer, and the lines before them, as in the log."""

    asked: Sequence[str]
    before: Sequence[str] = ()


@dataclass(frozen=True)
class Recalled:
    """What a recall is for: its listeners, its budget, and what the prompt holds already."""

    audience: Audience
    budget_tokens: int
    upto: int | None = None  # the last message that the prompt does not show, None if it shows none
    told: Collection[str] = ()  # lines that the prompt holds
    brief: bool = False  # recalls little, the best last, for a model that reads slowly


def memory_query(lines: Sequence[str]) -> str:
    """Return the search query for some lines: their words, and who asks about themselves."""
    return " ".join(map(query_of, lines))


def query_of(line: str) -> str:
    """Return the search query for one line."""
    speaker, words, _nature = heard(line, "")
    return f"{speaker} {words}".strip() if FIRST_PERSON.search(words) else words


def recall(script: Script, talk: Talk, wanted: Recalled) -> list[KnownLine]:
    """Return what the audience may know of what fits the talk best, within the budget (P9)."""
    # They stand in the order of their time, lines that belong together one after the other. Small
    # talk recalls nothing, and nothing that the prompt holds already comes twice.
    words = " ".join(heard(line, "")[1] for line in talk.asked)
    if wanted.budget_tokens <= 0 or is_small_talk(words, [script.character_name]):
        return []
    candidates = find(script, talk, wanted)
    chosen = list(choose(script, candidates, related(script, candidates, wanted), wanted))
    pieces = (
        joined(chosen)[::-1]
        if wanted.brief
        else sorted(joined(chosen), key=lambda one: time_of(one[0]))
    )
    scores = {one.record["id"]: one.score for one in candidates}
    return list(known_lines(script, chain.from_iterable(pieces), scores))


class Candidate(NamedTuple):
    """A memory that may be recalled, with its content words and its time in unix seconds."""

    record: Record
    words: frozenset[str]
    at: float
    changed: bool  # True if it tells of a change
    score: float = 0.0  # of the search


def as_candidate(record: Record, score: float = 0.0) -> Candidate:
    """Return a record with what its comparison with others needs."""
    words, changed = subject_of(text_of(record))
    return Candidate(record, words, time_of(record).timestamp(), changed, score)


@lru_cache(maxsize=TEXTS_KNOWN)
def subject_of(text: str) -> tuple[frozenset[str], bool]:
    """Return a text's content words, and whether it tells of a change."""
    return frozenset(find_words(text)), tells_change(text)


def find(script: Script, talk: Talk, wanted: Recalled) -> list[Candidate]:
    """Return the memories that fit the talk, the best first."""

    def keep(record: Record) -> bool:
        if record.get("kind") == LINE:
            return not (wanted.brief and record["own"])
        return not is_synthesis(record) and not record.get("pinned")

    found = script.memories.search(
        memory_query(talk.asked),
        MOST_FOUND,
        wanted.audience,
        script.services.now(),
        keep=keep,
        upto=wanted.upto,
    )
    return [as_candidate(item.record, item.score) for item in found]


def related(script: Script, candidates: Iterable[Candidate], wanted: Recalled) -> Related:
    """Return what belongs to the candidates that are lines of the log."""
    lines = {one.record["id"]: one.words for one in candidates if one.record.get("kind") == LINE}
    corrected = dict(islice(lines.items(), MOST_CORRECTED))
    return script.memories.related(list(lines), corrected, wanted.audience, wanted.upto)


def choose(
    script: Script, candidates: Sequence[Candidate], related: Related, wanted: Recalled
) -> Iterator[list[Record]]:
    """Yield memories with what belongs to each, the best first, as far as the budget reaches."""
    # A memory that does not fit with all that belongs to it is left out whole.
    known = "\n".join(map(normalised, wanted.told))
    left = min(wanted.budget_tokens, BRIEF_TOKENS) if wanted.brief else wanted.budget_tokens
    taken: set[str] = set()
    days = {script.services.now().date()}
    for candidate in candidates:
        record = candidate.record
        if record["id"] in taken or normalised(text_of(record)) in known or restates(record, taken):
            continue
        beside = related.beside.get(record["id"], ())
        newer = [*candidates, *map(as_candidate, related.later.get(record["id"], ()))]
        group = [record, *beside, *later(candidate, newer)]
        if wanted.brief:
            group = [one for one in group if not one.get("own")]
        new = [one for one in group if one["id"] not in taken]
        cost = sum(cost_of(script, one, days) for one in new)
        if cost > left:
            continue
        left -= cost
        taken.update(one["id"] for one in new)
        days.update(time_of(one).date() for one in new)
        known = "\n".join([known, *(normalised(text_of(one)) for one in new)])
        yield group


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


def cost_of(script: Script, record: Record, days: Collection[date]) -> int:
    """Return the tokens of a memory as a line, among others of these days."""
    dated = time_of(record).date() not in days
    return tokens_of(memory_line(script, record, dated=dated)) + MARK_TOKENS


@lru_cache(maxsize=TEXTS_KNOWN)
def tokens_of(line: str) -> int:
    """Return the tokens of a line of a prompt."""
    return estimate_tokens(line)


@lru_cache(maxsize=TEXTS_KNOWN)
def shown(text: str) -> str:
    """Return a memory's text as a prompt shows it."""
    return clean_heard(text, LINE_CHARS)


def known_lines(
    script: Script, records: Iterable[Record], scores: Mapping[str, float]
) -> Iterator[KnownLine]:
    """Yield memories as lines of a prompt; a line of the log is dated if its day is a new one."""
    day = script.services.now().date()
    for record in records:
        text = memory_line(script, record, dated=time_of(record).date() != day)
        day = time_of(record).date()
        authors = of_record(record)
        if record.get("kind") == ATTRIBUTE:
            authors |= script.services.world.authors_of(record["subject"])
        private, score = record["audience"] is not None, scores.get(record["id"], 0.0)
        yield KnownLine(text, private, authors, record["id"], score)


def text_of(record: Record) -> str:
    """Return the content of a memory."""
    if record.get("kind") == ATTRIBUTE:
        return str(record["value"])
    return str(record["words"] if record.get("kind") == LINE else record["content"])


def memory_line(script: Script, record: Record, words: str = "", dated: bool = True) -> str:
    """Return a memory on one line of a prompt: its day, its source and its content.

    A line of the log has no day if it is not ``dated``. Of a summary, the lines that fit the
    searched ``words`` best are shown.
    """
    day = time_of(record).date().isoformat()
    kind, text = record.get("kind"), text_of(record)
    if kind == LINE:
        told = line_label(record) + unmarked(shown(text))
        return f"{day}: " * dated + told
    name_of = partial(script.services.world.name_of, script.character)
    source = name_of(record["source_entity"])
    told = f", from {source}" if source else ""
    if kind == HEARSAY:
        told = f", {name_of(record['teller']) or 'somebody'} told you{told}"
    if kind == ATTRIBUTE:
        text = f"{name_of(record['subject']) or 'somebody'}: {record['attribute']}: {text}"
    if is_synthesis(record):
        text = nearest_lines(text, words, LINE_CHARS)
    return unmarked(f"{day}{told}: {shown(text)}")


def line_label(record: Record) -> str:
    """Return what stands before the words of a line of the log: its speaker, or the mark."""
    if record["nature"] == PERCEIVED:
        return f"{MARK} "
    whispered = WHISPERED if record["audience"] is not None else ""
    return unmarked(source_label(record["speaker_name"] + whispered, record["nature"]))
