"""``aisleep`` and ``aiwake``: put an assistant to sleep by hand, and wake it."""

from __future__ import annotations

from typing import Any

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.commands.setup import ensure_may_edit
from evennia_ai.game.sleep_state import go_to_bed, is_asleep, stay_up, wake_up
from evennia_ai.policy.schedule.sleep_schedule import ORDER


class RestCommand(AICommand):
    """What the two have in common."""

    locks = "cmd:perm(Builder)"
    switch_options = ()

    def find_own(self) -> Any:
        """The assistant that was named; raises UsageError where the caller may not change it."""
        script = self.find_assistant(self.args.strip())
        ensure_may_edit(script.character, self.caller)
        return script


class CmdAISleep(RestCommand):
    """
    put an assistant to sleep

    Usage:
      aisleep <character>

    Asleep it sorts what it has been through: it writes down what it will need
    of old talk, and sums that up where its context fills. Whoever speaks to it
    wakes it; in the middle of sorting it mumbles and wakes a little later.
    Without this it sleeps in the hours of its setting sleep_schedule, for a nap
    with nobody near, and when it wants to. aihistory/sleep tells what it did.
    """

    key = "aisleep"

    def run(self) -> None:
        """Put it to sleep."""
        script = self.find_own()
        if is_asleep(script):
            raise UsageError(f"{script.character_name} is asleep already.")
        if not script.may_think():
            raise UsageError(f"{script.character_name} is stopped, or played by somebody.")
        asleep = go_to_bed(script, ORDER, f"at {self.caller.key}'s word")
        now = "sleeps" if asleep else "will sleep as soon as nobody waits for an answer"
        self.msg(f"{script.character_name} {now}. |waiwake|n wakes it, and so does talk.")


class CmdAIWake(RestCommand):
    """
    wake an assistant that sleeps

    Usage:
      aiwake <character>
    """

    key = "aiwake"

    def run(self) -> None:
        """Wake it."""
        script = self.find_own()
        if stay_up(script):
            self.msg(f"{script.character_name} stays awake.")
            return
        if not is_asleep(script):
            raise UsageError(f"{script.character_name} is awake.")
        wake_up(script, f"at {self.caller.key}'s word")
        self.msg(f"{script.character_name} is awake.")
