"""``aitrigger``: what a character does when something happens."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
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

NO_NAMES = {parsing.ME, parsing.PLAYER, *parsing.ANY}
MOST_CALLED = 100  # objects looked at, to know whether one has a name


class CmdAITrigger(AICommand):
    """let a character act when something happens

    Usage:
      aitrigger <character>
      aitrigger <character> = <when>: <what>[; limit <how often>]
      aitrigger/remove <character> = <number>

    Lists the character's triggers; adds one, and shows what the character would do
    if you set it off now; removes one.

    When:
      when somebody enters [carrying/wielding/without <thing>]
      when Ann leaves [<exit>]               when somebody says "room" or "bed"
      when a player takes/drops/gives/uses the bell, or: when the bell is used
      when hit below 50 % [by Ann], when Ann is attacked/hit/missed/killed, when
      Ann flees: all these where the extension fights is on, too
      at dusk, at dawn, at noon, at midnight, at 06:30 [in Lantern Row]; every hour,
      every 2 hours, every 30 minutes
    Hours of the world may follow: after 20:00 (until dawn), before dawn, between
    0:00 and 5:00, at night, by day. A thing or person is named as you see it, by
    the end of its name, or by a tag; "crown*" is all whose name begins so.

    What:
      say <words>       pose <deed>       think <note>, which its model reads
      do <tool>, such as: do give apple to $who, do whisper Psst to $who
      do <exit>, or a command of |waicommands|n
    $who is the somebody in the sentence, or whoever did it; $what the thing or the
    other person; $damage and $health (in per cent) tell of a blow.

    How often: each time, up to 5 times a minute. Less: limit once per day, limit 3
    per hour per person, limit once per person (ever), limit once per fight. Asleep,
    a character only notices fights.

    Examples:
      aitrigger Mira = when somebody enters wielding weapon: say Put it away, $who.
      aitrigger Mira = when bell is used: think A guest waits; limit 1 per minute
    """

    key = "aitrigger"
    switch_options = ("remove",)

    def run(self) -> CommandResult:
        (self.find_editable if self.rhs else self.find_assistant)(self.lhs)
        self.rules: Sequence[Trigger] = triggers.triggers_of(self.script)
        return self.dispatch()

    def do_default(self) -> Any:
        if self.rhs:
            return self.add(self.rhs)
        lines = [
            f"  {item.number}. {clean_output(item.text)}"
            + f" |y(does nothing: {item.what})|n" * (not item.kind)
            for item in self.rules
            if item.text
        ]
        head = f"|w{self.name}|n acts:" if lines else f"{self.name} has no triggers. {HOW}"
        return self.msg("\n".join([head, *lines, *self.clock_line(*self.rules)]))

    def clock_line(self, *rules: Trigger) -> list[str]:
        """Return the world's time where a trigger waits for one: Evennia's ``time`` may differ."""
        clock = self.services.world_clock
        whose = "server's" if clock.source.is_real else "game's"
        line = f"|xIn the world it is {clean_output(clock.shown(), 120)}, by the {whose} clock. "
        line += "WORLD_CLOCK in server/conf/settings.py chooses another.|n"
        return [line] * any(item.kind == TIME for item in rules)

    @inlineCallbacks
    def add(self, written: str) -> Coroutine[None]:
        number = self.rules[-1].number + 1 if self.rules else 1
        try:
            trigger = parsing.read_trigger(written, number, self.script.character.key)
            answer = self.missing(trigger) + (yield self.trial_of(trigger))
        except (ConfigError, NothingDone) as error:
            raise UsageError(str(error)) from error
        self.store([*self.rules, trigger])
        answer += self.clock_line(trigger)
        if surroundings.watch(self.script) and trigger.kind == USED:
            answer.append("Who is here can type |wuse <thing>|n.")
        head = f"Trigger {number} of {self.name}: {clean_output(trigger.text)}"
        self.msg("\n".join([head, *answer]))

    def store(self, rules: Iterable[Trigger]) -> None:
        """Store triggers, of which no text is left if they are removed; raises StoreUnavailable."""
        lines = (f"{item.number} {item.text}".strip() for item in rules)
        self.script.mind.settings.write({"trigger_rules": "\n".join(lines)})

    def missing(self, trigger: Trigger) -> list[str]:
        """Return what a trigger waits for in vain; raises ConfigError for a part of no name."""
        lines, extensions = [], {item.name for item in self.services.extensions}
        for role, name in trigger.wanted:
            if is_called(name):
                continue
            before, _space, last = name.rpartition(" ")
            by_end = before * (role in ("actor", "victim") and is_called(last))
            first = name.split(" ")[0] * (role == "way" or name[0].isdecimal())
            none = f"Nobody and nothing is called '{clean_output(name, 40)}'"
            if unread := parsing.part_behind(name, is_called) or by_end or first:
                raise ConfigError(f"{none}: '{clean_output(unread, 40)}' is not understood. {HOW}")
            lines.append(f"{none} yet.")
        if "victim" in dict(trigger.wanted) and "fights" not in extensions:
            lines.append("Nobody notices fights: the extension fights is off.")
        return lines

    def do_remove(self) -> None:
        removed = [item for item in self.rules if item.text and str(item.number) == self.rhs]
        if not removed:
            raise UsageError(f"Which number? |waitrigger {self.name}|n lists them.")
        self.store(replace(item, text=item.text * (item not in removed)) for item in self.rules)
        self.msg(f"Removed: {clean_output(removed[0].text)}")

    @inlineCallbacks
    def trial_of(self, trigger: Trigger) -> Coroutine[list[str]]:
        """Fire with what it would do, and why that would not work now; fails with NothingDone."""
        mind, toolbox, me = self.script.mind, self.services.toolbox, self.script.character
        victim = me if "victim" in dict(trigger.wanted) else None
        people = (me, self.caller) if trigger.is_passive else (self.caller, victim)
        occasion = Occasion(trigger.kind, *people, damage=1, health=40)
        name, arguments = triggers.call_of(trigger, occasion, me, toolbox.tools)
        what = clean_output(parsing.fill(trigger.what, occasion.values(trigger, me)))
        act = trigger.act.replace("emote", "pose")
        lines = [f"If you set it off, {self.name} would {act}: {what}"]
        if act != "think":
            call = ToolCallRequest("", name, json.dumps(arguments))
            result = yield toolbox.run(triggers.context_of(mind, occasion), call, dry=True)
            reads = f'{self.name} cannot do that now, and reads: "{clean_output(result.text)}"'
            lines += [reads] * (result.state != DONE)
        return lines


def is_called(name: str) -> bool:
    """Return True if somebody or something in the game has a name or a tag."""
    last = name.rsplit(maxsplit=1)[-1].strip("*")
    rows = ObjectDB.objects.filter(Q(db_key__icontains=last) | Q(db_tags__db_key__iexact=name))
    return name.lower() in NO_NAMES or fits(name, rows[:MOST_CALLED], None)
