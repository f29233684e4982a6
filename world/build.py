"""Build the quarter. A second run changes nothing: existing pieces are found by their tags.

To restore missing pieces, type as the superuser in the game:
``py from world.build import build_world; build_world()``
"""

from typing import Any

from evennia.objects.models import ObjectDB
from evennia.prototypes import spawner
from evennia.utils.search import search_object_by_tag

from world.people import PEOPLE
from world.pieces import TAG_CATEGORY, piece
from world.prototypes import ROOMS, THINGS

COMMON_ROOM = "gull_common"
LIMBO_ID = 2

# The room of each character and thing, by the keys of their prototypes.
PLACES = {
    "gull_mira": "gull_common",
    "gull_hearth": "gull_common",
    "gull_slate": "gull_common",
    "gull_mug": "gull_common",
    "gull_casks": "gull_cellar",
    "gull_arch": "gull_cellar",
    "gull_lantern": "gull_cellar",
    "gull_pump": "gull_yard",
    "gull_bucket": "gull_yard",
    "gull_board": "gull_quay",
    "gull_rope": "gull_quay",
    "gull_brannoc": "gull_smithy",
    "gull_anvil": "gull_smithy",
    "gull_nails": "gull_smithy",
    "gull_oda": "gull_chapel",
    "gull_book": "gull_chapel",
    "gull_candle": "gull_chapel",
}

# Start, target, name and aliases of each exit.
WAYS = [
    ("gull_common", "gull_quay", "quay", ("north", "n", "out", "door")),
    ("gull_quay", "gull_common", "gull", ("south", "s", "in", "tavern")),
    ("gull_common", "gull_yard", "yard", ("east", "e", "passage")),
    ("gull_yard", "gull_common", "gull", ("west", "w", "in", "tavern", "passage")),
    ("gull_common", "gull_cellar", "cellar", ("down", "d", "trap", "ladder")),
    ("gull_cellar", "gull_common", "gull", ("up", "u", "tavern", "ladder")),
    ("gull_quay", "gull_smithy", "smithy", ("east", "e", "forge")),
    ("gull_smithy", "gull_quay", "quay", ("west", "w", "out")),
    ("gull_yard", "gull_smithy", "smithy", ("north", "n", "gap", "forge")),
    ("gull_smithy", "gull_yard", "yard", ("south", "s", "gap")),
    ("gull_quay", "gull_chapel", "chapel", ("up", "u", "steps")),
    ("gull_chapel", "gull_quay", "quay", ("down", "d", "out", "steps")),
]


def build_world() -> int:
    """Build the missing pieces of the quarter; return how many."""
    before = ObjectDB.objects.count()
    refurnish_limbo()
    rooms = {item["prototype_key"]: found_or_spawned(item) for item in ROOMS}
    for start, end, name, aliases in WAYS:
        found_or_spawned(exit_prototype(start, end, name, aliases), rooms[start], rooms[end])
    for item in [*THINGS, *PEOPLE]:
        found_or_spawned(item, rooms[PLACES[item["prototype_key"]]])
    return ObjectDB.objects.count() - before


def refurnish_limbo() -> None:
    """Turn Evennia's Limbo, where every new character starts, into the common room.

    If the game changed room #2 before, Limbo stays, and the common room is a new room.
    """
    limbo = ObjectDB.objects.filter(id=LIMBO_ID, db_key="Limbo").first()
    if limbo is None or find(COMMON_ROOM):
        return
    common = next(item for item in ROOMS if item["prototype_key"] == COMMON_ROOM)
    spawner.batch_update_objects_with_prototype(common, objects=[limbo])


def found_or_spawned(
    prototype: dict[str, Any], location: Any = None, destination: Any = None
) -> Any:
    """Return the piece of this prototype; create it at ``location`` if it is missing."""
    present = find(prototype["prototype_key"])
    if present:
        return present
    place = {"location": location, "home": location, "destination": destination}
    placed = prototype | {name: room for name, room in place.items() if room}
    return spawner.spawn(placed)[0]


def find(prototype_key: str) -> Any:
    """Return the piece with this tag in any place, or None."""
    return next(iter(search_object_by_tag(key=prototype_key, category=TAG_CATEGORY)), None)


def exit_prototype(start: str, end: str, name: str, aliases: tuple[str, ...]) -> dict[str, Any]:
    """Return the prototype of an exit between two rooms, by the rooms' keys."""
    return piece(f"{start}_to_{end}", name, "", aliases) | {
        "typeclass": "evennia.objects.objects.DefaultExit"
    }
