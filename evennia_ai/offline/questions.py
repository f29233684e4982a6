"""Answers to questions from what was told and what is known, or a deflection."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evennia_ai.offline import recall
from evennia_ai.offline.name_matching import match_name
from evennia_ai.offline.passages import holds
from evennia_ai.offline.recall import thing
from evennia_ai.offline.view import View
from evennia_ai.offline.words import joined, words

ABOUT_YOU = re.compile(
    r"\b(?:you|your|yourself|you're|du|dir|dich|dein\w*|ihr|euch|euer\w*|eure\w*)\b", re.I
)
YES_OR_NO = re.compile(
    r"(?:and |so |but )?(?:is|are|was|were|does|will|has|can|ist|sind|hat|war)\b", re.I
)
WHOLE = 0.99  # cover of a line that names nothing else
LEAST = 4  # words of a question that points back at earlier lines
KNOWN = ("self", "want", "lore", "seen", "saw", "note")


def to_question(view: View, text: str) -> str:
    """Answer a question from what was told, else from what is known, else by a deflection."""
    told = recall.about_me(view, text) or recall.about_other(view, text)
    if not told and len(words(text)) >= LEAST and not view.language.content(text):
        told = recall.pointed_at(view, text)
    known = told or knowledge(view, text, stale=False) or recall.about_anybody(view, text)
    known = known or looked_at(view, text) or knowledge(view, text)
    if known:
        return known
    key = "unknown_self" if ABOUT_YOU.search(text) else "unknown"
    unsure = YES_OR_NO.match(text) and key == "unknown" and not recall.named_other(view, text)
    return view.phrase("unknown_yesno" if unsure else key)


def knowledge(view: View, text: str, sources: Sequence[str] = (), *, stale: bool = True) -> str:
    """Return the best thing that is known about a line and was not said lately; "" if none.

    If all that fits was said, say that there is no more; the same again only to the same question.
    """
    found = view.rank(text, sources or KNOWN)
    if not found:
        return ""
    # A little below the best is as good, if the best was said.
    near = [
        item for item in found if item.score * item.cover > found[0].score * found[0].cover * 0.5
    ]
    fresh = next((item for item in near if not view.repeats(item.passage.text)), None)
    if fresh is not None:
        return told_fact(view, fresh.passage.text, fresh.passage.source)
    if not stale:
        return ""
    if asked_before(view, text) or holds(text, view.language) or found[0].cover >= WHOLE:
        return view.phrase("again", fact=joined(found[0].passage.text))
    return view.phrase("no_more")


def told_fact(view: View, text: str, source: str) -> str:
    """Return a known sentence as the character says it."""
    third = source == "self" and re.match(rf"(?:{re.escape(view.name)}|He|She|Er|Sie)\b", text)
    return view.phrase("folk_say", fact=text) if third else text


def asked_before(view: View, text: str) -> bool:
    """Return True if this speaker asked the same before."""
    plain = words(text)
    said = [s for s in view.transcript.heard if s.speaker == view.speaker]
    return sum(words(view.language.plain(s.text)) == plain for s in said) > 1


def looked_at(view: View, text: str) -> str:
    """Return that a thing that the question names is here; "" if it names none."""
    situation = view.scene.situation
    carried = match_name(text, situation.carrying, loose=False)
    lying = match_name(text, situation.things, loose=False)
    if not (carried or lying) or not re.search(
        r"\b(?:where|is there|are there|do you see|here|wo|gibt es|siehst)\b", text, re.I
    ):
        return ""
    key = "have" if carried else "is_here"
    return view.phrase(key, item=thing(view, carried or lying))
