"""How often triggers may act: the log tells when they last did, so that a restart keeps it."""

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from evennia_ai import models
from evennia_ai.contrib.triggers.occasions import Occasion
from evennia_ai.contrib.triggers.parsing import Trigger
from evennia_ai.store.transactions import store_errors
from evennia_ai.turn.prompt_contexts import TurnKind

TRIGGERED = TurnKind("trigger", "")  # asks no model
MOST_A_MINUTE = 30  # acts of all triggers of one character
FIGHT_S = 60.0  # without a blow, and the next one begins another fight
FIRED = re.compile(r"trigger (\d+) by (\S*):")
Times = defaultdict[tuple[int, str], list[float]]  # by trigger and person; of all by (0, "")


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
