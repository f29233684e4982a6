"""How a trigger acts: how often it may, its place behind the turn under way, and the act itself.

What it says or does is a tool call in a turn of its own, which the log keeps and `aiwhy` explains.
The log also tells when it last acted, so that a restart keeps the rates, and "forget me" clears it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai import models
from evennia_ai.contrib.triggers.occasions import Occasion, is_meant, is_met, triggers_of
from evennia_ai.contrib.triggers.parsing import COMBAT, SAYS, Trigger, fill
from evennia_ai.errors import AssistantError, NothingDone
from evennia_ai.game.perception import listening_objects, name_in_act
from evennia_ai.messages import SAY
from evennia_ai.policy.audience import BUILDER
from evennia_ai.policy.texts import read_typed_call
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.transactions import store_errors
from evennia_ai.turn.prompt_contexts import TurnKind

log = Logger()

TRIGGERED = TurnKind("trigger", "")  # asks no model
USE_COMMAND = "use_command"  # of the extension command_tools
MOST_A_MINUTE = 30  # acts of all triggers of one character
PAUSE_S, LATEST_S = 0.5, 60.0  # while a turn is under way
URGENT, NOTEWORTHY, KNOWN = 7, 4, 3  # as `notify` has importance
FIRED = re.compile(r"trigger (\d+) by (\S*):")

Times = dict[tuple[int, str], float]  # when triggers last acted, by number and person


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
        if occasion.kind not in COMBAT:
            return False
        mind.sleep.wake_up("there is a fight")
    for trigger in triggers:
        set_off(mind, trigger, occasion).addErrback(report, mind.who.name, trigger)
    return True


def report(failure: Failure, name: str, trigger: Trigger) -> None:
    """Log why a trigger did nothing."""
    if failure.check(AssistantError):
        line = "{name}: {trigger} did nothing: {error}"
        log.info(line, name=name, trigger=trigger.name, error=failure.value)
    else:
        log.failure("{name}: {trigger} failed", failure, name=name, trigger=trigger.name)


@inlineCallbacks
def set_off(mind: Any, trigger: Trigger, occasion: Occasion) -> Coroutine[None]:
    """Let a trigger act soon, unless it did too lately; it counts from now on."""
    services = mind.around.services
    if trigger.kind == SAYS and not (yield is_meant(trigger, occasion, services)):
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
    if trigger.act != "do" and not listening_objects(character):
        raise NothingDone("nobody is near.")
    if trigger.act == "think":
        think(mind, trigger, occasion)
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
    audience = frozenset(person.dbref for person in listening_objects(character))
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


def think(mind: Any, trigger: Trigger, occasion: Occasion) -> None:
    """Tell the character a note, for which it takes a turn if the hour has an unasked one left."""
    text = fill(trigger.what, occasion.values(mind.who.character, name_in_act))
    importance = NOTEWORTHY
    if mind.autonomy.may_answer_assistants():
        mind.autonomy.note_act()
        importance = URGENT
    mind.hearing.notify(text, importance, trigger.name, occasion.actor, author=BUILDER)
