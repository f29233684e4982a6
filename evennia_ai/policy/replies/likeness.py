"""How alike two lines are, and whether a reply repeats a line, quotes its instructions or loops."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache

from evennia_ai.policy.facts.check import without_address

CJK = "\u3040-\u30ff\u4e00-\u9fff"  # written without spaces: each character counts as a word
WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)*")

FEW_WORDS = 4  # a shorter line, such as "Aye.", may be said again
LATEST = 2  # but not within this many lines
LIKE, LIKE_IF_SHORT = 0.85, 0.9  # "A mug of ale/cider costs a penny" are two lines
SHORT = 10
MOST_OF = 0.5  # a line within a longer one is a repeat if it makes up this much of it
RULE_RUN = 6  # words in a row that only somebody says who quotes the rules
PERSONA_RUN = 6  # the same with "you": who speaks of themselves says "I"
SECOND_PERSON = frozenset(
    "you your yours yourself du dein deine deinen deinem deiner dich dir ihr euch euer tu te ton "
    "ta tes toi vous votre vos tú usted eres".split()
)
ANSWERS = SECOND_PERSON | frozenset(  # words that turn a line into an answer to it
    "yes no not never nothing isn't don't ja nein nicht nie kein keine oui non pas jamais sí nunca "
    "i i'm my me mine we our us are am is ich mein meine meinen meiner mir mich bist bin je j'ai "
    "mon ma mes moi suis yo mi soy".split()
)
# What a persona knows, wants and might say may be said word for word.
MAY_BE_SAID = re.compile(r"^(?:You know|You want|Things you might say):\n(?:- .*(?:\n|\Z))+", re.M)
ECHO_WORDS = 5  # a shorter line may be returned: "Good evening to you!"
NEAR_ECHO_WORDS, NEAR_ECHO = 8, 0.88
SENTENCE_GAP = re.compile(r"(?<=[.!?…])\s+")
SPEAKER = re.compile(r"\A[^:\n]{1,60}? (?:says|whispers to you|whispers|asks|acts out): ")
GRAM, MOST_SAME = 4, 5
SAME_PIECE = re.compile(r"(\S{1,8}?)\1{24}")
BLANK = re.compile(r"(?:[ \t]*\n){6}|[ \t]{40}")


def plain_words(text: str) -> list[str]:
    """Return the words in lower case, without punctuation and accents of quotation."""
    return WORD.findall(text.casefold().replace("’", "'"))


def overlap(words: Sequence[str], others: Sequence[str]) -> float:
    """Return the share of common words, from 0 to 1 (Sørensen–Dice over multisets)."""
    if not words or not others:
        return 0.0
    common = (Counter(words) & Counter(others)).total()
    return 2 * common / (len(words) + len(others))


def difference(words: Sequence[str], others: Sequence[str]) -> set[str]:
    """Return the words that only one of two lines has, or has more often."""
    first, second = Counter(words), Counter(others)
    return set((first - second) + (second - first))


def find_repeat(words: str, earlier: Sequence[str]) -> str:
    """Return the latest earlier line that ``words`` repeats, "" if none; oldest line first."""
    said = plain_words(words)
    if not said:
        return ""
    for age, line in enumerate(reversed(earlier)):
        if is_repeat(said, plain_words(line), age):
            return line
    return ""


def is_repeat(said: Sequence[str], before: Sequence[str], age: int) -> bool:
    """Return True if words repeat those of a line; ``age`` is 0 for the latest line."""
    if min(len(said), len(before)) < FEW_WORDS:
        return said == before and age < LATEST
    if said == before or is_most_of(said, before) or is_most_of(before, said):
        return True
    short = min(len(said), len(before)) < SHORT
    if overlap(said, before) < (LIKE_IF_SHORT if short else LIKE):
        return False
    return not any(word.isdigit() for word in difference(said, before))


def is_most_of(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Return True if ``part`` stands in ``whole`` and makes up most of it."""
    is_long = len(whole) * MOST_OF <= len(part) < len(whole)
    return is_long and f" {' '.join(part)} " in f" {' '.join(whole)} "


@lru_cache(maxsize=64)
def runs(text: str, length: int) -> frozenset[tuple[str, ...]]:
    """Return every run of words of a length."""
    words = plain_words(text)
    return frozenset(tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def quotes_rules(words: Sequence[str], rules: str) -> bool:
    """Return True if `RULE_RUN` words in a row stand in the rules."""
    known = runs(rules, RULE_RUN)
    return any(tuple(words[at : at + RULE_RUN]) in known for at in range(len(words)))


def quotes_persona(words: Sequence[str], persona: str, name: str) -> bool:
    """Return True for "You are Brannoc", or a long run with "you" that stands in the persona."""
    # What it tells of the character may be said: "I have outlived two mayors".
    own = plain_words(name)
    if own and any(list(words[at : at + 2 + len(own)]) in address(own) for at in range(len(words))):
        return True
    known = runs(MAY_BE_SAID.sub("", persona), PERSONA_RUN)
    found = (tuple(words[at : at + PERSONA_RUN]) for at in range(len(words)))
    return any(run in known and not SECOND_PERSON.isdisjoint(run) for run in found)


def address(own: list[str]) -> list[list[str]]:
    """Return "you are Brannoc" in four languages."""
    return [[*how, *own] for how in (["you", "are"], ["du", "bist"], ["tu", "es"])]


def is_echo(words: Sequence[str], heard: Collection[str], name: str = "") -> bool:
    """Return True if the words only repeat a long line just heard, or a long sentence of it.

    ``name`` is what the line may call the character by.
    """
    for line in heard:
        said = SPEAKER.sub("", line)
        parts = (said, without_address(said, name), *SENTENCE_GAP.split(said))
        if any(echoes(words, plain_words(part)) for part in parts):
            return True
    return False


def echoes(words: Sequence[str], line: Sequence[str]) -> bool:
    """Return True if the words are a line, or nearly so if both are long."""
    # "Your name is Tom" for "My name is Tom" is an answer.
    if list(words) == list(line):
        return len(words) >= ECHO_WORDS
    if min(len(words), len(line)) < NEAR_ECHO_WORDS or overlap(words, line) < NEAR_ECHO:
        return False
    return ANSWERS.isdisjoint(difference(words, line))


def is_loop(text: str, words: Sequence[str]) -> bool:
    """Return True if the same four words come back more often than in a refrain, or blank lines."""
    if SAME_PIECE.search(text) or BLANK.search(text.strip()):
        return True
    counts: Counter[tuple[str, ...]] = Counter()
    last: dict[tuple[str, ...], int] = {}
    for at in range(len(words) - GRAM + 1):
        run = tuple(words[at : at + GRAM])
        if at - last.get(run, -GRAM) >= GRAM:  # not overlapping with itself
            last[run] = at
            counts[run] += 1
    return bool(counts) and max(counts.values()) > MOST_SAME
