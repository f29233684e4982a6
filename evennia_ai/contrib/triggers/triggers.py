"""What sets a trigger off, how often it may act, and the act itself.

What it says or does is a tool call in a turn of its own, which the log keeps and `aiwhy` explains.
The log also tells when it last acted, so that a restart keeps the rates, and "forget me" clears it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai import models
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.triggers import parsing
from evennia_ai.contrib.triggers.parsing import Trigger, fill
from evennia_ai.errors import AssistantError, NothingDone
from evennia_ai.game import perception
from evennia_ai.messages import ARRIVE, GIVE, LEAVE, SAY, InboxEvent
from evennia_ai.policy.audience import BUILDER
from evennia_ai.policy.texts import plain_words, read_typed_call
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.attributes import read_attribute, write_attribute
from evennia_ai.store.transactions import store_errors
from evennia_ai.turn.prompt_contexts import TurnKind

log = Logger()

TRIGGERS = "triggers"  # the Attribute of the assistant
HEARD = {ARRIVE: "enters", LEAVE: "leaves", SAY: parsing.SAYS, GIVE: "given"}
NEAR = 0.6  # the cosine from which a line means what a trigger waits for
TRIGGERED = TurnKind("trigger", "")  # asks no model
USE_COMMAND = "use_command"  # of the extension command_tools
MOST_A_MINUTE = 30  # acts of all triggers of one character
PAUSE_S, LATEST_S = 0.5, 60.0  # while a turn is under way
URGENT, NOTEWORTHY, KNOWN = 7, 4, 3  # as `notify` has importance
FIRED = re.compile(r"trigger (\d+) by (\S*):")
Times = dict[tuple[int, str], float]  # when triggers last acted, by number and person
NameOf = Callable[[Any, Any], str]  # an object as somebody knows it


@dataclass
class Occasion:
    """Something of a trigger's ``kind``, done by ``actor``, to ``victim`` or with ``thing``.

    ``health`` is what ``damage`` (points) leaves, in per cent. ``event`` is what the character
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

    def values(self, looker: Any, name_of: NameOf = perception.display_name) -> dict[str, str]:
        """Return the values of placeholders, with names as the looker knows them."""
        names = {"who": "somebody", "what": "something"}
        for key, obj in (("who", self.actor), ("what", self.victim), ("what", self.thing)):
            if obj is not None:
                names[key] = name_of(obj, looker)
        return {**names, "damage": str(self.damage), "health": str(self.health)}


def occasion_of(event: InboxEvent) -> Occasion | None:
    """Return what a stored event is for triggers, None for nothing; a whisper is nothing."""
    line, find = event.heard, perception.find_object
    if line.private or line.kind not in HEARD:
        return None
    return Occasion(HEARD[line.kind], find(line.speaker), thing=find(line.item), event=event)


def triggers_of(script: Any) -> tuple[Trigger, ...]:
    """Return the triggers of an assistant, read once in this process."""
    if script.ndb.ai_triggers is None:
        script.ndb.ai_triggers = tuple(parsing.read_stored(read_attribute(script, TRIGGERS)))
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
        yield from [obj.ai_mind for obj in place.contents if perception.is_assistant(obj)]


def is_met(trigger: Trigger, occasion: Occasion, character: Any) -> bool:
    """Return True if something sets a trigger off; what was said is compared by `is_meant`."""
    actor, in_combat = occasion.actor, trigger.kind in parsing.COMBAT
    if trigger.kind != occasion.kind or actor is character:
        return False
    if in_combat and trigger.own != (occasion.victim is character):
        return False
    who = occasion.victim if in_combat else actor
    if trigger.who and not (who and perception.all_named(trigger.who, [who], character)):
        return False
    if trigger.below < 100 and occasion.health >= trigger.below:
        return False
    things = [occasion.thing]
    if trigger.kind not in parsing.THINGS and actor is not None:
        things = in_hand(actor) if trigger.wielded else actor.contents
    return not trigger.thing or any(fits(trigger.thing, thing, character) for thing in things)


def fits(name: str, thing: Any, looker: Any) -> bool:
    """Return True if a thing, which may be None, has a name, or a tag of that name."""
    if thing is None:
        return False
    tags = {str(tag).lower() for tag in thing.tags.all()}
    return name.lower() in tags or perception.find_named(name, [thing], looker) is not None


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


def consider(mind: Any, occasion: Occasion, due: Sequence[Trigger] = ()) -> bool:
    """Set off what triggers of a character wait for; they act soon, after what happens now.

    ``due`` are they, if that is known. Returns False if there are none, or it cannot act.
    """
    character = mind.who.character
    known = triggers_of(character.assistant)
    triggers = due or [item for item in known if is_met(item, occasion, character)]
    # A chain of assistants that set each other off ends.
    is_chain = occasion.hops > mind.settings.config.max_bot_replies
    if not triggers or is_chain or not mind.status.may_think():
        return False
    if mind.sleep.is_asleep:
        if occasion.kind not in parsing.COMBAT:
            return False
        mind.sleep.wake_up("there is a fight")
    for trigger in triggers:
        set_off(mind, trigger, occasion).addErrback(report, mind.who.name, trigger)
    return True


def report(failure: Failure, name: str, trigger: Trigger) -> None:
    """Log why a trigger did nothing."""
    line = f"{name}: {trigger.name} did nothing: {{error}}"
    if failure.check(AssistantError):
        log.info(line, error=failure.value)
    else:
        log.failure(line, failure, error=failure.value)


@inlineCallbacks
def set_off(mind: Any, trigger: Trigger, occasion: Occasion) -> Coroutine[None]:
    """Let a trigger act soon, unless it did too lately; it counts from now on."""
    services = mind.around.services
    if trigger.kind == parsing.SAYS and not (yield is_meant(trigger, occasion, services)):
        return
    times, now = last_times(mind.who.character.assistant, services), services.now().timestamp()
    lately = sum(0 <= now - at < 60 for at in times.values())
    if wait_of(times, trigger, occasion, now) > 0 or lately >= MOST_A_MINUTE:
        return
    times[key_of(trigger, occasion)] = now
    services.slices.put(act_soon, mind, trigger, occasion, services.clock.seconds() + LATEST_S)


def key_of(trigger: Trigger, occasion: Occasion) -> tuple[int, str]:
    """Return what a rate counts: a trigger, and who set it off if persons count apart."""
    return trigger.number, dbref_of(occasion) if trigger.each else ""


def dbref_of(occasion: Occasion) -> str:
    return str(getattr(occasion.actor, "dbref", None) or "")


def wait_of(times: Times, trigger: Trigger, occasion: Occasion, now: float) -> float:
    """Return the seconds until a trigger may act again, 0 or less if it may now."""
    last = times.get(key_of(trigger, occasion), 0.0)
    return last + trigger.within_s - now if trigger.added <= last <= now else 0.0


def last_times(script: Any, services: Any) -> Times:
    """Return when triggers last acted, from the log once in this process."""
    times: Times | None = script.ndb.ai_trigger_times
    if times is None:
        times, triggers = {}, {item.number: item for item in triggers_of(script)}
        longest_s = max((item.within_s for item in triggers.values()), default=0)
        rows = {"assistant_id": script.id, "at__gte": services.now() - timedelta(seconds=longest_s)}
        turns = models.Turn.objects.filter(**rows, context=TRIGGERED.name).order_by("id")
        notes = models.Event.objects.filter(**rows, kind__startswith="trigger ").order_by("id")
        with store_errors():
            acts = [*turns.values_list("detail", "at")]
            acts += [(f"{row.kind} by {row.speaker}:", row.at) for row in notes]
        for detail, at in acts:
            match = FIRED.match(detail)
            if match and (item := triggers.get(int(match[1]))):
                times[item.number, match[2] if item.each else ""] = at.timestamp()
        script.ndb.ai_trigger_times = times
    return times


def act_soon(mind: Any, trigger: Trigger, occasion: Occasion, until: float) -> None:
    """Act as soon as no turn is under way, until a second of the clock."""
    clock = mind.around.services.clock
    if mind.ticker.is_ticking and clock.seconds() < until:
        clock.callLater(PAUSE_S, act_soon, mind, trigger, occasion, until)
    elif mind.status.is_alive and mind.status.may_think():
        act_on(mind, trigger, occasion).addErrback(report, mind.who.name, trigger)


@inlineCallbacks
def act_on(mind: Any, trigger: Trigger, occasion: Occasion) -> Coroutine[None]:
    """Do what a trigger says, or let the character think about it.

    Fails with TurnAborted, StoreUnavailable, and NothingDone if nobody would notice.
    """
    character = mind.who.character
    if trigger.act != "do" and not perception.listening_objects(character):
        raise NothingDone("nobody is near.")
    if trigger.act == "think":
        # It takes a turn for the note if it has an unasked one left.
        note = fill(trigger.what, occasion.values(character, perception.name_in_act))
        importance = importance_of(mind)
        mind.hearing.notify(note, importance, trigger.name, occasion.actor, author=BUILDER)
        return
    name, arguments = call_of(trigger, occasion, character, mind.around.services.toolbox.tools)
    refusal = yield mind.moderation_gate.why_unsaid(arguments.get("text", ""), by_staff=True)
    if refusal:
        raise NothingDone(f"the game refuses its words: {refusal}")
    events = answered_by(mind, trigger, occasion)
    detail = f"{trigger.name} by {dbref_of(occasion)}: {trigger.text}"
    yield mind.ticker.run_instead(
        lambda: mind.turn_runner.run_call(
            context_of(mind, occasion), name, json.dumps(arguments), detail, TRIGGERED, events
        )
    )


def answered_by(mind: Any, trigger: Trigger, occasion: Occasion) -> Sequence[Any]:
    """Return the event that words answer in place of a model, none if there is none.

    Raises NothingDone if a model has answered it meanwhile.
    """
    event = occasion.event
    if event is None or not event.heard.addressed or trigger.act != SAY or occasion.answered:
        return ()
    events = [item for item in mind.inbox.open_events().waiting if item.id == event.id]
    if not events:
        raise NothingDone("the line is being answered.")
    occasion.answered = True
    return events


def context_of(mind: Any, occasion: Occasion) -> ToolContext:
    """Return for whom an act is done; a tool's lock is asked of who set it off, too."""
    character = mind.who.character
    audience = frozenset(person.dbref for person in perception.listening_objects(character))
    actors = frozenset({dbref_of(occasion)} - {""})
    return ToolContext(
        assistant=mind.tool_executor.tools,
        character=character,
        audience=audience,
        private=False,
        speakers=actors,
        askers=actors,
        waiting=audience,
        hops=occasion.hops,
        authors=actors | {BUILDER},
    )


def call_of(
    trigger: Trigger, occasion: Occasion, character: Any, tools: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the tool call of a trigger; raises NothingDone if the game has no such tool.

    Values are filled into the arguments, so that no name in them can choose another tool.
    """
    values = occasion.values(character)
    if trigger.act != "do":  # "think" is no tool, but `aitrigger` shows it alike
        return trigger.act, {"text": fill(trigger.what, values)}
    name, arguments = read_typed_call(trigger.what)
    if name not in tools and USE_COMMAND in tools:
        name, arguments = USE_COMMAND, {"line": trigger.what}
    if name not in tools:
        more = "For commands of the game add the extension command_tools."
        raise NothingDone(f"There is no tool '{name}'. {more}")
    return name, {k: fill(v, values) if isinstance(v, str) else v for k, v in arguments.items()}


def importance_of(mind: Any) -> int:
    """Return that of news for which a character takes a turn unasked, if it may, and count it."""
    if not (mind.presence.players_near() and mind.autonomy.may_answer_assistants()):
        return NOTEWORTHY
    mind.autonomy.note_act()
    return URGENT
