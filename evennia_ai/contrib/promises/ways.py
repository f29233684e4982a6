"""The way of a character to a place: through exits whose locks let it pass."""

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


def place_in(text: str, character: Any) -> Any | None:
    """Return the reachable place that a text names: by its longest name, its last word, or here.

    The name of an exit is one of where it leads from here.
    """
    spoken, named, by_last = f" {' '.join(plain_words(text))} ", list[tuple[int, Any]](), []
    for place, path in ways_from(character).items():
        called = [place, *path] if len(path) == 1 else [place]
        names = [" ".join(plain_words(n)) for obj in called for n in known_names(obj, character)]
        if lengths := [len(name) for name in names if name and f" {name} " in spoken]:
            named.append((max(lengths), place))
        elif f" {names[0].split(' ')[-1]} " in spoken:
            by_last.append(place)
    if named:
        return max(named, key=lambda item: item[0])[1]
    here = character.location if {"here", "hier"} & {*spoken.split()} else None
    return by_last[0] if len(by_last) == 1 else here


def place_of(record: Record) -> Any | None:
    """Return the place of an appointment, also in a rebuilt world; None if it is gone."""
    place = find_object(record["place"])
    if place is not None and own_name(place) == record["where"]:
        return place
    rooms = ObjectDB.objects.filter(db_key__iexact=record["where"], db_location=None)[:2]
    return rooms[0] if len(rooms) == 1 else None
