"""Answers about what is here: people, things, ways and the time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evennia_ai.offline import recall
from evennia_ai.offline.name_matching import exit_parts, kinds_of, match_exit, match_name
from evennia_ai.offline.questions import knowledge, looked_at, to_question
from evennia_ai.offline.recall import thing
from evennia_ai.offline.view import View
from evennia_ai.offline.words import words

Match = re.Match[str]


def topic_of(match: Match) -> str:
    """Return the first named group of a match that holds something."""
    return next((value for value in match.groups() if value), "").strip(" ?.!")


def where_is(view: View, text: str, match: Match) -> str:
    """Answer where somebody or something is."""
    topic = topic_of(match)
    if set(words(topic)) & set(words(view.name)):
        return view.phrase("it_is_me")
    here = match_name(topic, view.scene.situation.people, loose=False)
    if here:
        return view.phrase("right_here", other=view.called(here))
    return knowledge(view, text) or looked_at(view, text) or view.phrase("not_here", other=topic)


def who_here(view: View, text: str, match: Match) -> str:
    """Answer who is here."""
    known = knowledge(view, text, ("note",)) if view.passages else ""
    people = [view.called(name) for name in view.others]
    return known or (
        view.phrase("here", people=view.listed(people)) if people else view.phrase("alone")
    )


def what_here(view: View, text: str, match: Match) -> str:
    """Answer what lies here."""
    return list_things(view, view.scene.situation.things, "things_here", "things_none")


def carry(view: View, text: str, match: Match) -> str:
    """Answer what the character carries."""
    return list_things(view, view.scene.situation.carrying, "carrying", "carrying_none")


def list_things(view: View, names: Sequence[str], some: str, none: str) -> str:
    """Return the phrase ``some`` with the first things, or the phrase ``none`` without any."""
    things = [thing(view, name) for name in names[:5]]
    return view.phrase(some, things=view.listed(things)) if things else view.phrase(none)


def have(view: View, text: str, match: Match) -> str:
    """Answer whether the character has something."""
    topic, situation = topic_of(match), view.scene.situation
    for key, names in (("have", situation.carrying), ("is_here", situation.things)):
        named = match_name(topic, names) if topic else ""
        if named:
            return view.phrase(key, item=thing(view, named))
    known = knowledge(view, text, ("self", "lore"))
    return known or (view.phrase("have_none", thing=topic) if 0 < len(words(topic)) < 4 else "")


def menu(view: View, text: str, match: Match) -> str:
    """Answer what there is to eat or drink, from what is known and what is here."""
    kinds = kinds_of(text) & {"food", "drink"} or {"food", "drink"}
    served = [
        p.text
        for p in view.passages
        if p.source in {"self", "lore"} and p.text != view.character.identity
    ]
    served = sorted(
        (t for t in served if kinds_of(t) & kinds), key=lambda t: -count_kinds(t, kinds)
    )
    if served:
        fresh = [t for t in served if not view.repeats(t)]
        return fresh[0] if fresh else view.phrase("no_more")
    situation = view.scene.situation
    named = [name for name in (*situation.carrying, *situation.things) if kinds_of(name) & kinds]
    return (
        view.phrase("things_here", things=view.listed(thing(view, n) for n in named))
        if named
        else ""
    )


def count_kinds(text: str, kinds: set[str]) -> int:
    """Return how many words of a text are of these kinds."""
    return sum(bool(kinds_of(word) & kinds) for word in words(text))


def exits(view: View, text: str, match: Match) -> str:
    """Answer where a way leads, or which ways there are."""
    ways, topic = view.scene.situation.exits, topic_of(match)
    found = match_exit(topic, ways) if topic else ""
    if found:
        name, leads = exit_parts(found)
        known = knowledge(view, text, ("saw", "lore"))
        return known or view.phrase("exit", place=leads or name)
    if topic:
        return knowledge(view, text)
    return every_exit(view)


def every_exit(view: View) -> str:
    """Return all ways from here as one sentence."""
    named = [exit_parts(name)[0] for name in view.scene.situation.exits]
    return view.phrase("exits", exits=view.listed(named)) if named else view.phrase("exits_none")


def is_there(view: View, text: str, match: Match) -> str:
    """Answer whether something is here, or there is a way to it."""
    told = recall.about_me(view, text)
    if told:
        return told
    topic, ways = topic_of(match), view.scene.situation.exits
    found = match_exit(topic, ways) if topic else ""
    if found:
        return view.phrase("exits", exits=exit_parts(found)[0])
    named = match_name(topic, (*view.scene.situation.things, *view.scene.situation.carrying))
    if named:
        return view.phrase("is_here", item=thing(view, named))
    return knowledge(view, text) or (
        view.phrase("have_none", thing=topic) if len(words(topic)) < 3 else ""
    )


def way_to(view: View, text: str, match: Match) -> str:
    """Answer how to get somewhere."""
    found = match_exit(topic_of(match), view.scene.situation.exits)
    if found:
        name, leads = exit_parts(found)
        return (
            view.phrase("exits", exits=name)
            if not leads
            else view.phrase("exits", exits=f"{name} ({leads})")
        )
    return knowledge(view, text)


def clock(view: View, text: str, match: Match) -> str:
    """Answer what time it is."""
    now = view.transcript.time
    return view.phrase("time", time=now) if now else view.phrase("time_none")


def count(view: View, text: str, match: Match) -> str:
    """Count what is here, or carried, of a kind."""
    topic, now = topic_of(match), view.scene.situation
    ways = [name.replace(" (to ", " to ").rstrip(")") for name in now.exits]
    named = [n for n in (*now.things, *now.carrying) if match_name(topic, [n], loose=False)]
    named = list(now.carrying) if words(topic) == ["things"] else named
    named = (
        ways
        if words(topic) in (["exits"], ["ways"], ["doors"])
        else [thing(view, n) for n in named]
    )
    if named:
        return view.phrase("count", number=number(view, len(named)), things=view.listed(named))
    return to_question(view, text)


def count_people(view: View, text: str, match: Match) -> str:
    """Count the people here."""
    people = [view.name, view.who, *(view.called(name) for name in view.others)]
    return view.phrase("number_of_us", number=number(view, len(people)), people=view.listed(people))


def number(view: View, value: int) -> str:
    """Return a small number as a word."""
    known = view.language.data.get("numbers", ())
    return known[value] if value < len(known) else str(value)
