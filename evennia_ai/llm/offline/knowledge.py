"""What the character knows, ranked by nearness to a question, with a floor under which it knows
nothing: a random fact is a worse answer than an honest "I do not know".

BM25 after Robertson and Zaragoza (2009), k1 = 1.2, b = 0.75; near meanings count for half.
"""

# ruff: noqa: E501  # a pattern or a phrase is read best in one piece

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evennia_ai.llm.offline.words import content, near, sentences, stem, words

K1, B = 1.2, 0.75
NEAR_WEIGHT = 0.5
FLOOR = 0.34
WANTED_TYPES = (
    (re.compile(r"\b(?:how many|how much|how old|how long|number)\b", re.I),
     re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred|"
                r"dozen|half|few|many|no)\b", re.I)),
    (re.compile(r"\bwhen\b|what (?:time|day)", re.I),
     re.compile(r"\b(?:at|before|after|on|since|until|ago|dawn|dusk|night|noon|morning|evening|autumn|spring|"
                r"summer|winter|day|week|month|year|bell)s?\b", re.I)),
    (re.compile(r"\bwhere\b", re.I),
     re.compile(r"\b(?:in|at|on|under|behind|near|by|beside|above|below|north|south|east|west|to|from|next|inside)\b", re.I)),
    (re.compile(r"\bwho(?:se|m)?\b", re.I), re.compile(r"\b[A-Z]\w+", 0)),
    (re.compile(r"\bwhy\b", re.I), re.compile(r"\b(?:because|since|so that|for|to|after)\b", re.I)),
    (re.compile(r"\bcolou?r\b", re.I),
     re.compile(r"\b(?:red|blue|green|black|white|grey|gray|brown|yellow|gold(?:en)?|silver|purple|orange|pink)\b", re.I)),
)  # fmt: skip


@dataclass(frozen=True)
class Passage:
    """A piece of knowledge. ``source``: self, want, never, lore, seen, note; ``extra`` are words
    that find it though it does not say them."""

    text: str
    source: str
    extra: str = ""


@dataclass(frozen=True)
class Found:
    """A passage with its score and the share of the question's weight it covers."""

    passage: Passage
    score: float
    cover: float


def rank(question: str, passages: Sequence[Passage], drop: Iterable[str] = ()) -> list[Found]:
    """The passages above the floor, nearest first; stable where two are equally near."""
    dropped = {stem(word) for text in drop for word in words(text)}
    wanted = [item for item in content(question) if item not in dropped]
    bags = [Counter(stem(w) for w in words(f"{p.text} {p.extra}")) for p in passages]
    if not wanted or not bags:
        return []
    average = sum(bag.total() for bag in bags) / len(bags) or 1.0
    rarity = {item: _idf(item, bags) for item in wanted}
    whole = sum(rarity.values())
    found = []
    for passage, bag in zip(passages, bags, strict=True):
        score, cover = _score(wanted, bag, average, rarity)
        if score > 0 and cover / whole >= FLOOR:
            fit = _type_fit(question, passage.text)
            found.append(Found(passage, score * fit, cover / whole))
    return sorted(found, key=lambda item: -item.score)


def _idf(item: str, bags: Sequence[Counter[str]]) -> float:
    holding = sum(1 for bag in bags if item in bag)
    return math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))


def _score(
    wanted: Sequence[str], bag: Counter[str], average: float, rarity: dict[str, float]
) -> tuple[float, float]:
    length = bag.total()
    score = cover = 0.0
    for item in wanted:
        weight = 1.0 if item in bag else NEAR_WEIGHT if near(item) & bag.keys() else 0.0
        count = bag[item] or 1
        part = count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))
        score += weight * part * rarity[item]
        cover += weight * rarity[item]
    return score, cover


def _type_fit(question: str, text: str) -> float:
    """Above 1 where the passage holds the kind of thing that is asked for."""
    for asked, answer in WANTED_TYPES:
        if asked.search(question):
            return 1.35 if answer.search(text[1:]) else 0.8
    return 1.0


def lore_passages(lore: Iterable[str]) -> list[Passage]:
    """The lore in pieces of a sentence or two, each found by its title too."""
    found = []
    for entry in lore:
        title, colon, text = entry.partition(": ")
        if not colon or len(title) > 60 or "." in title:
            title, text = "", entry
        parts = sentences(text)
        for index, part in enumerate(parts):
            found.append(Passage(_with_next(parts, index), "lore", f"{title} {part}"))
    return found


def _with_next(parts: Sequence[str], index: int) -> str:
    """A sentence, with its forerunner where it begins with a pronoun and would hang in the air."""
    part = parts[index]
    if index and re.match(r"(?:he|she|it|they|his|her|its|their|this|that|there)\b", part, re.I):
        joined = f"{parts[index - 1]} {part}"
        return joined if len(joined) <= 240 else part
    return part


def seen_passages(description: str) -> list[Passage]:
    """The place's description, sentence by sentence."""
    return [Passage(part, "seen") for part in sentences(description)]
