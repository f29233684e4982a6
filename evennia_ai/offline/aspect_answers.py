"""Answers about aspects of its own life; evasive if the persona is silent."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re

from evennia_ai.offline.answers import from_knowledge
from evennia_ai.offline.aspects import NUMBER, SPAN, Aspect, aspects_of, fitting_of
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.understanding import Reading
from evennia_ai.offline.words import content, near, stem

OF_ME = re.compile(r"\b(?:i|my|mine|myself|i'm|i've|am i)\b", re.I)
YEARS = re.compile(rf"\b(?!one\b|few\b|many\b|several\b)({NUMBER})\b(?=(?: {SPAN})?(?: old| of age)|[,.;]|$)", re.I)  # fmt: skip
# A question that matches this is about somebody else.
OF_OTHERS = re.compile(r"\b(?:your|my) [\w ]{1,40}?'s\b|\bhow old (?:is|was)\b")
FORWARD = frozenset({"plans", "trouble", "journey"})
NEVER_OPEN = frozenset({"lost", "journey", "work", "seeks"})
# The phrases for aspects that have none of their own.
SHY = {
    "children": "shy_family", "siblings": "shy_family", "parents": "shy_family",
    "looks": "see_yourself",
    **dict.fromkeys(("faith", "wealth", "trouble", "plans", "pets", "mood"), "personal"),
}  # fmt: skip
KEEPER = re.compile(
    r"^(?:\w+ )?(?:owner|keeper|landlord|landlady|boss|host|hostess|master|mistress|innkeeper)$",
    re.I,
)
KEEPING = re.compile(r"\b(?:keeps?|owns?|runs?|leads?|serve as)\b")
FAVOURITE = re.compile(
    r"\bfavou?rite (?!thing|food|drink|dish|meal|pastime|hobby|to\b|part)(\w+)", re.I
)


def of_itself(view: RequestView, reading: Reading) -> str:
    """Answer a question about the character's life; "" if it is another question."""
    text = reading.text
    found = [aspect for aspect in aspects_of(text) if aspect.name not in NEVER_OPEN]
    if not found or OF_ME.search(text) or OF_OTHERS.search(text):
        return ""
    told = "" if is_strange_favourite(view, text) else from_facts(view, text, found)
    if told:
        return told
    if extra_words(text, found):
        known = from_knowledge(view, text, shown=False)
        if known:
            return known
    return view.phrase(SHY.get(found[0].name, f"shy_{found[0].name}"))


def from_facts(view: RequestView, text: str, found: list[Aspect]) -> str:
    """Return what the persona says of an aspect, unsaid facts first; "" if nothing."""
    character = view.character
    wants = set() if found[0].name in FORWARD else set(character.wants)
    own = [fact for fact in character.facts if fact not in wants]
    own += character.nevers if found[0].name == "dislikes" else ()
    facts = fitting_of(text, own, str, found)
    if not facts:
        return ""
    years = YEARS.search(facts[0]) if found[0].name == "age" else None
    if years:
        return view.phrase("age_is", value=years[1].lower())
    return view.told(facts[0]) if view.was_said(facts[0]) else view.tell_some(facts)


def is_strange_favourite(view: RequestView, text: str) -> bool:
    """Return True if a favourite is asked for that the persona does not mention."""
    kind = FAVOURITE.search(text)
    if not kind:
        return False
    meant = {stem(kind[1].lower())} | near(stem(kind[1].lower()))
    return not any(meant & set(content(fact)) for fact in view.character.facts)


def extra_words(text: str, found: list[Aspect]) -> bool:
    """Return True if a question says more than its aspect: "do you enjoy smithing?"."""
    return len(content(found[0].asks.sub("", text, count=1))) > 0


def who_it_is(view: RequestView, reading: Reading) -> str:
    """Answer "Are you a smith?": yes or no, and who it is; "" if that is unclear."""
    topic, identity = reading.slots.get("topic", ""), view.character.identity
    wanted = set(content(topic))
    if not wanted or not identity or re.search(r"\b(?:of|to|in|who|that)\b", topic):
        return ""
    if KEEPER.search(topic) and KEEPING.search(identity):
        return view.phrase("is_so", fact=identity)
    holding = [fact for fact in view.character.facts if wanted <= set(content(fact))]
    key, fact = ("is_so", holding[0]) if holding else ("is_not", identity)
    return view.phrase(key, fact=fact)
