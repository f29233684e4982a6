"""What happens near a character, and whether it sets one of its triggers off."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.triggers.parsing import COMBAT, SAYS, THINGS, Trigger, read_stored
from evennia_ai.game.perception import (
    all_named,
    display_name,
    find_named,
    find_object,
    is_assistant,
)
from evennia_ai.messages import ARRIVE, GIVE, LEAVE, SAY, InboxEvent
from evennia_ai.policy.texts import plain_words
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.attributes import read_attribute, write_attribute

TRIGGERS = "triggers"  # the Attribute of the assistant
HEARD = {ARRIVE: "enters", LEAVE: "leaves", SAY: SAYS, GIVE: "given"}
NEAR = 0.6  # the cosine from which a line means what a trigger waits for


@dataclass
class Occasion:
    """Something that happened, of a trigger's ``kind``, done by ``actor``, to ``victim`` in a fight
    or with ``thing``.

    ``damage`` is in points, ``health`` what it leaves in per cent. ``event`` is what the character
    heard, if it did; ``answered`` is True once a trigger answers it in place of a model.
    """

    kind: str
    actor: Any = None
    victim: Any = None
    thing: Any = None
    damage: int = 0
    health: int = 100
    event: InboxEvent | None = None
    answered: bool = False

    @property
    def hops(self) -> int:
        """Return how many acts of assistants in a row led to it."""
        return self.event.heard.hops if self.event else 0

    def values(
        self, looker: Any, name_of: Callable[[Any, Any], str] = display_name
    ) -> dict[str, str]:
        """Return the values of placeholders, with names as the looker knows them."""
        about = self.victim if self.thing is None else self.thing
        return {
            "who": "somebody" if self.actor is None else name_of(self.actor, looker),
            "what": "something" if about is None else name_of(about, looker),
            "damage": str(self.damage),
            "health": str(self.health),
        }


def occasion_of(event: InboxEvent) -> Occasion | None:
    """Return what a stored event is for triggers, None for nothing; a whisper is nothing."""
    line = event.heard
    if line.private or line.kind not in HEARD:
        return None
    thing = find_object(line.item) if line.item else None
    return Occasion(HEARD[line.kind], find_object(line.speaker), thing=thing, event=event)


def triggers_of(script: Any) -> tuple[Trigger, ...]:
    """Return the triggers of an assistant, read once in this process."""
    if script.ndb.ai_triggers is None:
        script.ndb.ai_triggers = tuple(read_stored(read_attribute(script, TRIGGERS)))
    triggers: tuple[Trigger, ...] = script.ndb.ai_triggers
    return triggers


def write_triggers(script: Any, triggers: tuple[Trigger, ...]) -> None:
    """Store the triggers of an assistant in place of those before; raises StoreUnavailable."""
    rows = [{name: getattr(t, name) for name in ("number", "text", "added")} for t in triggers]
    write_attribute(script, TRIGGERS, rows)
    script.ndb.ai_triggers = triggers


def minds_near(place: Any) -> Iterator[Any]:
    """Yield the minds of the characters in a place, those that no player controls."""
    if AssistantScript.shared_services is not None and place is not None:
        yield from [obj.ai_mind for obj in place.contents if is_assistant(obj)]


def is_met(trigger: Trigger, occasion: Occasion, character: Any) -> bool:
    """Return True if something sets a trigger off; what was said is compared by `is_meant`."""
    actor, in_combat = occasion.actor, trigger.kind in COMBAT
    if trigger.kind != occasion.kind or actor is character:
        return False
    if in_combat and trigger.own != (occasion.victim is character):
        return False
    who = occasion.victim if in_combat else actor
    if trigger.who and not (who and all_named(trigger.who, [who], character)):
        return False
    if trigger.below < 100 and occasion.health >= trigger.below:
        return False
    if not trigger.thing:
        return True
    things = in_hand(actor) if trigger.wielded else actor.contents
    things = [occasion.thing] if trigger.kind in THINGS else things
    return any(fits(trigger.thing, thing, character) for thing in things if thing)


def fits(name: str, thing: Any, looker: Any) -> bool:
    """Return True if a thing has a name, or a tag of that name."""
    tags = {str(tag).lower() for tag in thing.tags.all()}
    return name.lower() in tags or find_named(name, [thing], looker) is not None


def in_hand(person: Any) -> list[Any]:
    """Return what somebody wields, by EvAdventure's and turnbattle's ways to keep it."""
    things = (getattr(person, "weapon", None), person.db.wielded_weapon)
    return [thing for thing in things if getattr(thing, "location", None) is person]


@inlineCallbacks
def is_meant(trigger: Trigger, occasion: Occasion, services: Any) -> Coroutine[bool]:
    """Fire with True if a line has the trigger's words in a row, or means what they mean."""
    words, phrase = occasion.event.heard.text if occasion.event else "", trigger.words
    line, wanted = plain_words(words), plain_words(phrase)
    if wanted in [line[at : at + len(wanted)] for at in range(len(line))]:
        return True
    yield services.nearness.prepare(services, [words, phrase])
    return any(cosine >= NEAR for cosine in services.nearness.cosines(words, [phrase]))
