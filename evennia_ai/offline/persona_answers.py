"""Answers from the persona: who it is, what it wants, what it never does."""

from __future__ import annotations

import re

from evennia_ai.offline.answers import answer, from_knowledge
from evennia_ai.offline.name_matching import kinds_of
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.understanding import Reading
from evennia_ai.offline.words import content, stem, words

NO_TALE = re.compile(r"\b(?:jokes?|riddles?|songs?|poems?|sing|prayers?)\b", re.I)
WORKING = re.compile(r"^I am (?:\w+ )?\w+ing\b")
BUSY = re.compile(r"\b(?:finish|done|complete|build|make)\b")
BEFORE = re.compile(
    r"\b(?:was|were|had|used to|until|before|once|lost|took|left|came|have \w+ed|years?)\b"
)
CONSUMED = {"drink": "drink", "eat": "food"}
TALKING = frozenset(
    "tell speak say repeat reveal talk discuss mention betray lie share pass gossip answer".split()
)
EVERYDAY = frozenset(
    "give take go let make have do be get put leave use want keep see know".split()
)


def never_clause(view: RequestView, text: str) -> str:
    """Return the thing it never does that a text asks for; "" if none."""
    wanted = {stem(word) for word in words(text)}
    kinds = kinds_of(text)
    leave = re.match(r"(?:can|may|could|might|shall) (?:i|we)\b|let (?:me|us)\b", text, re.I)
    for clause in view.character.nevers:
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


def nearest_never(view: RequestView, text: str) -> str:
    """Return the thing it never does that shares most words with a text, or ""."""
    wanted = set(content(text))
    best = max(view.character.nevers, key=lambda c: len(wanted & set(content(c))), default="")
    return best if wanted & set(content(best)[1:]) else ""


def past(view: RequestView) -> str:
    """Return what it was or did before, as far as the persona tells."""
    facts = [text for text in view.character.facts if text not in view.character.wants]
    found = [text for text in facts if BEFORE.search(text)]
    return view.tell_some(found) if found else self_portrait(view)


def doing(view: RequestView) -> str:
    """Return what it is working on, else a goal."""
    facts = [text for text in view.character.facts if WORKING.search(text)]
    wants = [text for text in view.character.wants if WORKING.search(text) or BUSY.search(text)]
    found = view.untold(dict.fromkeys([*facts, *wants]))
    return view.tell_some(found) if found else goals(view)


def asked_for(view: RequestView, reading: Reading) -> str:
    """Answer a request that no tool fulfils.

    The answer is what it never does, else what it knows of the topic, else a no.
    """
    clause = nearest_never(view, reading.text)
    if clause:
        return view.phrase("never", fact=clause)
    known = from_knowledge(view, reading.text, shown=False)
    return known or view.phrase("request_not")


def self_portrait(view: RequestView) -> str:
    """Return who it is, and one more fact that it has not told yet."""
    character = view.character
    identity = character.identity or f"I am {view.name}."
    if view.name.lower() not in identity.lower():
        described = re.match(r"I am (?=an? |the )", identity)
        rest = f", {identity[described.end() :]}" if described else f"; {identity}"
        identity = f"I am {view.name}{rest}"
    more = [
        fact
        for fact in view.untold(character.facts)
        if fact != character.identity and fact not in character.wants
    ]
    tail = f" {more[0]}" if more and not character.terse and len(more[0]) < 160 else ""
    return view.told(identity) + tail


def ways(view: RequestView) -> str:
    """Return how the persona says it behaves, else who it is."""
    fresh = view.untold(text for text in view.character.traits if len(text) < 160)
    return view.tell_some(fresh) if fresh else self_portrait(view)


def goals(view: RequestView) -> str:
    """Return what it wants, untold goals first."""
    if view.character.wants:
        return view.tell_some(view.character.wants)
    return from_knowledge(view, "want need goal wish") or view.phrase("no_goals")


def tale(view: RequestView, wanted: str) -> str:
    """Return an untold piece of lore, or of its own story."""
    lore = [p.text for p in view.passages if p.source == "lore"]
    own = [
        p.text for p in view.passages if p.source == "self" and p.text != view.character.identity
    ]
    past = re.compile(r"\b(?:have|took|was|were|had|there is|lost|found|\w+ed|want|goal|wish)\b")
    own = sorted([*own, *view.character.wants], key=lambda text: not past.search(text))
    if NO_TALE.search(wanted) and not any(NO_TALE.search(text) for text in lore):
        return view.phrase("no_song")
    fresh = view.untold([*lore, *own])
    return view.phrase("story", fact=fresh[0]) if fresh else view.phrase("no_story")


def about(view: RequestView, reading: Reading) -> str:
    """Answer "Tell me about X" and "who is X", also if X is the character."""
    if re.fullmatch(rf"(?:you|yourself|{re.escape(view.name)})", reading.topic.strip(), re.I):
        return self_portrait(view)
    return answer(view, reading)
