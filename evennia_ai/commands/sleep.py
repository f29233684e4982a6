"""``aisleep`` and ``aiwake``: put an assistant to sleep by hand, and wake it."""

from __future__ import annotations

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.sleep_state import go_to_bed, is_asleep, wake_up
from evennia_ai.policy.schedule.sleep_schedule import ORDER


class CmdAISleep(AICommand):
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
    locks = "cmd:perm(Builder)"

    def run(self) -> None:
        """Put it to sleep now, or as soon as nobody waits for an answer."""
        script = self.find_editable(self.args.strip())
        if is_asleep(script):
            raise UsageError(f"{script.character_name} is asleep already.")
        if not script.may_think():
            raise UsageError(f"{script.character_name} is stopped, or played by somebody.")
        asleep = go_to_bed(script, ORDER, f"at {self.caller.key}'s word")
        now = "sleeps" if asleep else "will sleep as soon as nobody waits for an answer"
        self.msg(f"{script.character_name} {now}. |waiwake|n wakes it, and so does talk.")


class CmdAIWake(AICommand):
    """
    wake an assistant that sleeps

    Usage:
      aiwake <character>
    """

    key = "aiwake"
    locks = "cmd:perm(Builder)"

    def run(self) -> None:
        """Wake it, or cancel its going to sleep."""
        script = self.find_editable(self.args.strip())
        if script.ndb.bedtime:
            script.ndb.bedtime = None
            self.msg(f"{script.character_name} stays awake.")
            return
        if not is_asleep(script):
            raise UsageError(f"{script.character_name} is awake.")
        wake_up(script, f"at {self.caller.key}'s word")
        self.msg(f"{script.character_name} is awake.")
