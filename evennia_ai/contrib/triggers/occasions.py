"""Something that happens near a character, and whether a trigger waits for it."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.triggers import parsing
from evennia_ai.contrib.triggers.parsing import Trigger
from evennia_ai.game import perception
from evennia_ai.messages import ARRIVE, GIVE, LEAVE, SAY, InboxEvent
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.policy.texts import plain_words
from evennia_ai.ports.world import WorldClock

HEARD = {ARRIVE: "enters", LEAVE: "leaves", SAY: parsing.SAYS, GIVE: "given"}
TOGETHER_S = 0.1  # within which things of one name are given or dropped by one command
OR = re.compile(r",\s*(?:or )?| or ", re.IGNORECASE)
QUOTED = re.compile(r'"([^"]+)"')
CAPITALISED = re.compile(r"[A-Z][a-z]+")
NameOf = Callable[[Any, Any], str]  # an object as somebody knows it


@dataclass
class Occasion:
    """Something of a trigger's ``kind``, done by ``actor``, to ``victim`` or with ``thing``.

    ``count`` things of one name were given or dropped at once so far. ``health`` is what ``damage``
    (points) leaves of ``before``, in per cent. ``event`` is what the character heard, if it did;
    ``answered`` is True once a trigger answers it in place of a model.
    """

    kind: str
    actor: Any = None
    victim: Any = None
    thing: Any = None
    count: int = 1
    damage: int = 0
    health: int = 100
    before: int = 100
    event: InboxEvent | None = None
    answered: bool = False

    @property
    def hops(self) -> int:
        """Return how many acts of assistants in a row led to it."""
        return self.event.heard.hops if self.event else 0

    @property
    def by(self) -> str:
        """Return the dbref of who did it, "" for nobody."""
        return str(getattr(self.actor, "dbref", None) or "")

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
    return Occasion(HEARD[line.kind], find(line.speaker), thing=find(line.item), event=event)


def minds_near(place: Any) -> Iterator[Any]:
    """Yield the minds of the characters in a place, those that no player controls."""
    if AssistantScript.shared_services is not None and place is not None:
        yield from [obj.ai_mind for obj in place.contents if perception.is_assistant(obj)]


def count_together(occasion: Occasion, character: Any, now: float) -> int:
    """Return how many things of this name somebody gave, took or dropped by one command so far."""
    deed = (occasion.kind, occasion.by, occasion.thing.key)
    before, at, count = character.ndb.ai_deed or ((), 0.0, 0)
    count = count + 1 if deed == before and now - at < TOGETHER_S else 1
    character.ndb.ai_deed = deed, now, count
    return int(count)


def is_met(trigger: Trigger, occasion: Occasion, character: Any, clock: WorldClock) -> bool:
    """Return True if something sets a trigger off; what was said is compared by `is_meant`."""
    actor, victim = occasion.actor, occasion.victim
    if trigger.kind != occasion.kind or actor is character or not is_time(trigger, clock):
        return False
    if not fits(trigger.actor, [actor], character):
        return False
    if trigger.kind in parsing.COMBAT:
        return is_victim(trigger, victim, character) and is_crossed(trigger, occasion)
    if trigger.kind in parsing.THINGS:
        return trigger.count == occasion.count and fits(trigger.thing, [occasion.thing], character)
    return trigger.kind not in parsing.MOVES or has_way_and_thing(trigger, actor, character)


def is_time(trigger: Trigger, clock: WorldClock) -> bool:
    """Return True if the world's hour is one of a trigger's; what comes each hour has the last."""
    first, last = (parsing.minute_on(moment, clock.day_parts) for moment in trigger.hours)
    minute = clock.seconds() % clock.units["day"] / clock.units["minute"]
    last += trigger.kind == parsing.TIME
    return first <= minute < last if first < last else not last <= minute < first


def is_victim(trigger: Trigger, victim: Any, character: Any) -> bool:
    if trigger.victim == parsing.EVERYBODY:
        return True
    if trigger.victim is None or victim is character or victim is None:
        return trigger.victim is None and victim is character
    return fits(trigger.victim, [victim], character)


def is_crossed(trigger: Trigger, occasion: Occasion) -> bool:
    """Return True if a blow brings the health to where a trigger waits for it, and not before."""
    health = trigger.health
    is_limit = health.start == 0 and health.stop <= 100
    return occasion.health in health and not (is_limit and occasion.before in health)


def has_way_and_thing(trigger: Trigger, actor: Any, character: Any) -> bool:
    """Return True if somebody comes or goes by a trigger's way, with or without its thing."""
    way = getattr(actor, "ndb", None) and actor.ndb.ai_way
    ways = [character.location, *([way, way.location, way.destination] if way else [])]
    if trigger.way and not fits(trigger.way, ways, character):
        return False
    things = in_hand(actor) if trigger.how == "wielded" else getattr(actor, "contents", ())
    return not trigger.thing or fits(trigger.thing, things, character) != (trigger.how == "without")


def fits(wanted: str, objects: Iterable[Any], looker: Any) -> bool:
    """Return True if one of some objects has a name that a builder wrote, or "" is wanted.

    A name may lack what stands before it ("bell" is the bronze bell), in one word also what follows
    ("Ada" is Ada Smith); tags and the kind of the typeclass do for it, and names divided by "or".
    """
    names = [tuple(map(stem, name.lower().split())) for name in OR.split(wanted)]
    for obj in filter(None, objects if wanted else ()):
        if wanted == parsing.PLAYER and obj.has_account:
            return True
        kind = " ".join(CAPITALISED.findall(type(obj).__name__))
        known = [*perception.known_names(obj, looker), *map(str, obj.tags.all()), kind.lower()]
        for words in [tuple(map(stem, name.lower().split())) for name in known]:
            head = words[: words.index("of")] if "of" in words else words  # "Maid of Vesna": a maid
            for name in filter(None, names):
                if name in (words, head[-len(name) :], words[:1]):
                    return True
    return not wanted


def in_hand(person: Any) -> list[Any]:
    """Return what somebody wields, by EvAdventure's and turnbattle's ways to keep it."""
    things = (getattr(person, "weapon", None), person.db.wielded_weapon)
    return [thing for thing in things if getattr(thing, "location", None) is person]


def phrases_of(trigger: Trigger) -> tuple[list[str], bool]:
    """Return the phrases that a line may have, and whether they must stand in it word by word."""
    quoted = QUOTED.findall(trigger.words)
    return quoted or OR.split(trigger.words), bool(quoted)


def has_phrase(line: str, phrases: Iterable[str]) -> bool:
    """Return True if a line has the words of a phrase in a row."""
    spoken = plain_words(line)
    for words in filter(None, map(plain_words, phrases)):
        if words in [spoken[at : at + len(words)] for at in range(len(spoken))]:
            return True
    return False
