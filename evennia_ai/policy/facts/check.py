"""Marked sentences: those with a name, a number, a time, a promise or a debt.

A summary is checked against them, and the digest holds them. A fact is only what somebody said;
nothing here believes it, understands it or stores it: the log and its index are the memory.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from evennia_ai.messages import ACTS_OUT, PERCEIVED, PERFORMED, ChatMessage, is_offline
from evennia_ai.policy.facts.terms import (
    DEBT,
    PROMISE,
    WordSource,
    cues_of,
    find_terms,
    is_question,
    normal_words,
    own_utterances,
    sentences_of,
    without_cues,
)
from evennia_ai.policy.retrieval.words import UNSPACED
from evennia_ai.policy.tokens import estimate_tokens

# What a promise or debt, a word, and a kind or term add to a fact's weight, and a question takes.
BINDING, TOLD, MOST_TOLD, NAMED, ASKED = 3.0, 0.3, 3.0, 0.5, 4.0
OTHER_WORDS = 3  # of a promise's other words, one in so many must stand beside its terms
BULLET_OVERHEAD = 2
WHISPERED = " (whispered)"
# Before what the game perceived. No name is like it (`game.perception.display_name`).
HAPPENED = "It happened"
# Of a recalled line as a prompt shows it: its age (or its day) with its source, and what follows.
RECALLED_AGE = re.compile(
    r"(?:just now|\b\w{1,8} (?:minute|hour|day|week|month|year)s? ago|you noted on [^:,]{1,60})"
    r"(?:, (?P<teller>[^:]{1,80}) told you)?(?:, from (?P<source>[^:]{1,80}))?: "
)
RECALLED = re.compile(
    r"\A(?P<speaker>[^:\n]{1,40}?)(?P<whispered> \(whispered\))?(?P<acted> acts out)?: "
    r"(?P<words>.+)"
)

LEAST_WORDS = 3  # of a model's note
NO_FACT = "That holds no fact: write a whole sentence, who did or said what. Nothing was noted."


@dataclass(frozen=True, slots=True)
class Fact:
    """One sentence of somebody that states a fact."""

    kinds: frozenset[str]  # `NAME`, `NUMBER`, `TIME`, `DEBT` or `PROMISE`
    terms: tuple[str, ...]  # names, numbers and times, as they were said
    exact: frozenset[str]  # the stems of the terms' words
    others: frozenset[str]  # the stems of the other words that carry meaning, without the cues
    sentence: str
    source: WordSource

    @property
    def binds(self) -> bool:
        return bool(self.kinds & {DEBT, PROMISE})

    @property
    def asked(self) -> bool:
        return is_question(self.sentence)

    @property
    def weight(self) -> float:
        """Return its importance; a sentence that tells more weighs more."""
        repetition = min(MOST_TOLD, TOLD * len(self.exact | self.others))
        marks = NAMED * (len(self.kinds) + len(self.terms))
        return BINDING * self.binds + repetition + marks - ASKED * self.asked

    def stands_in(self, words: frozenset[str]) -> bool:
        """Return True if words hold its names and numbers, and enough of its other words."""
        if not self.exact <= words:
            return False
        return not self.binds or OTHER_WORDS * len(self.others & words) >= len(self.others)


def extract_facts(messages: Iterable[ChatMessage], own_name: str = "") -> tuple[Fact, ...]:
    """Return the facts in messages, each once, in order; speech tools speak as ``own_name``."""
    return distinct(fact for message in messages for fact in facts_in(message, own_name))


def facts_in(message: ChatMessage, own_name: str = "") -> list[Fact]:
    """Return the facts in one message; none in what the stand-in said."""
    if is_offline(message):
        return []
    return [
        fact
        for source, text in own_utterances(message, own_name)
        for sentence in sentences_of(text)
        if (fact := _fact_of(sentence, source, own_name))
    ]


def distinct(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return the facts without repetitions of a sentence by its speaker to its audience."""
    kept: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        kept.setdefault((fact.source.speaker, fact.sentence.lower(), fact.source.audience), fact)
    return tuple(kept.values())


def missing_facts(facts: Iterable[Fact], texts: Iterable[str]) -> tuple[Fact, ...]:
    """Return the facts that stand in no sentence of the texts, nor in two sentences on end."""
    places = []
    for text in texts:
        words = [frozenset(normal_words(sentence)) for sentence in sentences_of(text)]
        following = [*words[1:], frozenset[str]()]
        places += [word | after for word, after in zip(words, following, strict=False)]
    return tuple(fact for fact in facts if not any(map(fact.stands_in, places)))


def as_bullets(facts: Iterable[Fact], budget_tokens: int) -> tuple[str, ...]:
    """Return sentences, the weightiest and newest first, within a budget; none twice."""
    bullets: dict[str, str] = {}
    for fact in sorted(facts, key=lambda fact: (-fact.weight, -fact.source.seq)):
        source = fact.source
        whispered = WHISPERED if source.audience is not None else ""
        bullet = f"{source_label(source.speaker + whispered, source.evidence)}{fact.sentence}"
        cost = estimate_tokens(bullet) + BULLET_OVERHEAD
        if cost <= budget_tokens and fact.sentence.lower() not in bullets:
            bullets[fact.sentence.lower()] = bullet
            budget_tokens -= cost
    return tuple(bullets.values())


def source_label(speaker: str, evidence: str) -> str:
    """Return what stands before words that are kept: who claims or performs them, or an event."""
    if evidence == PERCEIVED:
        return f"{HAPPENED}: "
    if evidence == PERFORMED:
        return f"{speaker} {ACTS_OUT}"
    return f"{speaker}: " if speaker else ""


def note_problem(content: str) -> str:
    """Return why a model's note is not taken, "" if it is: it must be a sentence."""
    is_short = len(normal_words(content)) < LEAST_WORDS and not UNSPACED.search(content)
    return NO_FACT if is_short else ""


def without_address(sentence: str, name: str) -> str:
    """Return a sentence without a name that it begins or ends with to address its bearer."""
    names = "|".join(map(re.escape, sorted({name, *name.split()}, key=len, reverse=True)))
    if not names:
        return sentence
    return re.sub(rf"(?i)^\W*(?:{names})\b[\s,:!]+|,\s*(?:{names})(?=\W*$)", "", sentence)


# A compaction asks twice of each sentence: for the summary, and for what it leaves out.
@lru_cache(maxsize=1_024)
def _fact_of(sentence: str, source: WordSource, own: str) -> Fact | None:
    words_said = without_address(sentence, own)
    cues, terms = cues_of(words_said), find_terms(words_said)
    if source.own and not cues:  # all else may be a model's nonsense
        return None
    exact = frozenset[str]().union(*map(normal_words, terms))
    others = frozenset(normal_words(without_cues(words_said, cues))) - exact
    kinds = cues.union(terms.values())
    if not kinds or not (exact or others):
        return None
    return Fact(frozenset(kinds), tuple(terms), exact, others, sentence, source)
