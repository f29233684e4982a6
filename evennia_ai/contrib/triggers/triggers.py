"""What the triggers of a character do when something happens, and how often.

What one says or does is a tool call in a turn of its own, which the log keeps and `aiwhy` explains;
"forget me" clears it there. The log also tells when one last acted, so that a restart keeps that.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai import models
from evennia_ai.contrib.triggers import parsing
from evennia_ai.contrib.triggers.occasions import Occasion, is_met
from evennia_ai.contrib.triggers.parsing import Trigger, TriggerSettings, fill
from evennia_ai.errors import AssistantError, NothingDone, StoreUnavailable
from evennia_ai.game import perception
from evennia_ai.messages import SAY
from evennia_ai.policy.audience import BUILDER
from evennia_ai.policy.texts import read_typed_call
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.transactions import store_errors
from evennia_ai.turn.prompt_contexts import TurnKind

log = Logger()

USE_COMMAND, MOVE = "use_command", "move"  # tools; the first is of the extension command_tools
PAUSE_S = 0.5  # while a turn is under way
URGENT, NOTEWORTHY, KNOWN = 7, 4, 3  # as `notify` has importance
TRIGGERED = TurnKind("trigger", "")  # asks no model
ALL, MOST_A_MINUTE = (0, ""), 30  # acts of all triggers of one character


def triggers_of(script: Any) -> tuple[Trigger, ...]:
    """Return the triggers that an assistant ever had (`parsing.read_rules`)."""
    written = script.config.part(TriggerSettings).trigger_rules
    return parsing.read_rules(written, script.character.key)


def consider(mind: Any, occasion: Occasion, due: Sequence[Trigger] = ()) -> bool:
    """Let triggers (of ``due``, else all) that wait for it act soon; return False for none."""
    character = mind.who.character
    known = due or triggers_of(character.assistant)
    triggers = [item for item in known if is_met(item, occasion, character)]
    if not triggers or not mind.status.may_think():
        return False
    if occasion.hops and occasion.hops >= mind.settings.config.max_bot_replies:
        log.info("{name}: triggers stop, as characters set each other off", name=mind.who.name)
        return False
    if mind.sleep.is_asleep:
        if occasion.victim is None:  # no fight
            return False
        mind.sleep.wake_up("there is a fight")
    for trigger in triggers:
        if count_act(character, trigger, occasion, mind.around.services):
            mind.around.services.slices.put(act_soon, mind, trigger, occasion)
    return True


def act_soon(mind: Any, trigger: Trigger, occasion: Occasion) -> None:
    """Act as soon as no turn is under way; each ends by its deadline."""
    if mind.ticker.is_ticking:
        mind.around.services.clock.callLater(PAUSE_S, act_soon, mind, trigger, occasion)
    elif mind.status.is_alive and mind.status.may_think():
        act_on(mind, trigger, occasion).addErrback(report, mind.who.name, trigger)


def report(failure: Failure, name: str, trigger: Trigger) -> None:
    """Log why a trigger did nothing."""
    line = f"{name}: {trigger.name} did nothing: {{error}}"
    if failure.check(AssistantError):
        log.info(line, error=failure.value)
    else:
        log.failure(line, failure, error=failure.value)


@inlineCallbacks
def act_on(mind: Any, trigger: Trigger, occasion: Occasion) -> Coroutine[None]:
    """Do what a trigger says, or let the character think about it.

    Fails with TurnAborted, StoreUnavailable and NothingDone.
    """
    character = mind.who.character
    if trigger.act == "think":
        # It takes a turn for the note if it has an unasked one left.
        note = fill(trigger.what, occasion.values(trigger, character, perception.name_in_act))
        is_free = mind.presence.players_near() and mind.autonomy.may_answer_assistants()
        if is_free:
            mind.autonomy.note_act()
        importance = URGENT if is_free else NOTEWORTHY
        mind.hearing.notify(note, importance, trigger.name, occasion.actor, author=BUILDER)
        return
    name, arguments = call_of(trigger, occasion, character, mind.around.services.toolbox.tools)
    refusal = yield mind.moderation_gate.why_unsaid(arguments.get("text", ""), by_staff=True)
    if refusal:
        raise NothingDone(f"the game refuses its words: {refusal}")
    # In place of a model, words answer the line that set them off.
    line = occasion.event if trigger.act == SAY else None
    waiting = mind.inbox.open_events().waiting if line and line.heard.addressed else ()
    events = [event for event in waiting if line and event.id == line.id]
    by = f" (by {occasion.by})" if occasion.by else ""
    detail = f"{trigger.name}: {trigger.text}{by}"
    call = name, json.dumps(arguments), detail, TRIGGERED, events
    run = partial(mind.turn_runner.run_call, context_of(mind, occasion), *call)
    yield mind.ticker.run_instead(run)


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
    exits = character.location.exits if character.location else []
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
    """Return arguments as a builder writes them: ``item = ale; to = Ann``, or ``ale to Ann``."""
    first, *others = tool.arguments.model_fields or [""]
    if "=" in text or text.startswith("{") or not text:
        return read_typed_call(f"{name} {text}")[1]
    head, to, value = text.rpartition(" to ")
    return {first: head, others[-1]: value} if to and others else {first: text}


def count_act(character: Any, trigger: Trigger, occasion: Occasion, services: Any) -> bool:
    """Return True if a trigger may act now, for a person or for all of them, and count it."""
    now, script = services.now().timestamp(), character.assistant
    by, times = occasion.by * trigger.each, script.ndb.ai_trigger_times or defaultdict(list)
    script.ndb.ai_trigger_times = times
    if (trigger.number, by) not in times:
        times[trigger.number, by] = logged_times(script, trigger, by)
    own = (trigger.number, by), trigger.most, trigger.within_s or now - occasion.since + 1
    rates = own, (ALL, MOST_A_MINUTE, 60.0)
    if any(len(times[key]) >= most and times[key][-most] + s > now for key, most, s in rates):
        return False
    for key, most, _within_s in rates:
        times[key] = [*times[key], now][-most:]
    return True


def logged_times(script: Any, trigger: Trigger, by: str) -> list[float]:
    """Return when the log says that a trigger acted last, for a person or for all of them."""
    if trigger.act == "think":
        rows = models.Event.objects.filter(assistant_id=script.id, kind=trigger.name)
        rows = rows.filter(speaker=by) if by else rows
    else:
        rows = models.Turn.objects.filter(assistant_id=script.id, context=TRIGGERED.name)
        by_whom = {"detail__endswith": f" (by {by})"} if by else {}
        rows = rows.filter(detail__startswith=f"{trigger.name}: ", **by_whom)
    with suppress(StoreUnavailable), store_errors():  # its act would fail, too
        last = rows.order_by("-id").values_list("at", flat=True)[: trigger.most]
        return [at.timestamp() for at in last][::-1]
    return []
