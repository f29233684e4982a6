"""Something that happens near a character, and whether a trigger waits for it."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from evennia.objects.objects import DefaultCharacter

from evennia_ai.contrib.triggers import parsing
from evennia_ai.contrib.triggers.parsing import Trigger
from evennia_ai.game import perception
from evennia_ai.messages import ARRIVE, GIVE, LEAVE, SAY, InboxEvent
from evennia_ai.policy.texts import plain_words

HEARD = {ARRIVE: "enters", LEAVE: "leaves", SAY: "says", GIVE: "given"}
OR = re.compile(r",\s*(?:or )?| or ", re.IGNORECASE)
NameOf = Callable[[Any, Any], str]  # an object as somebody knows it


@dataclass(frozen=True)
class Occasion:
    """Something of a trigger's ``kind``, done by ``actor``, to ``victim`` or with ``thing``.

    ``health`` is what ``damage`` (points) leaves of ``before``, in per cent; ``since`` is the unix
    second at which the fight began. So many acts of assistants in a row led to it as ``hops`` says;
    ``event`` is what the character heard, if it did.
    """

    kind: str
    actor: Any = None
    victim: Any = None
    thing: Any = None
    damage: int = 0
    health: int = 100
    before: int = 100
    since: float = 0.0
    hops: int = 0
    event: InboxEvent | None = None

    @property
    def by(self) -> str:
        """Return the dbref of who did it, "" for nobody."""
        return str(getattr(self.actor, "dbref", None) or "")

    def seen(self, role: str, me: Any) -> Iterable[Any]:
        """Return who or what has a role in it, for a character that sees it."""
        actor = self.actor
        if role == "wielded":  # by EvAdventure's and turnbattle's ways to keep it
            things = (getattr(actor, "weapon", None), actor.db.wielded_weapon)
            return [thing for thing in things if getattr(thing, "location", None) is actor]
        if role in ("carried", "lacked"):
            return list(actor.contents)
        if role == "way":
            return [actor.ndb.ai_way]
        roles = {"actor": actor, "victim": self.victim, "thing": self.thing, "place": me.location}
        return [roles[role]]

    def values(
        self, trigger: Trigger, looker: Any, name_of: NameOf = perception.display_name
    ) -> dict[str, str]:
        """Return the values of a trigger's placeholders, with names as the looker knows them."""
        people = [self.actor, self.victim][:: -1 if trigger.is_passive else 1]
        who, what = people[0], self.thing or people[1]
        names = {"who": name_of(who, looker) if who else "somebody"}
        names["what"] = name_of(what, looker) if what else "something"
        return {**names, "damage": str(self.damage), "health": str(self.health)}


def occasion_of(event: InboxEvent) -> Occasion | None:
    """Return what a stored event is for triggers, None for nothing; a whisper is nothing."""
    line, find = event.heard, perception.find_object
    if line.private or line.kind not in HEARD:
        return None
    actor, thing = find(line.speaker), find(line.item)
    return Occasion(HEARD[line.kind], actor, thing=thing, hops=line.hops, event=event)


def is_met(trigger: Trigger, occasion: Occasion, me: Any) -> bool:
    """Return True if something sets a trigger off; of a time, if the character is at its place."""
    below, words = trigger.below, occasion.event.heard.text if occasion.event else ""
    if trigger.kind != occasion.kind or occasion.actor is me:
        return False
    if below and not occasion.health < below <= occasion.before:
        return False
    if trigger.words and not has_phrase(words, trigger.words):
        return False
    clock = me.assistant.services.world_clock
    first, last = (parsing.minute_on(moment, clock.day_parts) for moment in trigger.hours)
    length = ((last - first) % parsing.DAY or parsing.DAY) + (trigger.kind == parsing.TIME)
    return (clock.minute() - first) % parsing.DAY < length and all(
        fits(name, occasion.seen(role, me), me) != (role == "lacked")
        for role, name in trigger.wanted
    )


def fits(wanted: str, objects: Iterable[Any], me: Any) -> bool:
    """Return True if one of some objects is whom a trigger of ``me`` waits for.

    A name may lack what stands before it ("bell" is the bronze bell), a person's first one also
    what follows ("Ada" is Ada Smith). A tag does for it, and "bell*" is all that begins so.
    """
    wanted = wanted.lower()
    name = wanted.split()
    for obj in filter(None, objects):
        if (obj is me) != (wanted == parsing.ME):
            continue
        is_player = wanted == parsing.PLAYER and obj.has_account
        if is_player or wanted in (parsing.ME, parsing.ANYBODY):
            return True
        known = [*perception.known_names(obj, me), *map(str.lower, obj.tags.all())]
        for words in map(str.split, known):
            head = words[: words.index("of")] if "of" in words else words  # "Maid of Vesna": a maid
            first = words[:1] if isinstance(obj, DefaultCharacter) else words
            if name in (words, head[-len(name) :], first) or fnmatchcase(" ".join(words), wanted):
                return True
    return False


def has_phrase(line: str, wanted: str) -> bool:
    """Return True if a line has the words of one of some phrases in a row."""
    spoken = f" {' '.join(plain_words(line))} "
    phrases = (" ".join(plain_words(phrase)) for phrase in OR.split(wanted))
    return any(f" {phrase} " in spoken for phrase in phrases)
