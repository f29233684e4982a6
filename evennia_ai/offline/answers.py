"""One answer to one sentence: by its intent, else by retrieval, else a deflection."""

from __future__ import annotations

import re

from evennia_ai.offline import recall
from evennia_ai.offline.handlers import HANDLERS, at_hand
from evennia_ai.offline.languages import Intent
from evennia_ai.offline.passages import SURE, facts_in, is_question
from evennia_ai.offline.view import View
from evennia_ai.offline.words import ended, rotated, words

LETTER, VOWELS = re.compile(r"[a-zA-Z]"), re.compile(r"[aeiouyäöü]", re.I)
NO_WORD = re.compile(r"(.)\1{3}|[^aeiouyäöü\W\d]{5}")
LEAST = 4  # words of a question that points back at earlier lines
FEW = 8  # words of an example that fits anywhere


def answer(view: View, text: str) -> str:
    """Return the answer to one sentence."""
    intent, topic = view.language.intent_of(text)
    if not view.language.full:
        return view.phrase(intent.key or "other")
    handler = HANDLERS.get(intent.key)
    said = handler(view, text, topic) if handler else sought(view, intent, text)
    if said or intent.say:
        return said or view.phrase(intent.key, topic=topic)
    asks = is_question(text, view.language) or view.language.finds("follow_up", text)
    return to_question(view, text) if asks else to_statement(view, text)


def sought(view: View, intent: Intent, text: str) -> str:
    """Return a fact of the persona or another known passage for an intent, "" if none."""
    own = (fact for fact in view.character.facts if intent.facts.search(fact))
    fresh = next((fact for fact in own if not view.repeats(fact)), "")
    if fresh or not intent.seek:
        return view.told_fact(fresh, "self")
    asks = is_question(text, view.language)
    return recall.about_me(view, text) or view.known(text, ("self", "lore"), stale=asks)


def to_question(view: View, text: str) -> str:
    """Return what was told about a question, else what is known, else a deflection."""
    told = recall.about_me(view, text) or recall.about_other(view, text)
    if not told and len(words(text)) >= LEAST and not view.language.content(text):
        told = recall.pointed_at(view, text)
    told = (
        told
        or view.known(text, stale=False)
        or recall.first_quoted(view, recall.matching(view, text, view.told, SURE))
    )
    if not told and view.language.finds("asks_place", text):
        told = at_hand(view, text, loose=False)
    return told or view.known(text) or deflection(view, text)


def deflection(view: View, text: str) -> str:
    """Return a phrase of a character that does not know or does not tell the answer."""
    if view.language.finds("about_you", text):
        return view.phrase("unknown_self")
    unsure = view.language.finds("yes_or_no", text) and not recall.named_other(view, text)
    return view.phrase("unknown_yesno" if unsure else "unknown")


def to_statement(view: View, text: str) -> str:
    """Return a reaction to a statement: to its fact, a known passage, or a remark."""
    if is_gibberish(text):
        return view.phrase("gibberish")
    facts = facts_in(text, view.language)
    for key, phrase in (("name", "met"), ("home", "from_there"), ("likes", "liked")):
        if key in facts:
            return view.phrase(phrase, value=facts[key])
    best = view.rank(text, ("self", "lore"), SURE)[:1]
    if best and len(view.language.content(text)) > 1 and not view.repeats(best[0].passage.text):
        return view.told_fact(best[0].passage.text, best[0].passage.source)
    if facts:
        return view.phrase("noted")
    short = [e for e in view.character.examples if not e.endswith("?") and len(words(e)) <= FEW]
    fresh = [example for example in short if not view.was_said(example)]
    if fresh and view.seed % 4 == 0:
        return ended(rotated(fresh, view.seed)[0])
    return view.phrase("remark")


def is_gibberish(text: str) -> bool:
    """Return True if at least half of the words are no words of a language."""
    found = [word for word in words(text) if LETTER.search(word)]
    long = (word for word in found if len(word) > 2)
    odd = [word for word in long if not VOWELS.search(word) or NO_WORD.search(word)]
    return bool(found) and 2 * len(odd) >= len(found)
