"""What the character knows, ranked by how well it answers a question.

Passages below a floor are left out: a random fact is worse than an honest "I do not know". The
score is BM25 after Robertson and Zaragoza (2009), k1 = 1.2, b = 0.75; a word of similar meaning
weighs `NEAR_WEIGHT`.
"""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evennia_ai.offline.words import NUMBER_WORDS, content, near, sentences, stem, words

K1, B = 1.2, 0.75
NEAR_WEIGHT = 0.6
FLOOR = 0.34
TITLE_WEIGHT = 1.25
SOURCE_WEIGHT = {"want": 0.8, "never": 0.6, "seen": 0.85, "deed": 0.9, "aside": 0.92}
DAYS = (
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|today|tonight|yesterday|market day|"
    "midsummer|midwinter|new moon|full moon"
)
COLOURS = "red|blue|green|black|white|gr[ea]y|brown|yellow|golden|gold|silver|purple|orange|pink|violet|crimson|scarlet"
# What a question asks for, what an answer must hold, and whether that is enough for an answer.
WANTED_TYPES = (
    (r"\bwhich day\b|\bwhat day\b", DAYS, True),
    (r"\bcolou?r\b", COLOURS, True),
    (r"\b(?:how many|how much|how old|how long|how heavy|how far|how big|number)\b",
     rf"\d|\b(?:{NUMBER_WORDS}|half|few|first|second|third|fourth|fifth|ninth|once|twice|\w+ty)\b", False),
    (r"\bwhen\b|\bwhat (?:time|hour)\b",
     (rf"\b(?:{DAYS}|at|before|after|since|until|ago|dawn|dusk|night|noon|morning|evening|autumn|spring|"
     r"summer|winter|days?|weeks?|months?|years?|bells?)\b"), False),
    (r"\b(?:called|named|name of|'s name|name)\b", r"\b(?:called|named|names?)\b", False),
    (r"\bwhich way\b", r"\b(?:north|south|east|west|left|right|up|down|back|over|along|across)\w*\b", False),
    (r"\bwhere\b", r"\b(?:in|at|on|under|behind|near|by|beside|above|below|along|against|beneath|around|north|south|east|west|to|from|next|inside)\b", False),
    (r"\bwho(?:se|m)?\b", r"(?-i:\b[A-Z][a-z]+)", False),
    (r"\bwhy\b", r"\b(?:because|since|so that|for|to|after)\b", False),
)  # fmt: skip
TYPES = tuple(
    (re.compile(asked, re.I), re.compile(holds, re.I), sure) for asked, holds, sure in WANTED_TYPES
)


def fitting(question: str, *, certain: bool = False) -> re.Pattern[str] | None:
    """Return the pattern of what an answer must hold, None if any answer will do."""
    found = ((holds, sure) for asked, holds, sure in TYPES if asked.search(question))
    return next((holds for holds, sure in found if sure or not certain), None)


@dataclass(frozen=True)
class Passage:
    """A piece of knowledge.

    ``source`` is self, aside, want, never, lore, seen, saw, deed or note. ``extra`` are words that find
    it besides its own.
    """

    text: str
    source: str
    extra: str = ""
    title: str = ""


@dataclass(frozen=True)
class Found:
    """A passage with its score and the share of the question's weight that it covers."""

    passage: Passage
    score: float
    cover: float


def rank(
    question: str, passages: Sequence[Passage], drop: Iterable[str] = (), *, lenient: bool = False
) -> list[Found]:
    """Return the passages above the floor, best first; equal scores keep their order.

    Args:
        question: its words are looked for.
        passages: where.
        drop: names to ignore in the question.
        lenient: words that no passage holds weigh less, so that more passages pass the floor.
    """
    dropped = {stem(word) for text in drop for word in words(text)}
    wanted = [item for item in content(expanded(question)) if item not in dropped]
    bags = [Counter(stem(w) for w in words(f"{p.text} {p.extra}")) for p in passages]
    if not wanted or not bags:
        return []
    average = sum(bag.total() for bag in bags) / len(bags) or 1.0
    meant = set(content(question)) - dropped
    rarity = {item: _idf(item, bags, 1.0 if lenient else 0.4) for item in wanted}
    whole = sum(rarity.values())
    found = []
    for passage, bag in zip(passages, bags, strict=True):
        score, cover = _score(wanted, bag, average, rarity)
        named = not meant or any(item in bag or near(item) & bag.keys() for item in meant)
        if named and score > 0 and cover / whole >= FLOOR:
            fit = _type_fit(question, passage.text) * SOURCE_WEIGHT.get(passage.source, 1.0)
            if passage.title and set(wanted) & {stem(word) for word in words(passage.title)}:
                fit *= TITLE_WEIGHT
            found.append(Found(passage, score * fit, cover / whole))
    return sorted(found, key=lambda item: -item.score)


def expanded(question: str) -> str:
    """Return the question with words that it implies."""
    if re.search(r"\bhow much (?:is|are|for|do|does|would|will)\b", question, re.I):
        return f"{question} price cost"
    return question


def _idf(item: str, bags: Sequence[Counter[str]], least: float) -> float:
    holding = max(least, sum(1 for bag in bags if item in bag))
    return math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))


def _score(
    wanted: Sequence[str], bag: Counter[str], average: float, rarity: dict[str, float]
) -> tuple[float, float]:
    length = min(bag.total(), 2 * average)
    score = cover = 0.0
    for item in wanted:
        weight = 1.0 if item in bag else NEAR_WEIGHT if near(item) & bag.keys() else 0.0
        count = bag[item] or 1
        part = count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))
        score += weight * part * rarity[item]
        cover += weight * rarity[item]
    return score, cover


def _type_fit(question: str, text: str) -> float:
    """Return a factor, above 1 if the text holds the kind of thing asked for."""
    holds = fitting(question)
    if holds is None:
        return 1.0
    return 1.6 if holds.search(text[1:]) else 0.65


def lore_passages(lore: Iterable[str]) -> list[Passage]:
    """Return the lore in pieces of a sentence or two, each found by its title too."""
    found = []
    for entry in lore:
        title, colon, text = entry.partition(": ")
        if not colon or len(title) > 60 or "." in title:
            title, text = "", entry
        parts = sentences(text)
        for index, part in enumerate(parts):
            whole = _with_previous(parts, index)
            found.append(Passage(whole, "lore", f"{title} {part}", title or entry[:40]))
    return found


def _with_previous(parts: Sequence[str], index: int) -> str:
    """Return a sentence, after the one before it if it begins with a pronoun."""
    part = parts[index]
    if index and re.match(r"(?:he|she|it|they|his|her|its|their|this|that|there)\b", part, re.I):
        joined = f"{parts[index - 1]} {part}"
        return joined if len(joined) <= 240 else part
    return part


def seen_passages(description: str) -> list[Passage]:
    """Return the place's description, sentence by sentence."""
    return [Passage(part, "seen") for part in sentences(description)]
