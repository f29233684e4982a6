"""Keeps promises without a model: walks to appointments, waits, and tells what came of them.

What is to be done follows from the records, the world's time and where everybody is, so that a
restart goes on from there. What is told, and that it was told, is one transaction.
"""

import math
import re
from collections import deque
from typing import Any

from evennia_ai.contrib.promises.promise_records import OPEN, THEIRS, Promises, appointments_of
from evennia_ai.game.perception import display_name, find_object, known_names, listening_objects
from evennia_ai.game.texts import text
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.texts import plain_words
from evennia_ai.signals import deed_done
from evennia_ai.store.attributes import write_attribute
from evennia_ai.store.names import own_name
from evennia_ai.tools.speech import LOOK_S, keep_looking, tell_once

FOLLOWING = "ai_following"
MOST_PLACES = 300  # that a search for a way looks at
STEP_S = 2.0  # between two exits
EARLY_S, AHEAD_S = 300.0, 60.0  # of the world, and of real time for thirty exits
KEPT, MISSED, FAILED, REMINDED, ASKED = "kept", "missed", "failed", "reminded", "asked"
DEEDS = {KEPT: ("promise kept", "came"), MISSED: ("promise broken", "did not come")}  # of the other


def attend(character: Any) -> None:
    """Look at a character soon, and from then on while something is to do or to tell."""
    keep_looking(character, Promises.kind, look_at)


def look_at(character: Any) -> float | None:
    """Do what a character must do now; returns the seconds until the next look."""
    close_late(character)
    tell_those_here(character)
    wait_s = go(character)
    return wait_s if Promises.of(character).active() else None


def close_late(character: Any) -> None:
    """End the appointments to which nobody came, or the character did not."""
    for record in appointments_of(character):
        if now_of(character) > record["until"]:
            was_there = record["id"] in (character.ndb.ai_waited or ())
            state, reason = (MISSED, "") if was_there else (FAILED, record["reason"] or "held_up")
            tell_deed(character, record, state)
            Promises.of(character).update(record["id"], state=state, reason=reason)


def tell_those_here(character: Any) -> None:
    """Tell those who are with a character what it has to tell them, each thing once."""
    if not character.ai_mind.status.may_think() or character.ai_mind.sleep.is_asleep:
        return
    people = {person.dbref: person for person in listening_objects(character)}
    for record in Promises.of(character).active():
        person = people.get(record["entity"])
        end = state_when_told(character, record) if person else None
        if end and character.dbref not in getattr(person, "muted_assistants", ()):
            tell_deed(character, record, end)
            values = {"name": display_name(person, character), "what": f'"{record["content"]}"'}
            if end == FAILED:
                values["reason"] = text(f"promise_{record['reason']}")
            words = text("promise_here" if end == KEPT else f"promise_{end}", **values)
            tell_once(Promises.of(character), record, words, person, state=end, told=True)


def state_when_told(character: Any, record: Record) -> str | None:
    """Return the state of a record once the other, who is here, is told of it; None if not due."""
    now = now_of(character)
    if record["state"] != OPEN:
        return None if record["told"] else str(record["state"])
    if record["place"]:
        is_time = begins(character, record) <= now <= record["until"]
        return KEPT if is_time and character.location is place_of(record) else None
    end = ASKED if record["kind"] == THEIRS else REMINDED
    return end if now >= record["due"] else None


def tell_deed(character: Any, record: Record, state: str) -> None:
    """Tell other extensions whether the other came, before that is noted; its key counts once."""
    if state in DEEDS and record["place"] and record["state"] == OPEN:
        kind, did = DEEDS[state]
        deed_done.send_robust(
            character.assistant,
            character=character,
            person=record["entity"],
            kind=kind,
            reason=f"{did} where you had agreed to meet",
            key=f"promise {record['id']}",
            audience=None if record["audience"] is None else frozenset(record["audience"]),
        )


def go(character: Any) -> float:
    """Go a step to where the character must be now; returns the seconds until the next look.

    That is the place of the next appointment that is not late, else of the last that it can still
    wait for, else the place from which it came.
    """
    now, store, open_ones = now_of(character), Promises.of(character), appointments_of(character)
    begun = [record for record in open_ones if begins(character, record) <= now]
    record = next((item for item in begun if now < item["due"]), begun[-1] if begun else None)
    left = next((item for item in store.active() if item["back"]), None)
    if record:
        goal = place_of(record)
    elif left is None:
        nearest = min((begins(character, item) for item in open_ones), default=math.inf)
        return wait_until(character, nearest)
    elif is_met(character, left):
        return LOOK_S
    else:
        goal = find_object(left["back"])
    path = ways_from(character).get(goal)
    wake(character)
    if record and path == []:  # somebody may come unnoticed, as by a builder's command
        character.ndb.ai_waited = {*(character.ndb.ai_waited or ()), record["id"]}
        return wait_until(character, record["until"] + pace_of(character))
    if left and not (record or path):
        store.update(left["id"], back="")
        return STEP_S
    if not character.ai_mind.status.may_think() or character.ai_mind.ticker.is_ticking:
        return STEP_S
    if record and path and left is None:
        store.update(record["id"], back=character.location.dbref)
    if path and walk(character, path[0]):
        return STEP_S
    if record:
        store.update(record["id"], reason="no_way")
    return LOOK_S


def is_met(character: Any, record: Record) -> bool:
    """Return True while a character is at an appointment with the other."""
    is_with = any(who.dbref == record["entity"] for who in listening_objects(character))
    return is_with and record["state"] == KEPT and now_of(character) < record["until"]


def begins(character: Any, record: Record) -> float:
    """Return when a character sets out for an appointment, in the world's seconds."""
    ahead = EARLY_S + AHEAD_S * pace_of(character)
    return float(record["due"] - min(ahead, record["lead"] / 2))


def wait_until(character: Any, at: float) -> float:
    """Return the seconds until a time of the world, or until the clock may have been set."""
    return min(max((at - now_of(character)) / pace_of(character), 0.5), LOOK_S)


def now_of(character: Any) -> float:
    return float(character.ai_mind.services.world_clock.seconds())


def pace_of(character: Any) -> float:
    return float(character.ai_mind.services.world_clock.pace) or 1.0


def wake(character: Any) -> None:
    if character.ai_mind.status.may_think() and character.ai_mind.sleep.is_asleep:
        character.ai_mind.sleep.wake_up("it has an appointment")


# --- the way to a place --------------------------------------------------------------------------


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


def walk(character: Any, way: Any) -> bool:
    """Go through an exit, and follow nobody any more; returns False if that fails."""
    start = character.location
    if character.attributes.has(FOLLOWING):
        write_attribute(character, FOLLOWING, None)
    way.at_traverse(character, way.destination)
    return character.location is not start


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
    named = named or (by_last if len(by_last) == 1 else [])
    words, place = max(named, key=lambda item: len(item[0]), default=("", None))
    return place, words


def found_in(text: str, name: str) -> str:
    """Return the words of a text that are a name, "" for none."""
    words = plain_words(name)
    if not words or words[0] not in text.casefold():
        return ""
    match = re.search(r"\b" + r"\W+".join(words) + r"\b", text, re.IGNORECASE)
    return match[0] if match else ""


def place_of(record: Record) -> Any | None:
    """Return the place of an appointment, None if that is another one in a rebuilt world."""
    place = find_object(record["place"])
    return place if place is not None and own_name(place) == record["where"] else None
