"""Answers about what is here: people, things, ways and the time."""

from __future__ import annotations

from collections.abc import Sequence

from evennia_ai.offline import recall
from evennia_ai.offline.knowledge import KNOWN, at_hand, known
from evennia_ai.offline.name_matching import exit_parts, kinds_of, match_exit, match_name
from evennia_ai.offline.view import View
from evennia_ai.offline.words import words

MOST_LISTED = 5
FEW = 4  # words of a topic that names a thing
ALL_THINGS, ALL_WAYS = ["things"], (["exits"], ["ways"], ["doors"])


def where_is(view: View, text: str, topic: str) -> str:
    """Answer where somebody or something is."""
    if set(words(topic)) & set(words(view.name)):
        return view.phrase("it_is_me")
    here = match_name(topic, view.situation.people, loose=False)
    if here:
        return view.phrase("right_here", other=view.called(here))
    return known(view, text) or view.phrase("not_here", other=topic)


def who_here(view: View, text: str, topic: str) -> str:
    """Answer who is here."""
    return view.listing("here", "alone", map(view.called, view.others), "people")


def what_here(view: View, text: str, topic: str) -> str:
    """Answer what lies here."""
    things = map(view.thing, view.situation.things[:MOST_LISTED])
    return view.listing("things_here", "things_none", things)


def carry(view: View, text: str, topic: str) -> str:
    """Answer what the character carries."""
    things = map(view.thing, view.situation.carrying[:MOST_LISTED])
    return view.listing("carrying", "carrying_none", things)


def is_there(view: View, text: str, topic: str, sources: Sequence[str] = KNOWN) -> str:
    """Answer whether the character has something, or whether it or a way to it is here."""
    way = match_exit(topic, view.situation.exits)
    found = recall.about_me(view, text) or (way and view.phrase("exits", exits=exit_parts(way)[0]))
    found = found or at_hand(view, topic) or known(view, text, sources)
    return found or (view.phrase("have_none", thing=topic) if 0 < len(words(topic)) < FEW else "")


def menu(view: View, text: str, topic: str) -> str:
    """Answer what there is to eat or drink, from what is known and what is here."""
    kinds = kinds_of(text) & {"food", "drink"} or {"food", "drink"}
    known_of = [p.text for p in view.passages if p.source in {"self", "lore"}]
    served = [t for t in known_of if t != view.character.identity and servings(t, kinds)]
    if served:
        best = sorted(served, key=lambda t: -servings(t, kinds))
        return next((t for t in best if not view.repeats(t)), view.phrase("no_more"))
    here = (*view.situation.carrying, *view.situation.things)
    named = [view.thing(name) for name in here if servings(name, kinds)]
    return view.listing("things_here", "menu", named)


def servings(text: str, kinds: set[str]) -> int:
    """Return how many words of a text are food or drink; an empty vessel is neither."""
    found = map(kinds_of, words(text))
    return sum(bool(of_word & kinds) and "vessel" not in of_word for of_word in found)


def exits(view: View, text: str, topic: str) -> str:
    """Answer where a way leads, or which ways there are."""
    found = match_exit(topic, view.situation.exits)
    if topic and not found:
        return known(view, text)
    if not topic:
        names = [exit_parts(name)[0] for name in view.situation.exits]
        return view.listing("exits", "exits_none", names, "exits")
    name, leads = exit_parts(found)
    return known(view, text, ("saw", "lore")) or view.phrase("exit", place=leads or name)


def clock(view: View, text: str, topic: str) -> str:
    """Answer what time it is."""
    now = view.transcript.time
    return view.phrase("time", time=now) if now else view.phrase("time_none")


def count(view: View, text: str, topic: str) -> str:
    """Count what is here, or carried, of a kind."""
    now = view.situation
    named = [view.thing(name) for name in (*now.things, *now.carrying)
             if match_name(topic, [name], loose=False)]  # fmt: skip
    if words(topic) == ALL_THINGS:
        named = [view.thing(name) for name in now.carrying]
    if words(topic) in ALL_WAYS:
        named = [name.replace(" (to ", " to ").rstrip(")") for name in now.exits]
    return view.listing("count", "", named, number=number(view, len(named)))


def count_people(view: View, text: str, topic: str) -> str:
    """Count the people here."""
    people = [view.name, view.who, *(view.called(name) for name in view.others)]
    return view.listing("number_of_us", "", people, "people", number=number(view, len(people)))


def number(view: View, value: int) -> str:
    """Return a small number as a word."""
    numbers = view.language.data.get("numbers", ())
    return numbers[value] if value < len(numbers) else str(value)
