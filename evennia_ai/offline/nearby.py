"""Answers about people and things that are here and that a question names."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re

from evennia_ai.offline.name_matching import match_name
from evennia_ai.offline.request_view import RequestView
from evennia_ai.offline.understanding import Reading
from evennia_ai.offline.words import being, capital, content, with_article

WHO_IS = re.compile(r"who(?:'s| is) ([\w ]{1,60}?)\W{0,20}$", re.I)
IS_HERE = re.compile(
    r"^(?:and )?(?:(?:is|have you seen) (\w[\w ]{0,60}?)(?: here| around| about| in| with us| with you| present| nearby)|(?:where is|where's) (\w[\w ]{0,60}?))\W{0,20}$",
    re.I,
)


def person_here(view: RequestView, reading: Reading) -> str:
    """Answer "Is Ben here?" and "Who is Ben?"; "" if the question is another."""
    who_is = WHO_IS.match(reading.text)
    stranger_here = who_is and match_name(who_is[1], view.scene.situation.people, loose=False)
    if who_is and stranger_here and not view.rank(who_is[1]):
        return view.phrase("who_stranger", other=stranger_here)
    found = IS_HERE.search(reading.text)
    asked = (found[1] or found[2]).strip() if found else ""
    if not found or "'s" in asked:
        return ""
    stranger = found[1] and asked[:1].isupper() and not view.rank(asked)
    return right_here(view, asked) or (view.phrase("not_here", other=asked) if stranger else "")


def right_here(view: RequestView, asked: str) -> str:
    """Return the line that a named person is here; "" if none is meant."""
    name = match_name(asked, view.scene.situation.people, loose=False)
    meant = name and set(content(asked)) <= set(content(name))
    return f"{capital(name)} is right here." if meant else ""


def seen(view: RequestView, reading: Reading) -> str:
    """Return a line about a named thing that lies here or is carried; "" if none."""
    situation = view.scene.situation
    carried = match_name(reading.topic, situation.carrying, loose=False)
    if carried:
        return view.phrase("have", item=with_article(carried))
    lying = match_name(reading.topic, situation.things, loose=False)
    return lies_here(view, lying) if lying else ""


def lies_here(view: RequestView, name: str) -> str:
    """Return the line that a thing is here."""
    return view.phrase("lies_here", item=with_article(name), be=being(name))
