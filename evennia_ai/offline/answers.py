"""One answer to one sentence: an intent's, else retrieval, else a deflection."""

from __future__ import annotations

import re

from evennia_ai.offline.handlers import handled
from evennia_ai.offline.passages import SURE
from evennia_ai.offline.questions import to_question, told_fact
from evennia_ai.offline.scene import topic_of
from evennia_ai.offline.told import facts_in, is_question
from evennia_ai.offline.view import View
from evennia_ai.offline.words import ended, rotated, words

Match = re.Match[str]
VOWELS = re.compile(r"[aeiouyäöü]", re.I)
LATIN = re.compile(r"[a-zA-Z]")
AND = re.compile(r"(?:and|or|what about|how about|und|oder)\b", re.I)
RETRIEVES = frozenset({"where_is", "have", "count", "way_to"})  # their phrases come after retrieval


def answer(view: View, text: str) -> str:
    """Return the answer to one sentence."""
    found = view.language.intent_of(text)
    if not view.language.full:
        return view.phrase(found[0].key if found else "other")
    if found:
        intent, match = found
        said = handled(view, intent.key, text, match)
        if said:
            return said
        if intent.say and intent.key not in RETRIEVES:
            return view.phrase(intent.key, topic=topic_of(match))
    if is_question(text) or (AND.match(text) and not found):
        return to_question(view, text) or fallback_of(view, found)
    return fallback_of(view, found, "") or to_statement(view, text)


def fallback_of(view: View, found: object, other: str = "unknown") -> str:
    """Return the intent's own phrase if it has one, else a deflection."""
    intent = found[0] if isinstance(found, tuple) else None
    if intent is not None and intent.say:
        return view.phrase(intent.key, topic=topic_of(found[1]))  # type: ignore[index]
    return view.phrase(other) if other else ""


def to_statement(view: View, text: str) -> str:
    """Return a reaction to a statement: to a fact in it, from what is known, or a plain one."""
    if is_gibberish(text):
        return view.phrase("gibberish")
    facts = facts_in(view.language.plain(text), view.language)
    for key, phrase in (("name", "met"), ("home", "from_there"), ("likes", "liked")):
        if key in facts:
            return view.phrase(phrase, value=facts[key])
    found = view.rank(text, ("self", "lore"), SURE)
    if found and len(view.language.content(text)) > 1 and not view.repeats(found[0].passage.text):
        return told_fact(view, found[0].passage.text, found[0].passage.source)
    if facts:
        return view.phrase("noted")
    said = [e for e in view.character.examples if not view.was_said(e) and is_remark(e)]
    if said and view.seed % 4 == 0:
        return ended(rotated(said, view.seed)[0])
    return view.phrase("remark")


def is_remark(example: str) -> bool:
    """Return True for a persona's example that fits anywhere: short, and no question."""
    return not example.endswith("?") and len(words(example)) <= 8


def is_gibberish(text: str) -> bool:
    """Return True for letters that make no words."""
    found = [word for word in words(text) if LATIN.search(word)]
    odd = [
        w
        for w in found
        if len(w) > 2 and (not VOWELS.search(w) or re.search(r"(.)\1{3}|[^aeiouyäöü\W\d]{5}", w))
    ]
    return bool(found) and 2 * len(odd) >= len(found)
