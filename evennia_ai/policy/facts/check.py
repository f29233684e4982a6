"""Facts by rule: sentences with a name, a number, a time or a cue, and where they stand again.

A summary is checked against them, the digest holds them, and those that matter beyond the talk are
journalled if no model does it.

Deterministic and generous. A fact is only what somebody said; nothing here believes it, and no
fact replaces another: a second daughter is no correction of the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from evennia_ai.messages import (
    ACTS_OUT,
    CLAIMED,
    PERCEIVED,
    PERFORMED,
    Audience,
    Message,
    is_offline,
)
from evennia_ai.policy.facts.terms import (
    ASKABLE,
    DEBT,
    IDENTITY,
    ITEM,
    NAME,
    NUMBER,
    PREFERENCE,
    PROMISE,
    RELATION,
    SECRET,
    TASK,
    TIME,
    WEIGHTS,
    WISH,
    Source,
    cues_of,
    find_terms,
    is_question,
    normal_words,
    sentences_of,
    spoken,
    without_cues,
)
from evennia_ai.policy.retrieval.words import UNSPACED, find_words
from evennia_ai.policy.tokens import estimate_tokens

# What a word, and what a kind or a term, adds to a fact's weight; a question weighs `ASKED` less.
TOLD, MOST_TOLD, NAMED, ASKED = 0.3, 3.0, 0.5, 4
OTHER_WORDS = 3  # of a cued sentence's other words, one in so many must stand beside its terms
BULLET_OVERHEAD = 2
WHISPERED = " (whispered)"
# Before what the game perceived. No name is like it (`game.perception.display_name`).
HAPPENED = "It happened"
# Of a recalled line as a prompt shows it: its day with its source, and what follows.
RECALLED_DAY = re.compile(
    r"(?:you noted on )?\d{4}-\d\d-\d\d(?:, (?P<teller>[^:]{1,80}) told you)?"
    r"(?:, from (?P<source>[^:]{1,80}))?: "
)
RECALLED = re.compile(
    r"(?P<speaker>[^:\n]{1,40}?)(?P<whispered> \(whispered\))?(?P<acted> acts out)?: (?P<words>.+)"
)

# Which facts are journalled: these kinds always, the others if they are about the speaker.
ALWAYS = frozenset({DEBT, PROMISE, SECRET, RELATION})
EXACT = frozenset({NAME, NUMBER, TIME})
OF_ONESELF = EXACT | {IDENTITY, PREFERENCE, TASK, WISH, ITEM}
ABOUT_ONESELF = frozenset({IDENTITY, PREFERENCE, RELATION})
LONGEST_NOTE = 200  # characters
LEAST_WORDS = 3  # of a model's note
NO_FACT = "That holds no fact: write a whole sentence, who did or said what. Nothing was noted."
NOT_SAID = "Nobody said that just now. Nothing was noted."
ONESELF = re.compile(
    r"\b(?:i|i'(?:m|d|ll|ve)|my|mine|me|we|we'(?:re|d|ll|ve)|our|us|let's|ich|mein(?:e[mnrs]?)?|mir"
    r"|mich|wir|uns(?:ere?)?)\b|^(?:the )?name(?:'s| is)\b",
    re.IGNORECASE,
)
# What passes: a request, also after a name ("Mira, give me ..."), an order at a bar, a mood.
PASSING = re.compile(
    r"^\W*+(?:[^\W\d_]++(?: [^\W\d_]++)?,\s++"
    r"|(?!(?:i|you|he|she|we|they)\b)[^\W\d_]++\s++(?=\w+ (?:me|us)\b))?"
    r"(?:(?:please|now|so|well|oh|und|bitte),? )*"
    r"(?:give|gib|bring|show|tell|take|come|go|wait|look|sell|pass|hand|help|stop|fetch|let me|wave"
    r"|ignore|forget|print|repeat|pretend|say|follow|dance|sing|sit|drop|get|put|open|close|read"
    r"|lass mich|i (?:want|need) you to|sag (?:mir|uns)|erzähl|komm|geh|zeig|hol|warte|wink\w*)\b"
    r"|\b(?:(?:i'll|i will) (?:have|take)|(?:i'd|i would) like (?:an?|some|the|another)"
    r"|ich nehme|ich hätte gern)\b"
    r"|\b(?:i'm|i am|we're|ich bin)(?: \w+){0,2} (?:tired|hungry|thirsty|sorry|glad|fine|well|cold"
    r"|wet|ready|busy|late|happy|sure|here|done|lost|müde|hungrig|durstig|fertig|da|hier)\W*$",
    re.IGNORECASE,
)
# Words for machines: a call, a tag, a variable.
MACHINE = re.compile(r"[{}<>`\[\]|\\]|\w_\w|://")


@dataclass(frozen=True, slots=True)
class Fact:
    """One sentence of somebody that states a fact."""

    kinds: frozenset[str]  # keys of ``WEIGHTS``
    terms: tuple[str, ...]  # names, numbers and times, as they were said
    exact: frozenset[str]  # the stems of the terms' words
    others: frozenset[str]  # the stems of the other words that carry meaning, without the cues
    sentence: str
    speaker: str = ""  # display name; empty for what was only seen
    seq: int = 0  # of the message; 0 without one
    audience: Audience | None = None  # who alone may know it; None if public
    dbref: str = ""  # the speaker's; empty if unknown
    asked: bool = False  # True for a question
    nature: str = CLAIMED  # or `PERFORMED`, or `PERCEIVED`

    @property
    def weight(self) -> float:
        """Return its importance; a sentence that tells more weighs more."""
        most = max(WEIGHTS[kind] for kind in self.kinds)
        told = min(MOST_TOLD, TOLD * len(self.exact | self.others))
        return most + told + NAMED * (len(self.kinds) + len(self.terms)) - ASKED * self.asked

    @property
    def plain(self) -> str:
        """Return the sentence with straight apostrophes."""
        return self.sentence.replace("’", "'")

    def stands_in(self, words: frozenset[str]) -> bool:
        """Return True if words hold its names and numbers, and enough of its other words."""
        if not self.exact <= words:
            return False
        is_bare = bool(self.exact) and self.kinds <= {NAME, NUMBER, TIME}
        return is_bare or OTHER_WORDS * len(self.others & words) >= len(self.others)


def extract_facts(messages: Iterable[Message], own_name: str = "") -> tuple[Fact, ...]:
    """Return the facts in messages, each once, in order; speech tools speak as ``own_name``."""
    return distinct(fact for message in messages for fact in facts_in(message, own_name))


def facts_in(message: Message, own_name: str = "") -> list[Fact]:
    """Return the facts in one message; none in what the offline brain said."""
    if is_offline(message):
        return []
    found = (
        _fact_of(sentence, source, own_name)
        for source, text in spoken(message, own_name)
        for sentence in sentences_of(text)
    )
    return [fact for fact in found if fact is not None]


def distinct(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return the facts without repetitions of a sentence by its speaker to its audience."""
    kept: dict[tuple[object, ...], Fact] = {}
    for fact in facts:
        kept.setdefault((fact.speaker, fact.sentence.lower(), fact.audience), fact)
    return tuple(kept.values())


def missing_facts(facts: Iterable[Fact], texts: Iterable[str]) -> tuple[Fact, ...]:
    """Return the facts that stand in no sentence of the texts, nor in two sentences on end."""
    places = [words for text in texts for words in places_in(text)]
    return tuple(fact for fact in facts if not any(map(fact.stands_in, places)))


def places_in(text: str) -> list[frozenset[str]]:
    """Return the words of each two sentences on end."""
    words = [frozenset(normal_words(sentence)) for sentence in sentences_of(text)]
    return [one | after for one, after in zip(words, [*words[1:], frozenset[str]()], strict=False)]


def as_bullets(facts: Iterable[Fact], budget_tokens: int) -> tuple[str, ...]:
    """Return sentences, most important and newest first, within a budget; none twice."""
    bullets: dict[str, str] = {}
    for fact in sorted(facts, key=lambda fact: (-fact.weight, -fact.seq)):
        whispered = WHISPERED if fact.audience is not None else ""
        bullet = f"{source_label(fact.speaker + whispered, fact.nature)}{fact.sentence}"
        cost = estimate_tokens(bullet) + BULLET_OVERHEAD
        if cost <= budget_tokens and fact.sentence.lower() not in bullets:
            bullets[fact.sentence.lower()] = bullet
            budget_tokens -= cost
    return tuple(bullets.values())


def source_label(speaker: str, nature: str) -> str:
    """Return what stands before words that are kept: who claims or performs them, or an event."""
    if nature == PERCEIVED:
        return f"{HAPPENED}: "
    if nature == PERFORMED:
        return f"{speaker} {ACTS_OUT}"
    return f"{speaker}: " if speaker else ""


def choose_notes(facts: Iterable[Fact], known: Iterable[str], most: int) -> list[Fact]:
    """Return the ``most`` most important sentences that no ``known`` text holds, oldest first."""
    # A text must name the speaker, too: two people may owe the same. Questions, requests, moods and
    # the character's own words are never chosen.
    worth = (fact for fact in facts if fact.dbref and not fact.asked and is_worth_noting(fact))
    named = (replace(f, exact=f.exact.union(normal_words(f.speaker))) for f in worth)
    best = sorted(missing_facts(named, known), key=lambda fact: (-fact.weight, -fact.seq))[:most]
    return sorted(best, key=lambda fact: fact.seq)


def note_of(fact: Fact) -> str:
    """Return a sentence as an event, or with its speaker, whose claim or performance it stays."""
    return f"{source_label(fact.speaker, fact.nature)}{fact.sentence}"


def is_about_speaker(fact: Fact) -> bool:
    """Return True if it says who the speaker is, what they like, or who is close to them."""
    return not fact.kinds.isdisjoint(ABOUT_ONESELF) and bool(ONESELF.search(fact.plain))


def is_worth_noting(fact: Fact) -> bool:
    """Return True for a statement that matters beyond the conversation."""
    # These are debts, promises, secrets and relations, lasting facts about the speaker, and names
    # with a number, a time or an occupation.
    words, kinds = fact.plain, fact.kinds
    if len(words) > LONGEST_NOTE or MACHINE.search(words):
        return False
    if not kinds.isdisjoint(ALWAYS):
        return True
    if PASSING.search(words):
        return False
    if ONESELF.search(words):
        return not kinds.isdisjoint(OF_ONESELF)
    return len(kinds & EXACT) > 1 or kinds >= {NAME, IDENTITY}


def note_problem(content: str, said: Iterable[str] | None = None) -> str:
    """Return why a model's note is not taken, "" if it is: it must be a sentence.

    ``said`` are the lines that it must be about, None for no such check.
    """
    words = normal_words(content)
    if len(words) < LEAST_WORDS and not UNSPACED.search(content):
        return NO_FACT
    if said is None or len(set(find_words(content)) & set(find_words(" ".join(said)))) > 1:
        return ""
    return NOT_SAID


def without_address(sentence: str, name: str) -> str:
    """Return a sentence without a name that it begins or ends with to address its bearer."""
    names = "|".join(map(re.escape, sorted({name, *name.split()}, key=len, reverse=True)))
    if not names:
        return sentence
    return re.sub(rf"(?i)^\W*(?:{names})\b[\s,:!]+|,\s*(?:{names})(?=\W*$)", "", sentence)


def _fact_of(sentence: str, source: Source, own: str) -> Fact | None:
    words_said = without_address(sentence, own)
    asked, cues = is_question(sentence), cues_of(words_said)
    if asked:
        cues &= ASKABLE
    if source.own and not cues & ASKABLE:  # all else may be a model's nonsense
        return None
    terms = find_terms(words_said)
    exact = frozenset(word for term in terms for word in normal_words(term))
    others = frozenset(normal_words(without_cues(words_said, cues))) - exact
    kinds = cues.union(terms.values())
    if not kinds or not (exact or others):
        return None
    return Fact(
        frozenset(kinds),
        tuple(terms),
        exact,
        others,
        sentence,
        source.speaker,
        source.seq,
        source.audience,
        source.dbref,
        asked,
        source.nature,
    )
