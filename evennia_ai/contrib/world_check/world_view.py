"""The rows of a character's world as Evennia's objects have them now; nothing here writes."""

from collections.abc import Iterable
from typing import Any

from evennia.commands.default.building import CmdTunnel
from evennia.objects.objects import DefaultCharacter, DefaultExit, DefaultRoom

from evennia_ai.contrib.world_check.facts import Names, WorldFact, WorldView, own_rows
from evennia_ai.errors import NothingDone
from evennia_ai.game.perception import (
    can_hear,
    display_name,
    find_objects,
    has_short_description,
    known_names,
    objects_named_in,
)
from evennia_ai.game.wares import trade_of
from evennia_ai.ports import ToolContext
from evennia_ai.ports.world import WorldClock

COMPASS = tuple(name for name, _back in CmdTunnel.directions.values() if len(name) > len("down"))


def rows_now(context: ToolContext, words: str, clock: WorldClock) -> list[WorldFact]:
    """Return what is so around a character, as far as it may matter to some words."""
    me, place = context.character, context.character.location
    seen = [o for o in place.contents if o is not me and o.access(me, "view")] if place else []
    exits = [obj for obj in seen if isinstance(obj, DefaultExit) and obj.destination]
    people = [o for o in seen if can_hear(o) or isinstance(o, DefaultCharacter)]
    askers = find_objects(context.askers)
    asker = askers[0] if len(askers) == 1 else None
    theirs = [obj for obj in asker.contents if obj.access(me, "view")] if asker else []
    others = [
        obj for obj in objects_named_in(words) if obj not in (me, *seen, *theirs, *me.contents)
    ]
    kinds = (DefaultCharacter, DefaultExit, DefaultRoom)
    things = [o for o in (*seen, *others) if not isinstance(o, kinds) and o not in people]
    absent = [o for o in others if isinstance(o, DefaultCharacter) and not has_short_description(o)]
    has_24_hours = clock.units["day"] == 24 * clock.units["hour"]
    return own_rows(
        WorldView(
            exits=[(names(obj, me), display_name(obj.destination, me)) for obj in exits],
            directions=COMPASS,
            people=[names(obj, me) for obj in people],
            absent=[names(obj, me) for obj in absent],
            carried=[names(obj, me) for obj in me.contents],
            asker_carries=[names(obj, me) for obj in theirs],
            elsewhere=[names(obj, me) for obj in things],
            prices=list(prices(me, asker)),
            minute=clock.minute() if has_24_hours else None,
            asker=display_name(asker, me) if asker else "",
        )
    )


def names(obj: Any, looker: Any) -> Names:
    """Return what an object may be called, first as the looker sees it."""
    shown = display_name(obj, looker)
    return tuple(dict.fromkeys([shown, *known_names(obj, looker)]))


def prices(keeper: Any, customer: Any) -> Iterable[tuple[Names, int, str]]:
    """Yield what a keeper's wares cost, with the price in words."""
    try:
        trade = trade_of(keeper)
    except NothingDone:
        return
    for item in keeper.contents:
        price = trade.price(keeper, item, customer)
        if price is not None:
            yield names(item, keeper), price, trade.words(price)
