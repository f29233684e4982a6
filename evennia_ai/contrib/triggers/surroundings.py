"""What sets triggers off beside talk and fights: the world's clock, and things."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from evennia.commands.cmdset import CmdSet
from evennia.commands.command import Command

from evennia_ai.contrib.triggers import triggers
from evennia_ai.contrib.triggers.occasions import Occasion
from evennia_ai.contrib.triggers.parsing import DAY, TIME, USED, minute_on
from evennia_ai.contrib.triggers.triggers import triggers_of
from evennia_ai.game.perception import is_assistant, name_in_act

LONGEST_S = 600.0  # between two looks at a clock that a game may set
MOVES = {"get": "taken", "drop": "dropped"}  # by Evennia's kind of move


def thing_event(thing: Any, kind: str, actor: Any) -> None:
    """Let the characters near somebody look at their triggers: a thing was used by them.

    A game's own command calls it: ``thing_event(bell, "used", caller)``.
    """
    for me in filter(is_assistant, (actor and actor.location and actor.location.contents) or ()):
        if me.ai_mind and triggers.consider(me.ai_mind, Occasion(kind, actor, thing=thing)):
            words = f"{name_in_act(thing, me)} is {kind} by {name_in_act(actor, me)}."
            me.ai_mind.hearing.notify(words, triggers.KNOWN, kind, actor, thing)


@contextmanager
def move(thing: Any, *_to: Any, move_type: str = "move", **options: Any) -> Iterator[None]:
    """Note by which exit somebody goes, offer ``use``, and look at triggers for taken things."""
    before, way = thing.location, options.get("exit_obj")
    if way is not None or thing.ndb.ai_way is not None:
        thing.ndb.ai_way = way
    yield
    if thing.location is before:
        return
    if is_assistant(thing):
        offer_use(thing.assistant)
    if kind := MOVES.get(move_type):
        thing_event(thing, kind, before if kind == "dropped" else thing.location)


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
    and calls `thing_event`. Returns True if the place has one.
    """
    place = script.character and script.character.location
    if place is None or all(item.kind != USED for item in triggers_of(script)):
        return False
    if not place.ndb.ai_use:
        place.ndb.ai_use = True  # Evennia keeps what has such data in memory
        commands = CmdSet(place, key="use")
        commands.priority = -1  # below a game's own
        commands.add(CmdUse())
        place.cmdset.add(commands)
    return True


def look_at_clock(script: Any) -> float | None:
    """Set off what waits for the world's time that has come; returns when to look again."""
    timed = [item for item in triggers_of(script) if item.kind == TIME]
    if not (script.pk and script.character and timed):
        return None
    mind, clock = script.mind, script.services.world_clock
    now, waits = clock.seconds(), [LONGEST_S]
    before, script.ndb.ai_looked_at = script.ndb.ai_looked_at or now, now
    for item in timed:
        at = minute_on(item.at, clock.day_parts) * clock.units["minute"]
        length = clock.units["day"] * item.every / DAY
        is_due = (now - at) // length > (before - at) // length
        if is_due and (item.act == "do" or mind.presence.players_near()):
            triggers.consider(mind, Occasion(TIME), [item])
        waits.append((at - now) % length / max(clock.pace, 1e-6) + 0.1)
    return min(waits)


def watch(script: Any) -> bool:
    """Look at the world's clock from now on, if triggers wait for it; returns as `offer_use`."""
    script.ndb.ai_looked_at = None
    if (wait_s := look_at_clock(script)) is not None:
        script.services.timer.keep(("triggers", script.id), wait_s, partial(look_at_clock, script))
    return offer_use(script)
