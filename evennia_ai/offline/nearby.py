"""Answers about people and things that are here and that a question names."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re

from evennia_ai.offline.name_matching import match_name
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.understanding import Reading
from evennia_ai.offline.words import being, capital, content, with_article

WHO_IS_THAT = re.compile(
    r"\bwho(?:'s| is) (?:the|that|this) (?P<who>(?:[\w-]+ ){0,2}(?:man|woman|girl|boy|fellow|lady|stranger|person|guy|child))(?: (?:over there|there|here|by|at|in|with|behind|on) ?.*)?\W*$",
    re.I,
)


def person_here(view: RequestView, reading: Reading) -> str:
    """Answer "Is Ben here?" and "Who is Ben?"; "" if the question is another."""
    who_is = re.match(r"who(?:'s| is) ([\w ]+?)\W*$", reading.text, re.I)
    stranger_here = who_is and match_name(who_is[1], view.scene.situation.people, loose=False)
    if stranger_here and not view.rank(who_is[1] if who_is else ""):
        return view.phrase("who_stranger", other=stranger_here)
    found = re.search(
        r"^(?:and )?(?:(?:is|have you seen) (\w[\w ]*?)(?: here| around| about| in| with us| with you| present| nearby)|(?:where is|where's) (\w[\w ]*?))\W*$",
        reading.text,
        re.I,
    )
    if found and "'s" in (found[1] or found[2]):
        return ""
    stranger_seen = WHO_IS_THAT.search(reading.text)
    if stranger_seen:
        return described_person(view, stranger_seen["who"])
    asked = (found[1] or found[2]).strip() if found else ""
    name = match_name(asked, view.scene.situation.people, loose=False)
    if name and set(content(asked)) <= set(content(name)):
        return f"{capital(name)} is right here."
    stranger = found and found[1] and asked[:1].isupper() and not view.rank(asked)
    return view.phrase("not_here", other=asked) if stranger else ""


def described_person(view: RequestView, description: str) -> str:
    """Answer who "the old man" is, by a word of a name or as the only other here."""
    others = [n for n in view.scene.situation.people if n not in {view.speaker, view.name}]
    name = match_name(description, others, loose=False) or (others[0] if len(others) == 1 else "")
    if not name:
        return ""
    known = [item.passage.text for item in view.rank(name) if item.passage.source != "seen"]
    return " ".join([f"That is {name}.", *known[:1]])


def seen(view: RequestView, reading: Reading) -> str:
    """Return a line about a named thing that lies here or is carried; "" if none."""
    situation = view.scene.situation
    carried = match_name(reading.topic, situation.carrying, loose=False)
    if carried:
        return view.phrase("held", item=with_article(carried))
    lying = match_name(reading.topic, situation.things, loose=False)
    return lies_here(view, lying) if lying else ""


def lies_here(view: RequestView, name: str) -> str:
    """Return the line that a thing is here."""
    return view.phrase("lies_here", item=with_article(name), be=being(name))
