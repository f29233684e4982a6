"""Doors: characters open, close, lock and unlock them.

A door is an exit with the Attribute ``door``, or one of the contrib ``simpledoor``. It is closed
while its lock ``traverse`` is ``false()``, and locked while ``door`` is "locked". Its locks
``open``, ``close``, ``lock`` and ``unlock`` say who may do that; without one everybody may.
"""

from collections.abc import Iterable
from typing import Any, Literal

from evennia.objects.objects import DefaultExit
from pydantic import BaseModel

from evennia_ai.errors import NothingDone
from evennia_ai.extension import Extension, Tool, tool
from evennia_ai.game.perception import asked_for, find_named, name_in_act
from evennia_ai.ports import ToolContext
from evennia_ai.store.attributes import all_or_nothing
from evennia_ai.tools.permission import object_lets
from evennia_ai.tools.world import around, names, show

OPEN, CLOSED, LOCKED = "open", "closed", "locked"
SHUT = "traverse:false()"
# What each act takes a door from, and to, and the line that the room reads.
ACTS = {
    "open": (CLOSED, OPEN, "opens"),
    "close": (OPEN, CLOSED, "closes"),
    "lock": (CLOSED, LOCKED, "locks"),
    "unlock": (LOCKED, CLOSED, "unlocks"),
}


class DoorArguments(BaseModel):
    """A door, and what to do with it."""

    door: str
    act: Literal["open", "close", "lock", "unlock"]


def is_door(obj: Any) -> bool:
    """Return True for an exit that can be closed."""
    return isinstance(obj, DefaultExit) and (obj.attributes.has("door") or hasattr(obj, "setlock"))


def doors_here(context: ToolContext) -> list[Any]:
    return list(filter(is_door, around(context.character)))


@tool("use_door", safe_to_retry=True, needed=lambda context: bool(doors_here(context)))
def use_door(context: ToolContext, arguments: DoorArguments) -> str:
    """Open, close, lock or unlock a door here."""
    character, act, doors = context.character, arguments.act, doors_here(context)
    door = find_named(arguments.door, doors, character)
    if door is None:
        there = names(doors, character) or "none"
        raise NothingDone(f"There is no door {asked_for(arguments.door)}. Doors: {there}.")
    before, after, line = ACTS[act]
    if (state := state_of(door)) != before:
        raise NothingDone(f"It is {state}.")
    if not object_lets(door, context, act, default=True):
        raise NothingDone(f"You cannot {act} it.")
    sides = [side for side in (door, other_side(door)) if side]
    with all_or_nothing(*sides):
        for side in sides:
            change(side, after)
    show(character, line, item=door)
    return f"{name_in_act(door, character)} is {after} now."


def state_of(door: Any) -> str:
    """Return `OPEN`, `CLOSED` or `LOCKED`."""
    if door.db.door == LOCKED:
        return LOCKED
    return CLOSED if door.locks.get("traverse") == SHUT else OPEN


def change(door: Any, state: str) -> None:
    """Give one side of a door a state; an open one has the lock again that it had before."""
    if state_of(door) == OPEN and state != OPEN:
        door.db.door_lock = door.locks.get("traverse")
    door.db.door = state
    door.locks.add((door.db.door_lock or "traverse:true()") if state == OPEN else SHUT)


def other_side(door: Any) -> Any | None:
    """Return the door that leads back, None if there is none."""
    back = door.db.return_exit
    ways = door.destination.contents if door.destination else ()
    there = (obj for obj in ways if is_door(obj) and obj.destination is door.location)
    return back or next(there, None)


class DoorsExtension(Extension):
    """Lets whoever stands at a door use it."""

    name = "doors"
    by_default = False

    def tools(self) -> Iterable[Tool]:
        return (use_door,)


EXTENSION = DoorsExtension
