"""What the triggers of a character do when something happens, and how often.

What one says or does is a tool call in a turn of its own, which the log keeps and `aiwhy` explains;
"forget me" clears it there. The log also tells when one last acted, so that a restart keeps that.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from evennia.objects.objects import DefaultExit
from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai import models
from evennia_ai.contrib.triggers import parsing
from evennia_ai.contrib.triggers.occasions import (
    Occasion,
    count_together,
    has_phrase,
    is_met,
    phrases_of,
)
from evennia_ai.contrib.triggers.parsing import Trigger, TriggerSettings, fill
from evennia_ai.errors import AssistantError, NothingDone
from evennia_ai.game import perception
from evennia_ai.messages import SAY
from evennia_ai.policy.audience import BUILDER
from evennia_ai.policy.texts import read_typed_call
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.transactions import store_errors
from evennia_ai.turn.prompt_contexts import TurnKind

log = Logger()

NEAR = 0.6  # the cosine from which a line means what a trigger waits for
USE_COMMAND, MOVE = "use_command", "move"  # tools; the first is of the extension command_tools
PAUSE_S, LATEST_S = 0.5, 60.0  # while a turn is under way
URGENT, NOTEWORTHY, KNOWN = 7, 4, 3  # as `notify` has importance
TRIGGERED = TurnKind("trigger", "")  # asks no model
MOST_A_MINUTE = 30  # acts of all triggers of one character
FIGHT_S = 60.0  # without a blow, and the next one begins another fight
FIRED = re.compile(r"trigger (\d+) by (\S*):")
Times = defaultdict[tuple[int, str], list[float]]  # by trigger and person; of all by (0, "")


def triggers_of(script: Any) -> tuple[Trigger, ...]:
    """Return the triggers of an assistant, which are read again where their setting changed."""
    written = script.config.part(TriggerSettings).trigger_rules
    if script.ndb.ai_triggers is None or script.ndb.ai_trigger_rules != written:
        script.ndb.ai_trigger_rules, script.ndb.ai_trigger_times = written, None
        script.ndb.ai_triggers = tuple(parsing.read_rules(written, script.character.key))
    triggers: tuple[Trigger, ...] = script.ndb.ai_triggers
    return triggers


def last_number(script: Any) -> int:
    """Return the highest number that a trigger of an assistant ever had, 0 if it had none."""
    numbers = [line.split(" ", 1)[0] for line in (script.ndb.ai_trigger_rules or "").splitlines()]
    return max([*map(int, numbers), *(item.number for item in triggers_of(script))], default=0)


def write_triggers(script: Any, triggers: Sequence[Trigger], last: int = 0) -> None:
    """Store the triggers of an assistant in place of those before; raises StoreUnavailable.

    ``last`` is the highest number that one of them ever had.
    """
    script.mind.settings.write({"trigger_rules": parsing.write_rules(triggers, last) or None})


@inlineCallbacks
def is_meant(trigger: Trigger, occasion: Occasion, services: Any) -> Coroutine[bool]:
    """Fire with True if a line has the trigger's words in a row, or means what they mean."""
    words = occasion.event.heard.text if occasion.event else ""
    phrases, word_by_word = phrases_of(trigger)
    if has_phrase(words, phrases) or word_by_word:
        return has_phrase(words, phrases)
    yield services.nearness.prepare(services, [words, *phrases])
    return any(cosine >= NEAR for cosine in services.nearness.cosines(words, phrases))


def consider(mind: Any, occasion: Occasion, due: Sequence[Trigger] = ()) -> bool:
    """Set off what triggers of a character wait for; they act soon, after what happens now.

    ``due`` are they, if that is known. Returns False if there are none, or it cannot act.
    """
    character, services = mind.who.character, mind.around.services
    known = triggers_of(character.assistant)
    if occasion.kind in parsing.THINGS and occasion.thing is not None and known:
        occasion.count = count_together(occasion, character, services.clock.seconds())
    clock = services.world_clock
    triggers = due or [item for item in known if is_met(item, occasion, character, clock)]
    if not triggers or not mind.status.may_think():
        return False
    if occasion.hops and occasion.hops >= mind.settings.config.max_bot_replies:
        log.info("{name}: triggers stop, as characters set each other off", name=mind.who.name)
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
    services, character = mind.around.services, mind.who.character
    if trigger.kind == parsing.SAYS and not (yield is_meant(trigger, occasion, services)):
        return
    if wait_of(character, trigger, occasion, services) > 0:
        return
    note_act(character.assistant, trigger, occasion, services)
    services.slices.put(act_soon, mind, trigger, occasion, services.clock.seconds() + LATEST_S)


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

    Fails with TurnAborted, StoreUnavailable and NothingDone.
    """
    character = mind.who.character
    if trigger.act == "think":
        # It takes a turn for the note if it has an unasked one left.
        note = fill(trigger.what, occasion.values(trigger, character, perception.name_in_act))
        importance = importance_of(mind)
        mind.hearing.notify(note, importance, trigger.name, occasion.actor, author=BUILDER)
        return
    name, arguments = call_of(trigger, occasion, character, mind.around.services.toolbox.tools)
    refusal = yield mind.moderation_gate.why_unsaid(arguments.get("text", ""), by_staff=True)
    if refusal:
        raise NothingDone(f"the game refuses its words: {refusal}")
    events = answered_by(mind, trigger, occasion)
    detail = f"{trigger.name} by {occasion.by}: {trigger.text}"
    yield mind.ticker.run_instead(
        lambda: mind.turn_runner.run_call(
            context_of(mind, occasion), name, json.dumps(arguments), detail, TRIGGERED, events
        )
    )


def answered_by(mind: Any, trigger: Trigger, occasion: Occasion) -> Sequence[Any]:
    """Return the event that words answer in place of a model, none if there is none.

    Raises NothingDone if a model has answered a line meanwhile.
    """
    event = occasion.event
    if event is None or not event.heard.addressed or trigger.act != SAY or occasion.answered:
        return ()
    events = [item for item in mind.inbox.open_events().waiting if item.id == event.id]
    if not events and trigger.kind == parsing.SAYS:
        raise NothingDone("the line is being answered.")
    occasion.answered = True
    return events


def context_of(mind: Any, occasion: Occasion) -> ToolContext:
    """Return for whom an act is done; a tool's lock is asked of who set it off, too."""
    character = mind.who.character
    audience = mind.around.world.listeners(character)
    actors = frozenset({occasion.by} - {""})
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
    values = occasion.values(trigger, character)
    if trigger.act != "do":  # "think" is no tool, but `aitrigger` shows it alike
        return trigger.act, {"text": fill(trigger.what, values)}
    name, _, rest = trigger.what.partition(" ")
    place = character.location
    exits = [obj for obj in place.contents if isinstance(obj, DefaultExit)] if place else []
    if name in tools:
        arguments = read_arguments(tools[name], name, rest)
    elif perception.all_named(trigger.what, exits, character):
        name, arguments = MOVE, {"to": trigger.what}
    elif USE_COMMAND in tools:
        name, arguments = USE_COMMAND, {"line": trigger.what}
    else:
        more = "For commands of the game add the extension command_tools."
        raise NothingDone(f"There is no tool '{name}'. {more}")
    return name, {k: fill(v, values) if isinstance(v, str) else v for k, v in arguments.items()}


def read_arguments(tool: Any, name: str, text: str) -> dict[str, Any]:
    """Return arguments as a builder writes them: ``item = ale; to = Ann``, or ``ale to Ann``.

    Without "=", the names of the later ones stand between them, or "to" before the last one.
    """
    first, *others = tool.arguments.model_fields or [""]
    if "=" in text or text.startswith("{") or not text:
        return read_typed_call(f"{name} {text}")[1]
    arguments = {first: text}
    for field in others[::-1]:
        head, word, value = arguments[first].rpartition(f" {field} ")
        if not word and field == others[-1]:
            head, word, value = text.rpartition(" to ")
        if word:
            arguments |= {first: head, field: value}
    return arguments


def importance_of(mind: Any) -> int:
    """Return that of news for which a character takes a turn unasked, if it may, and count it."""
    if not (mind.presence.players_near() and mind.autonomy.may_answer_assistants()):
        return NOTEWORTHY
    mind.autonomy.note_act()
    return URGENT


def key_of(trigger: Trigger, by: str) -> tuple[int, str]:
    """Return what a rate counts: a trigger, and who set it off if persons count apart."""
    return trigger.number, by if trigger.each else ""


def wait_of(character: Any, trigger: Trigger, occasion: Occasion, services: Any) -> float:
    """Return the seconds until a trigger may act again, 0 if it may now."""
    now, times = services.now().timestamp(), times_of(character.assistant, services)
    began, _last = character.ndb.ai_fight or (now, now)
    within_s = trigger.within_s or now - began + 1
    waits = (wait(times[key_of(trigger, occasion.by)], trigger.most, within_s, now),
             wait(times[0, ""], MOST_A_MINUTE, 60.0, now))  # fmt: skip
    return max(0.0, *waits)


def wait(times: Sequence[float], most: int, within_s: float, now: float) -> float:
    earliest = times[-most] if len(times) >= most else -float("inf")
    return earliest + within_s - now if earliest <= now else 0.0


def note_act(script: Any, trigger: Trigger, occasion: Occasion, services: Any) -> None:
    """Count an act of a trigger from now on."""
    times, now = times_of(script, services), services.now().timestamp()
    for key, most in ((key_of(trigger, occasion.by), trigger.most), ((0, ""), MOST_A_MINUTE)):
        times[key] = [*times[key][1 - most or len(times[key]) :], now]


def note_blow(character: Any, services: Any) -> None:
    """Note that a fight goes on near a character, or begins."""
    now = services.now().timestamp()
    began, last = character.ndb.ai_fight or (now, now)
    character.ndb.ai_fight = (began if now - last < FIGHT_S else now, now)


def times_of(script: Any, services: Any) -> Times:
    """Return when triggers last acted, from the log once in this process."""
    times: Times | None = script.ndb.ai_trigger_times
    if times is None:
        times, triggers = defaultdict(list), {item.number: item for item in script.ndb.ai_triggers}
        rows = {"assistant_id": script.id}
        longest_s = max((item.within_s for item in triggers.values()), default=0.0)
        if longest_s < float("inf"):
            rows["at__gte"] = services.now() - timedelta(seconds=max(longest_s, FIGHT_S))
        turns = models.Turn.objects.filter(**rows, context=TRIGGERED.name).order_by("id")
        notes = models.Event.objects.filter(**rows, kind__startswith="trigger ").order_by("id")
        with store_errors():
            acts = [*turns.values_list("detail", "at")]
            acts += [(f"{kind} by {who}:", at)
                     for kind, who, at in notes.values_list("kind", "speaker", "at")]  # fmt: skip
        for detail, at in acts:
            match = FIRED.match(detail)
            if match and (item := triggers.get(int(match[1]))):
                times[key_of(item, match[2])].append(at.timestamp())
        script.ndb.ai_trigger_times = times
    return times
