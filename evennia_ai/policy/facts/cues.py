"""Cues in a sentence: a promise, debt, question, secret, or a changeable value."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evennia_ai.policy.facts.vocabulary import (
    CUE_PAIRS,
    CUE_WORDS,
    FOREIGN_CUES,
    FUNCTION_WORDS,
    GERMAN_WORDS,
    RELATIONS,
)

ORDER = "debt promise secret relation preference identity task item possession".split()
BY_WORD = {word: kind for kind, words in reversed(CUE_WORDS.items()) for word in words.split()}
BY_PAIR = {pair.strip(): kind for kind, pairs in CUE_PAIRS.items() for pair in pairs.split("|")}
FOREIGN = {
    kind: re.compile("|".join(part.strip() for part in parts.split("|")))
    for kind, parts in FOREIGN_CUES.items()
}
OWNERS = frozenset("my your his her our their".split())
ASKING = frozenset(
    """who whom whose what which when where why how do does did is are was were can could will would
    shall should have has had may""".split()
)

COPULAS = frozenset(
    "is are was am i'm name's cost costs become be been come hail live call".split()
)
FAVOURITE = re.compile(
    r"\b(my|your|his|her|[^\W\d_]+'s) favou?rite ([\w ]{2,30}?) (?:is|are|was) ", re.I
)
OWN_SLOTS = (
    ("name", re.compile(r"\b(?:my name is|my name's|i(?:'m| am) called|call me)\b", re.I)),
    ("age", re.compile(r"\bi(?:'m| am) (?:now )?[\w-]+ years old\b", re.I)),
    ("home", re.compile(r"\bi(?:'m| am| come| hail) from\b|\bi live (?:in|at|near|by)\b", re.I)),
)
VALUE = re.compile(
    r"^(?:and |but |well,? |no,? |now |so |oh,? |listen[:,]? )*"
    r"(the|my|your|our|his|her|their|[^\W\d_]+'s) ((?:[\w-]+ ){0,2}[\w-]+)"
    r" (?:is|are|was|costs?|has become|will be|has been)(?: now| still| actually)? (.+)$",
    re.I,
)
ARTICLE = re.compile(r"^(?:an?|the) ", re.I)
NUMERAL = re.compile(r"^(?:about |only |exactly )?(?:\d|(?:two|three|four|five|six|seven|eight|nine"
                     r"|ten|eleven|twelve|\w+teen|\w+ty)\b)", re.I)  # fmt: skip


def cues_of(lower: Sequence[str], sentence: str) -> list[str]:
    """Return the kinds of a sentence, the most important first."""
    found = {BY_WORD[word] for word in lower if word in BY_WORD}
    before = ""
    for word in lower:
        pair = f"{before} {word}"
        if pair in BY_PAIR:
            found.add(BY_PAIR[pair])
        if word.removesuffix("'s") in RELATIONS and (before in OWNERS or before.endswith("'s")):
            found.add("relation")
        before = word
    if not sentence.isascii() or not GERMAN_WORDS.isdisjoint(lower):
        found.update(kind for kind, pattern in FOREIGN.items() if pattern.search(sentence))
    return [kind for kind in ORDER if kind in found]


def is_question(sentence: str, lower: Sequence[str]) -> bool:
    """Return True for a question."""
    end = sentence.rstrip(" \"”'»)")
    return end.endswith(("?", "？", "؟")) or (
        bool(lower) and lower[0] in ASKING and not end.endswith((".", "!"))
    )


def slot_of(sentence: str, lower: Sequence[str], speaker: str) -> tuple[str, str] | None:
    """Return the subject and attribute that a sentence gives a replaceable value for.

    None if there is no value, or if several may hold at once: a door may be oak and open.
    """
    if COPULAS.isdisjoint(lower):
        return None
    text = sentence.replace("’", "'").rstrip(" .!")
    if found := FAVOURITE.search(text):
        return _owner(found[1], speaker), f"favourite {found[2].lower()}"
    for attribute, pattern in OWN_SLOTS:
        if pattern.search(text):
            return speaker, attribute
    found = VALUE.match(text)
    if not found or any(word in FUNCTION_WORDS for word in found[2].lower().split()):
        return None
    shape = _shape(found[3])
    return (_owner(found[1], speaker), f"{found[2].lower()}: {shape}") if shape else None


def _owner(word: str, speaker: str) -> str:
    low = word.lower()
    if low in {"my", "our"}:
        return speaker
    return "" if low == "the" else low.removesuffix("'s")


def _shape(value: str) -> str:
    """Return the form of a value; values of different forms do not contradict."""
    value = ARTICLE.sub("", value.strip())
    if NUMERAL.match(value):
        return "number"
    if not value or value[0] in "'\"“«":
        return "word"
    words = value.split()
    if words[0][0].isupper():
        return "name"
    return "word" if len(words) == 1 and not words[0].endswith(("ed", "ing", "en")) else ""
