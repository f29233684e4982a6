"""``aitrigger``: what a character does when something happens."""

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import Q
from evennia.objects.models import ObjectDB
from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.common import AICommand, CommandResult, UsageError
from evennia_ai.contrib.triggers import parsing, surroundings, triggers
from evennia_ai.contrib.triggers.occasions import Occasion, fits
from evennia_ai.contrib.triggers.parsing import HOW, TIME, USED, Trigger
from evennia_ai.errors import ConfigError, NothingDone
from evennia_ai.game.client_text import clean_output
from evennia_ai.messages import ToolCallRequest
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.tool_executor import DONE

NO_NAMES = {parsing.ME, parsing.ANYBODY, parsing.PLAYER}
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
      when Ann leaves                        when somebody says "room" or "bed"
      when a player takes/drops/gives/uses the bell, or: when the bell is used
      when hit below 50 % [by Ann], when Ann is attacked/hit/missed/killed, when
      Ann flees: all these where the extension fights is on, too
      at dusk, at dawn, at noon, at midnight, at 06:30 [in Lantern Row]
    A thing or person is named as you see it, by the end of its name, or by a tag.

    What:
      say <words>       pose <deed>       think <note>, which its model reads
      do <tool>, such as: do give apple to $who, do whisper Psst to $who
      do <exit>, or a command of |waicommands|n
    $who is the somebody in the sentence, or whoever did it; $what the thing or the
    other person; $damage and $health (in per cent) tell of a blow.

    How often: each time, up to 5 times a minute. Less: limit once per day, limit 3
    per hour per person, limit once per person (ever), limit once per fight. Asleep,
    a character only notices fights.

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

    def do_default(self) -> Any:
        if self.rhs:
            return self.add(self.rhs)
        lines = [f"  {item.number}. {clean_output(item.text)}" for item in self.rules]
        none = [f"{self.name} has no triggers. {HOW}"]
        lines += self.clock_line(*self.rules)
        return self.msg("\n".join([f"|w{self.name}|n acts:", *lines] if lines else none))

    def clock_line(self, *rules: Trigger) -> list[str]:
        """Return the world's time where a trigger waits for one: Evennia's ``time`` may differ."""
        clock = self.services.world_clock
        whose = "server's" if clock.source.is_real else "game's"
        line = f"|xIn the world it is {clean_output(clock.shown(), 120)}, by the {whose} clock. "
        line += "WORLD_CLOCK in server/conf/settings.py chooses another.|n"
        return [line] * any(item.kind == TIME for item in rules)

    @inlineCallbacks
    def add(self, written: str) -> Coroutine[None]:
        number = int(self.lines[-1].split(" ")[0]) + 1 if self.lines else 1
        try:
            trigger = parsing.read_trigger(written, number, self.script.character.key)
            problems = self.missing(trigger) + (yield self.problems_of(trigger))
        except (ConfigError, NothingDone) as error:
            raise UsageError(str(error)) from error
        self.store([*self.lines, f"{number} {trigger.text}"])
        surroundings.follow_clock(self.script)
        answer = [f"Trigger {number} of {self.name}: {clean_output(trigger.text)}", *problems]
        answer += self.clock_line(trigger)
        if surroundings.offer_use(self.script) and trigger.kind == USED:
            answer.append("Who is here can type |wuse <thing>|n.")
        answer.append(f"To see what it does: |waitrigger/try {self.name} = {number}|n")
        self.msg("\n".join(answer))

    @property
    def lines(self) -> list[str]:
        """Return the lines of the setting: for each trigger its number and its text, if any."""
        return list(self.script.config.part(parsing.TriggerSettings).trigger_rules.splitlines())

    def store(self, lines: Sequence[str]) -> None:
        """Store the lines of the setting; raises StoreUnavailable."""
        self.script.mind.settings.write({"trigger_rules": "\n".join(lines)})

    def missing(self, trigger: Trigger) -> list[str]:
        """Return sentences on what a trigger waits for in vain, as things stand."""
        lines = []
        for name in {name for _role, name in trigger.wanted} - NO_NAMES:
            is_called = Q(db_key__icontains=name.split()[-1]) | Q(db_tags__db_key__iexact=name)
            if not fits(name, ObjectDB.objects.filter(is_called)[:MOST_CALLED], None):
                lines.append(f"Nobody and nothing is called '{clean_output(name, 40)}' yet.")
        extensions = {item.name for item in self.services.extensions}
        if trigger.kind in parsing.FIGHT and "fights" not in extensions:
            lines.append("Nobody notices fights: the extension fights is off.")
        return lines

    def chosen(self) -> Trigger:
        """Return the trigger with the number that was typed; raises UsageError."""
        typed = (self.rhs or "").strip()
        if typed in (numbers := {str(item.number): item for item in self.rules}):
            return numbers[typed]
        shown = clean_output(typed, 20)
        raise UsageError(f"There is no trigger '{shown}'. |waitrigger {self.name}|n lists them.")

    def do_remove(self) -> None:
        trigger = self.chosen()
        number = str(trigger.number)
        self.store([number if line.split(" ")[0] == number else line for line in self.lines])
        self.msg(f"Removed: {clean_output(trigger.text)}")

    def occasion_of(self, trigger: Trigger) -> Occasion:
        """Return what it would be for a trigger if the caller set it off."""
        me = self.script.character
        people = (me, self.caller) if trigger.is_passive else (self.caller, me)
        return Occasion(trigger.kind, *people, damage=1, health=40)

    @inlineCallbacks
    def problems_of(self, trigger: Trigger) -> Coroutine[list[str]]:
        """Fire with why what a trigger does would not work now; fails with NothingDone."""
        mind, toolbox = self.script.mind, self.services.toolbox
        occasion = self.occasion_of(trigger)
        name, arguments = triggers.call_of(trigger, occasion, mind.who.character, toolbox.tools)
        if trigger.act == "think":
            return []
        call = ToolCallRequest("", name, json.dumps(arguments))
        result = yield toolbox.run(triggers.context_of(mind, occasion), call, dry=True)
        shown = f'{self.name} cannot do that now, and reads: "{clean_output(result.text)}"'
        return [shown] * (result.state != DONE)

    @inlineCallbacks
    def do_try(self) -> Coroutine[None]:
        trigger, mind = self.chosen(), self.script.mind
        occasion, problems = self.occasion_of(trigger), (yield self.problems_of(trigger))
        if not mind.status.may_think() or mind.sleep.is_asleep:
            problems.append("It is stopped or asleep now, or somebody plays it.")
        values = occasion.values(trigger, mind.who.character)
        what, act = clean_output(parsing.fill(trigger.what, values)), trigger.act
        shown = f"do: {what}" if act == "do" else f'{act.replace("emote", "pose")}: "{what}"'
        self.tell([f"{self.name} would {shown}", *problems, "Nothing was done."])
