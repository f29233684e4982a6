"""``aitrigger``: what a character does when something happens."""

import json
import math
import re
from typing import Any

from django.db.models import Q
from evennia.objects.models import ObjectDB
from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.common import AICommand, CommandResult, UsageError
from evennia_ai.contrib.triggers import surroundings, triggers
from evennia_ai.contrib.triggers.occasions import Occasion, fits
from evennia_ai.contrib.triggers.parsing import (
    EVERYBODY,
    HOW,
    MOST_TRIGGERS,
    PLAYER,
    TIME,
    USED,
    Trigger,
    read_trigger,
)
from evennia_ai.errors import ConfigError, NothingDone
from evennia_ai.game.client_text import clean_output
from evennia_ai.messages import ToolCallRequest
from evennia_ai.policy.retrieval.words import stem
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.tool_executor import DONE

MOST_CALLED = 100  # objects looked at, to know whether one has a name


class CmdAITrigger(AICommand):
    """let a character act when something happens

    Usage:
      aitrigger <character>
      aitrigger <character> = <when>: <what>[; limit <how often>]
      aitrigger/try <character> = <number>
      aitrigger/remove <character> = <number>

    Without "=": the character's triggers with their numbers.

    When:
      when somebody enters [carrying/wielding/without <thing>]
      when Ann leaves [north]                when somebody says "room" or "bed"
      when a player takes/drops the bell     when given 10 coins
      when bell is used, or: when somebody rings the bell
      when attacked/hit/missed/killed        when Ann is attacked by Bob
      when hp below 50 %                     when Ann flees, when a fight starts
      at dusk, at 06:30 in Lantern Row       every 2 hours from 8 to 20
    A sentence may end with hours of the world: after 20:00, between 0:00 and 5:00,
    at night. Day is from dawn (06:00, or as the calendar has it) to dusk (18:00). A
    thing or person is named as you see it, by the end of its name or by a tag. Words
    without "" are found by their meaning, too, if the game has an embedder.

    What:
      say <words>       pose <deed>       think <note>, which its model reads
      do <tool>, such as: do give apple to $who, do whisper Psst to $who
      do <exit>, or a command of |waicommands|n
    $who is the somebody in the sentence, or whoever did it; $what the thing or the
    other person; $damage and $health (in per cent) tell of a blow.

    How often: each time, up to 5 times a minute. Less: limit once per day, limit 3
    per hour, limit once per person per day, limit once per person (ever), limit once
    per fight. Asleep, a character only notices fights.

    Switches:
      try    - show what it would say or do if you set it off now; nothing happens
      remove - remove a trigger

    Examples:
      aitrigger Mira = when somebody enters wielding weapon: say Put it away, $who.
      aitrigger Mira = when bell is used: think A guest waits; limit 1 per minute
      aitrigger Mira = at dusk: pose lights the lamps.
    """

    key = "aitrigger"
    switch_options = ("try", "remove")
    rules: tuple[Trigger, ...] = ()  # the character's

    def run(self) -> CommandResult:
        changes = self.switch == "remove" or (self.rhs and not self.switch)
        (self.find_editable if changes else self.find_assistant)(self.lhs)
        self.rules = triggers.triggers_of(self.script)
        return self.dispatch()

    def do_default(self) -> None:
        if self.rhs:
            self.add(self.rhs)
            return
        lines = [f"  {item.number}. {clean_output(item.text)}" for item in self.rules]
        none = [f"{self.name} has no triggers. {HOW}"]
        lines += self.clock_line(*self.rules)
        self.msg("\n".join([f"|w{self.name}|n acts:", *lines] if lines else none))

    def clock_line(self, *rules: Trigger) -> list[str]:
        """Return the world's time where a trigger waits for one: Evennia's ``time`` may differ."""
        clock = self.services.world_clock
        moment = clean_output(clock.shown(), 120) + ", the server's time" * clock.source.is_real
        is_timed = any(item.kind == TIME for item in rules)
        return [f"|xIn the world it is {moment}.|n"] * is_timed

    def add(self, written: str) -> None:
        if len(self.rules) >= MOST_TRIGGERS:
            raise UsageError(f"{self.name} has {MOST_TRIGGERS} already. Remove one first.")
        number = triggers.last_number(self.script) + 1
        try:
            trigger, note = self.read(written, number)
            self.call_of(trigger)
        except (ConfigError, NothingDone) as error:
            raise UsageError(str(error)) from error
        triggers.write_triggers(self.script, [*self.rules, trigger], number)
        surroundings.follow_clock(self.script)
        lines = [f"Trigger {number} of {self.name}: {clean_output(trigger.text)}", *note]
        lines += self.clock_line(trigger)
        if surroundings.offer_use(self.script) and trigger.kind == USED:
            lines.append(f"Who is here can type |wuse {clean_output(trigger.thing)}|n.")
        lines.append(f"To see what it does: |waitrigger/try {self.name} = {number}|n")
        self.msg("\n".join(lines))

    def read(self, written: str, number: int) -> tuple[Trigger, list[str]]:
        """Return a trigger, and a note on who or what is not there; "a guest" is then anybody.

        Raises ConfigError.
        """
        me, note = self.script.character.key, []
        trigger = read_trigger(written, number, me)
        if trigger.thing and not self.is_there(trigger.thing):
            note = [f"Nothing is called '{clean_output(trigger.thing, 40)}' yet."]
        for name in {trigger.actor, trigger.victim or ""} - {"", PLAYER, EVERYBODY}:
            if not self.is_there(name):
                pattern = rf"(?i)\b(?:an?|any|every) {re.escape(name)}\b"
                anybody = re.sub(pattern, "somebody", written)
                then = " yet." if anybody == written else ": anybody sets it off."
                note.append(f"Nobody is called '{clean_output(name, 40)}'{then}")
                trigger = read_trigger(anybody, number, me)
        return trigger, note

    def is_there(self, name: str) -> bool:
        """Return True if somebody or something of the game may have a name."""
        last = stem(name.rsplit(maxsplit=1)[-1].lower())
        is_called = Q(db_key__icontains=last) | Q(db_tags__db_key__iexact=name)
        objects = ObjectDB.objects.filter(is_called | Q(db_typeclass_path__icontains=last))
        return fits(name, objects[:MOST_CALLED], self.caller)

    def chosen(self) -> Trigger:
        """Return the trigger with the number that was typed; raises UsageError."""
        typed = (self.rhs or "").strip()
        for item in self.rules:
            if str(item.number) == typed:
                return item
        shown = clean_output(typed, 20)
        raise UsageError(f"There is no trigger '{shown}'. |waitrigger {self.name}|n lists them.")

    def do_remove(self) -> None:
        trigger = self.chosen()
        left, last = [t for t in self.rules if t is not trigger], triggers.last_number(self.script)
        triggers.write_triggers(self.script, left, last)
        self.msg(f"Removed: {clean_output(trigger.text)}")

    def call_of(self, trigger: Trigger) -> tuple[Occasion, str, dict[str, Any]]:
        """Return what a trigger would do if the caller set it off; raises NothingDone."""
        me, tools = self.script.character, self.services.toolbox.tools
        people = (me, self.caller) if trigger.is_passive else (self.caller, me)
        occasion = Occasion(trigger.kind, *people, damage=1, health=40)
        return occasion, *triggers.call_of(trigger, occasion, me, tools)

    @inlineCallbacks
    def do_try(self) -> Coroutine[None]:
        trigger, mind, problems = self.chosen(), self.script.mind, []
        occasion, name, arguments = self.call_of(trigger)
        if trigger.act != "think":
            call = ToolCallRequest("", name, json.dumps(arguments))
            context = triggers.context_of(mind, occasion)
            result = yield self.services.toolbox.run(context, call, dry=True)
            problems += [clean_output(result.text)] * (result.state != DONE)
        if wait_s := triggers.wait_of(mind.who.character, trigger, occasion, self.services):
            again = f"again in {wait_s / 60:.0f} min" if wait_s < math.inf else "not again"
            problems.append(f"For you it acted lately; {again}.")
        if not mind.status.may_think() or mind.sleep.is_asleep:
            problems.append("It is stopped or asleep now, or somebody plays it.")
        pairs = "; ".join(f"{key} = {value}" for key, value in arguments.items())
        shown = f'"{arguments["text"]}"' if set(arguments) == {"text"} else pairs
        act = f"{self.name} would {name}: {clean_output(shown)}"
        self.tell([act, *problems, "Nothing was done."])
