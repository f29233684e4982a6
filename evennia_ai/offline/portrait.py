"""What the character says of itself: who it is, what it wants, what it never does."""

# a pattern is read best in one piece

from __future__ import annotations

import re

from evennia_ai.offline.answers import answer, from_knowledge
from evennia_ai.offline.naming import KIND_OF
from evennia_ai.offline.request_view import Mind
from evennia_ai.offline.understanding import Reading
from evennia_ai.offline.words import (
    content,
    stem,
    words,
)

NO_TALE = re.compile(r"\b(?:jokes?|riddles?|songs?|poems?|sing|prayers?)\b", re.I)
WORKING = re.compile(r"^I am (?:\w+ )?\w+ing\b")
CONSUMED = {"drink": "drink", "eat": "food"}
TALKING = frozenset(
    "tell speak say repeat reveal talk discuss mention betray lie share pass gossip answer".split()
)
EVERYDAY = frozenset(
    "give take go let make have do be get put leave use want keep see know".split()
)


def never_clause(mind: Mind, text: str) -> str:
    """The thing it never does that a request asks for; "" where it asks for none."""
    wanted = {stem(word) for word in words(text)}
    kinds = {KIND_OF.get(item) for item in wanted}
    leave = re.match(r"(?:can|may|could|might|shall) (?:i|we)\b|let (?:me|us)\b", text, re.I)
    for clause in mind.character.nevers:
        stems = content(re.sub(r"^I never", "", clause))
        if not stems:
            continue
        verb = stem(words(clause)[2])
        everyday = {stem(word) for word in EVERYDAY}
        things = [item for item in stems if item != verb and item not in everyday]
        shared = [item for item in things if item in wanted]
        talk = verb in {stem(word) for word in TALKING}
        common = verb in {stem(word) for word in EVERYDAY}
        if leave and verb == "let" and shared:
            return clause
        if talk and shared and len(shared) * 3 >= len(things):
            return clause
        asked = verb in wanted or CONSUMED.get(verb, "-") in kinds
        if asked and not common and (shared or not things or len(things) == 1):
            return clause
        if len(shared) >= 2 or (common and verb in wanted and shared):
            return clause
    return ""


def nearest_never(mind: Mind, text: str) -> str:
    """The thing it never does that shares most with a text; "" where none shares a word."""
    wanted = set(content(text))
    best = max(mind.character.nevers, key=lambda c: len(wanted & set(content(c))), default="")
    return best if wanted & set(content(best)[1:]) else ""


def past(mind: Mind, speaker: str) -> str:
    """What it was or did before, as far as the persona tells."""
    was = re.compile(
        r"\b(?:was|were|had|used to|until|before|once|lost|took|left|came|have \w+ed|years?)\b"
    )
    facts = [text for text in mind.character.facts if text not in mind.character.wants]
    found = [text for text in facts if was.search(text)]
    fresh = mind.untold(found)
    if not found:
        return self_portrait(mind, speaker)
    return " ".join(fresh[:2]) if fresh else mind.told(found[0], mind.called(speaker))


def doing(mind: Mind, speaker: str) -> str:
    """What it is at work on: a thing it says it is doing, else a goal that is a deed."""
    busy = re.compile(r"^I am (?:\w+ )?\w+ing\b|\b(?:finish|done|complete|build|make)\b")
    facts = [text for text in mind.character.facts if WORKING.search(text)]
    found = list(
        dict.fromkeys([*facts, *(want for want in mind.character.wants if busy.search(want))])
    )
    fresh = mind.untold(found)
    return " ".join(fresh[:2]) if fresh else goals(mind, speaker)


def asked_for(mind: Mind, reading: Reading, speaker: str) -> str:
    """A request for which there is no tool: what it never does in this, what it knows of it, or a
    plain no."""
    who = mind.called(speaker)
    clause = nearest_never(mind, reading.text)
    if clause:
        return mind.phrase("never", fact=clause, who=who)
    known = from_knowledge(mind, reading.text, speaker, shown=False)
    return known or mind.phrase("request_not", who=who)


def self_portrait(mind: Mind, speaker: str) -> str:
    """Who it is, and one thing more that it has not told yet."""
    character, who = mind.character, mind.called(speaker)
    identity = character.identity or f"I am {mind.name}."
    if mind.name.lower() not in identity.lower():
        described = re.match(r"I am (?=an? |the )", identity)
        rest = f", {identity[described.end() :]}" if described else f"; {identity}"
        identity = f"I am {mind.name}{rest}"
    more = [
        fact
        for fact in mind.untold(character.facts)
        if fact != character.identity and fact not in character.wants
    ]
    tail = f" {more[0]}" if more and character.tone != "terse" and len(more[0]) < 160 else ""
    return mind.told(identity, who) + tail


def ways(mind: Mind, speaker: str) -> str:
    """What sort of person it is: how the persona says it behaves, else who it is."""
    told = [text for text in mind.character.traits if len(text) < 160]
    fresh = mind.untold(told)
    return " ".join(fresh[:2]) if fresh else self_portrait(mind, speaker)


def goals(mind: Mind, speaker: str) -> str:
    """What it wants: what was not told yet comes first."""
    who, wants = mind.called(speaker), mind.character.wants
    if not wants:
        return from_knowledge(mind, "want need goal wish", speaker) or mind.phrase(
            "no_goals", who=who
        )
    fresh = mind.untold(wants)
    if not fresh:
        return mind.told(wants[mind.seed % len(wants)], who)
    both = " ".join(fresh[:2])
    return both if len(both) <= 200 and mind.character.tone != "terse" else fresh[0]


def tale(mind: Mind, wanted: str, speaker: str) -> str:
    """A piece of lore or of itself that was not told yet."""
    who = mind.called(speaker)
    lore = [p.text for p in mind.passages if p.source == "lore"]
    own = [
        p.text for p in mind.passages if p.source == "self" and p.text != mind.character.identity
    ]
    past = re.compile(r"\b(?:have|took|was|were|had|there is|lost|found|\w+ed|want|goal|wish)\b")
    own = sorted([*own, *mind.character.wants], key=lambda text: not past.search(text))
    if NO_TALE.search(wanted) and not any(NO_TALE.search(text) for text in lore):
        return mind.phrase("no_song", who=who)
    fresh = mind.untold([*lore, *own])
    return (
        mind.phrase("story", fact=fresh[0], who=who) if fresh else mind.phrase("no_story", who=who)
    )


def about(mind: Mind, reading: Reading, speaker: str) -> str:
    """As in "Tell me about X", "who is X": of itself where X is itself."""
    if re.fullmatch(rf"(?:you|yourself|{re.escape(mind.name)})", reading.topic.strip(), re.I):
        return self_portrait(mind, speaker)
    return answer(mind, reading, speaker)
