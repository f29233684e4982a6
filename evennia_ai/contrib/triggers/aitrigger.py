"""``aitrigger``: what a character does when something happens."""

import json
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.common import AICommand, CommandResult, UsageError
from evennia_ai.contrib.triggers import surroundings, triggers
from evennia_ai.contrib.triggers.parsing import HOW, MOST_TRIGGERS, USED, Trigger, read_trigger
from evennia_ai.errors import ConfigError, NothingDone
from evennia_ai.game.client_text import clean_output
from evennia_ai.messages import ToolCallRequest
from evennia_ai.scheduling import Coroutine
from evennia_ai.turn.tool_executor import DONE


class CmdAITrigger(AICommand):
    """let a character act when something happens

    Usage:
      aitrigger <character>
      aitrigger <character> = <when>[, once per <time>]: <what>
      aitrigger/try <character> = <number>
      aitrigger/remove <character> = <number>

    Without "=": the character's triggers with their numbers.

    When (of words with a / between them write one):
      when somebody enters [carrying/wielding <thing>]     when Ann leaves
      when somebody uses/takes/drops/gives <thing>         when somebody says <words>
      when attacked/hit/missed/killed                      when hit below 50 %
      when somebody is attacked/hit/killed                 when somebody flees
      at dawn/noon/dusk/midnight/06:30                     every 2 hours
    In place of somebody, name a person; a thing's tag does for its name. Words are
    found by their meaning, too, if the game has an embedder. Times are the world's;
    dawn is 06:00, dusk 18:00.

    What:
      say <words>       pose <deed>       think <note>, which its model reads
      do <tool> [<argument> = <value>; ...], or a command of |waicommands|n
    $who is who did it, $what the thing or the victim, $damage and $health (in per
    cent) tell of a blow.

    How often: once per hour for each person, unless you write |wonce per day|n or
    |wonce per person per 10 minutes|n. Asleep, it only notices fights.

    Switches:
      try    - show what it would say or do if you set it off now; nothing happens
      remove - remove a trigger

    Examples:
      aitrigger Mira = when somebody enters wielding weapon: say Put it away, $who.
      aitrigger Mira = when bell is used, once per minute: think A guest is waiting.
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
        self.msg("\n".join([f"|w{self.name}|n acts:", *lines] if lines else none))

    def add(self, written: str) -> None:
        if len(self.rules) >= MOST_TRIGGERS:
            raise UsageError(f"{self.name} has {MOST_TRIGGERS} already. Remove one first.")
        number = max((item.number for item in self.rules), default=0) + 1
        try:
            trigger = read_trigger(written, number, self.services.now().timestamp())
            self.call_of(trigger)
        except (ConfigError, NothingDone) as error:
            raise UsageError(str(error)) from error
        triggers.write_triggers(self.script, (*self.rules, trigger))
        surroundings.follow_clock(self.script)
        lines = [f"Trigger {number} of {self.name}: {clean_output(trigger.text)}"]
        if trigger.kind == USED and (names := surroundings.offer_use(self.script)):
            shown = clean_output(", ".join(names))
            lines.append(f"Who is here can type |wuse|n and a name of: {shown}")
        lines.append(f"To see what it does: |waitrigger/try {self.name} = {number}|n")
        self.msg("\n".join(lines))

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
        triggers.write_triggers(self.script, tuple(t for t in self.rules if t is not trigger))
        self.msg(f"Removed: {clean_output(trigger.text)}")

    def call_of(self, trigger: Trigger) -> tuple[triggers.Occasion, str, dict[str, Any]]:
        """Return what a trigger would do if the caller set it off; raises NothingDone."""
        me, tools = self.script.character, self.services.toolbox.tools
        occasion = triggers.Occasion(trigger.kind, self.caller, me, damage=1, health=40)
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
        times = triggers.last_times(self.script, self.services)
        wait_s = triggers.wait_of(times, trigger, occasion, self.services.now().timestamp())
        if wait_s > 0:
            problems.append(f"For you it acted lately; again in {wait_s / 60:.0f} min.")
        if not mind.status.may_think() or mind.sleep.is_asleep:
            problems.append("It is stopped or asleep now, or somebody plays it.")
        pairs = "; ".join(f"{key} = {value}" for key, value in arguments.items())
        shown = f'"{arguments["text"]}"' if set(arguments) == {"text"} else pairs
        act = f"{self.name} would {name}: {clean_output(shown)}"
        self.tell([act, *problems, "Nothing was done."])
