"""The way of a character to a place: through exits whose locks let it pass."""

import re
from collections import deque
from typing import Any

from evennia.objects.models import ObjectDB

from evennia_ai.game.perception import find_object, known_names
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.texts import plain_words
from evennia_ai.store.names import own_name

MOST_PLACES = 300  # that a search looks at


def ways_from(character: Any) -> dict[Any, list[Any]]:
    """Return the exits to each place that the character can reach, the nearest places first."""
    here = character.location
    ways: dict[Any, list[Any]] = {here: []} if here else {}
    waiting = deque(ways)
    while waiting and len(ways) < MOST_PLACES:
        place = waiting.popleft()
        for way in place.exits:
            there = way.destination
            if there and there not in ways and way.access(character, "traverse"):
                ways[there] = [*ways[place], way]
                waiting.append(there)
    return ways


def place_in(text: str, character: Any) -> tuple[Any, str]:
    """Return the reachable place that a text names, and the words that do; None for none.

    They are its name, the last word of it if no other has that, an exit to it with "the", or none
    for "here".
    """
    named, by_last = list[tuple[str, Any]](), list[tuple[str, Any]]()
    for place, path in ways_from(character).items():
        names = known_names(place, character)
        ways = [f"the {n}" for way in path for n in known_names(way, character) if len(path) == 1]
        if spoken := list(filter(None, (found_in(text, name) for name in (*names, *ways)))):
            named.append((max(spoken, key=len), place))
        elif last := found_in(text, names[0].split(" ")[-1]):
            by_last.append((last, place))
    if not named and (found_in(text, "here") or found_in(text, "hier")):
        return character.location, ""
    if not named and len(by_last) == 1:
        named = by_last
    words, place = max(named, key=lambda item: len(item[0]), default=("", None))
    return place, words


def found_in(text: str, name: str) -> str:
    """Return the words of a text that are a name, "" for none."""
    words = plain_words(name)
    if not words or f" {' '.join(words)} " not in f" {' '.join(plain_words(text))} ":
        return ""
    pattern = r"\W+".join(map(re.escape, words))
    match = re.search(rf"\b{pattern}\b", text, re.IGNORECASE)
    return match[0] if match else ""


def place_of(record: Record) -> Any | None:
    """Return the place of an appointment, also in a rebuilt world; None if it is gone."""
    place = find_object(record["place"])
    if place is not None and own_name(place) == record["where"]:
        return place
    rooms = ObjectDB.objects.filter(db_key__iexact=record["where"], db_location=None)[:2]
    return rooms[0] if len(rooms) == 1 else None
