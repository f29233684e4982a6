"""What is known of somebody who is here, as a line of a prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.policy.consolidation.attribute_patterns import NO, YES
from evennia_ai.policy.records.entity_profiles import familiarity_at
from evennia_ai.policy.records.provenance import Record

WELL_KNOWN, KNOWN = 0.4, 0.15
FELT = 0.1
MOST_ATTRIBUTES = 6
# What a speaker said of himself or others is his claim; what was seen is not.
CLAIM_BELOW = 0.9

KIND = re.compile(
    r"\b(?:thanks?|thank you|please|bless you|well done|wonderful|lovely|kind of you|good friend"
    r"|dear|love you|like you|appreciate|welcome|sorry|danke\w*|bitte|lieb\w*|wunderbar|freund\w*"
    r"|entschuldig\w*|merci|s'il (?:te|vous) plaît|gracias|por favor|amig[oa]|grazie|obrigad[oa]"
    r"|спасибо|пожалуйста)\b|谢谢|ありがとう|[❤♥😀😊🙂👍]",
    re.IGNORECASE,
)
UNKIND = re.compile(
    r"\b(?:idiots?|fools?|stupid|shut up|hate|liars?|damn you|go away|get lost|coward|ugly"
    r"|worthless|scum|useless|kill you|dumm\w*|dummkopf|halt(?:'s)? maul|hasse|lügner\w*"
    r"|hau ab|verschwinde|feigling|nutzlos\w*|imbécile|menteu(?:r|se)|tais-toi"
    r"|idiota|mentiros[oa]|cállate|дурак"
    r"|идиот|заткнись)\b|[😠😡👎]",
    re.IGNORECASE,
)
NEGATED = re.compile(r"\b(?:not|never|no|n't|nicht|kein\w*|pas|nunca|не)\W+(?:\w+\W+){0,2}$", re.I)
MOST_CHARS = 2_000


@dataclass(frozen=True)
class Acquaintance:
    """Somebody who is here.

    Attributes:
        name: what the character calls him.
        dbref: his.
        relationship: how it stands with him.
        values: current values of his attributes that the audience may know, oldest first.
        contradicted: ids of those of which another source says something else that it may know.
        is_talking: whether the two are in conversation.
    """

    name: str
    dbref: str
    relationship: Record
    values: Sequence[Record]
    contradicted: frozenset[str] = frozenset()
    is_talking: bool = False


def acquaintance_line(
    person: Acquaintance, now: datetime, name_of: Callable[[str], str]
) -> str | None:
    """One line of what is known of somebody, None where that is nothing.

    Args:
        person: he, and what is known.
        now: the time.
        name_of: what the character calls whom a dbref is of, empty where that is nobody.
    """
    told = [in_words(value, person, name_of) for value in list(person.values)[-MOST_ATTRIBUTES:]]
    parts = [*relation_in_words(person.relationship, now), *told]
    if not parts:
        return None
    talking = " (in conversation with you)" if person.is_talking else ""
    return f"{person.name}{talking}: {'; '.join(parts)}"


def relation_in_words(relationship: Record, now: datetime) -> list[str]:
    """How it stands between the two; nothing at a first meeting."""
    words: list[str] = []
    if relationship["contacts"] >= 2:
        familiarity = familiarity_at(relationship, now)
        how = "well" if familiarity >= WELL_KNOWN else "" if familiarity >= KNOWN else "a little"
        words.append(f"you know each other {how}".rstrip())
    if abs(relationship["sentiment"]) >= FELT:
        words.append("on good terms" if relationship["sentiment"] > 0 else "on bad terms")
    return words


def in_words(value: Record, person: Acquaintance, name_of: Callable[[str], str]) -> str:
    """A value with whose word it is, where it is another's, and whether others say otherwise."""
    said = {YES: value["attribute"], NO: f"not: {value['attribute']}"}.get(
        value["value"], f"{value['attribute']}: {value['value']}"
    )
    notes = []
    source = value["source_entity"]
    if value["trust"] < CLAIM_BELOW and source:
        teller = "own words" if source == person.dbref else name_of(source)
        notes += [f"from {teller}" if source != person.dbref else teller] if teller else []
    if value["id"] in person.contradicted:
        notes.append("others say otherwise")
    return f"{said} ({', '.join(notes)})" if notes else said


def sentiment_of(text: str) -> float | None:
    """How kindly something was said, -1 to 1; None where nothing tells."""
    text = text[:MOST_CHARS]
    kind = sum(not is_negated(text, found.start()) for found in KIND.finditer(text))
    unkind = sum(not is_negated(text, found.start()) for found in UNKIND.finditer(text))
    if kind + unkind == 0:
        return None
    return (kind - unkind) / (kind + unkind)


def is_negated(text: str, at: int) -> bool:
    """True where a word just before takes back what follows."""
    return bool(NEGATED.search(text, max(0, at - 40), at))


def mean_sentiment(texts: list[str]) -> float | None:
    """How kindly several things were said, on the whole; None where none of them tells."""
    felt = [found for found in map(sentiment_of, texts) if found is not None]
    return sum(felt) / len(felt) if felt else None
