"""What sets triggers off beside talk and fights: the world's clock, and things."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from django.conf import settings
from evennia.commands.cmdset import CmdSet
from evennia.commands.command import Command
from evennia.utils.utils import class_from_module

from evennia_ai.contrib.triggers import triggers
from evennia_ai.contrib.triggers.occasions import Occasion, fits, is_time, minds_near
from evennia_ai.contrib.triggers.parsing import TIME, USED, Trigger, minute_on
from evennia_ai.contrib.triggers.triggers import triggers_of
from evennia_ai.game import perception
from evennia_ai.game.perception import name_in_act
from evennia_ai.ports.world import WorldClock

LONGEST_S = 600.0  # between two looks at a clock that a game may set
MOVES = {"get": "taken", "drop": "dropped"}  # by Evennia's kind of move
DEEDS = {USED: "uses", "taken": "takes", "dropped": "drops"}


def thing_event(thing: Any, kind: str, actor: Any) -> None:
    """Let the characters near somebody look at their triggers: a thing was used by them.

    A game's own command calls it: ``thing_event(bell, "used", caller)``.

    Args:
        thing: an Evennia object.
        kind: "used", "taken" or "dropped".
        actor: the character who did it.
    """
    for mind in minds_near(actor.location):
        if triggers.consider(mind, Occasion(kind, actor, thing=thing)):
            who, what = (name_in_act(obj, mind.who.character) for obj in (actor, thing))
            mind.hearing.notify(f"{who} {DEEDS[kind]} {what}.", triggers.KNOWN, kind, actor, thing)


@contextmanager
def move(
    thing: Any, _to: Any, *_more: Any, move_type: str = "move", **options: Any
) -> Iterator[None]:
    """Note by which exit somebody goes, and look at triggers when a thing was taken or dropped."""
    before, way = thing.location, options.get("exit_obj")
    if way is not None or thing.ndb.ai_way is not None:
        thing.ndb.ai_way = way
    yield
    actor = before if move_type == "drop" else thing.location
    if perception.is_assistant(thing) and thing.location is not before:
        offer_use(thing.assistant)
    if move_type in MOVES and actor is not None and thing.location is not before:
        thing_event(thing, MOVES[move_type], actor)


class CmdUse(Command):
    """use a thing here

    Usage:
      use <thing>
    """

    key = "use"
    locks = "cmd:all()"

    def func(self) -> None:
        """Tell everybody here that the caller uses a thing, and set triggers off."""
        thing = self.caller.search(self.args.strip() or "it")
        if thing is not None:
            place, shown = self.caller.location, {"thing": thing}
            place.msg_contents("$You() $conj(use) {thing}.", from_obj=self.caller, mapping=shown)
            thing_event(thing, USED, self.caller)


def offer_use(script: Any) -> bool:
    """Give the place of a character whose triggers wait for a thing to be used the command ``use``.

    It lasts as long as the place is in memory. A game with a command ``use`` of its own keeps that,
    and calls `thing_event`. Returns True if the place has it.
    """
    place = script.character and script.character.location
    is_wanted = any(item.kind == USED for item in triggers_of(script)) and place is not None
    if not is_wanted or class_from_module(settings.CMDSET_CHARACTER)().get("use"):
        return False
    if not place.ndb.ai_use:
        place.ndb.ai_use = True  # Evennia keeps what has such data in memory
        commands = CmdSet(place, key="use")
        commands.add(CmdUse())
        place.cmdset.add(commands)
    return True


def place_in_time(trigger: Trigger, clock: WorldClock) -> tuple[int, float]:
    """Return how often a time has come in the world, and in how many seconds it comes again."""
    unit, number = trigger.period
    begin = minute_on(trigger.hours[0], clock.day_parts) if unit == "day" else 0
    length, offset = number * clock.units[unit], begin * clock.units["minute"]
    count, since = divmod(clock.seconds() - offset, length)
    return int(count), (length - since) / max(clock.pace, 1e-6)


def look_at_clock(script: Any) -> float | None:
    """Set off what waits for the world's time that has come; returns when to look again."""
    timed = [item for item in triggers_of(script) if item.kind == TIME]
    if not (script.pk and script.character and timed):
        return None
    before, mind, clock = (
        script.ndb.ai_times_counted or {},
        script.mind,
        script.services.world_clock,
    )
    places = {item: place_in_time(item, clock) for item in timed}
    script.ndb.ai_times_counted = {item.number: places[item][0] for item in timed}
    for item, (count, _wait_s) in places.items():
        is_due = count > before.get(item.number, count)
        is_due &= item.period[0] == "day" or is_time(item, clock)
        is_due &= fits(item.place, [script.character.location], script.character)
        if is_due and (item.act == "do" or mind.presence.players_near()):
            triggers.consider(mind, Occasion(TIME), [item])
    return min(LONGEST_S, *(wait_s + 0.1 for _count, wait_s in places.values()))


def follow_clock(script: Any) -> None:
    """Look at the world's clock when the next trigger of an assistant waits for it."""
    if (wait_s := look_at_clock(script)) is not None:
        script.services.timer.keep(("triggers", script.id), wait_s, partial(look_at_clock, script))
