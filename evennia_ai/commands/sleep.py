"""``aisleep`` and ``aiwake``: put an assistant to sleep by hand, and wake it."""

from __future__ import annotations

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.client_text import shown_name
from evennia_ai.game.sleep_state import go_to_bed, is_asleep, stay_up, wake_up
from evennia_ai.policy.schedule.sleep_schedule import ORDER


class CmdAISleep(AICommand):
    """
    put an assistant to sleep

    Usage:
      aisleep <character>

    A sleeping assistant sorts its memories: it writes facts from old messages
    into its journal, and compacts them if its context window is nearly full. It
    wakes when somebody speaks to it. During a sleep pass it first mumbles, and
    answers a little later. Without this command it sleeps in the hours of its
    setting sleep_schedule, takes a nap when nobody is near, or uses its own tool
    go_to_sleep. |waihistory/sleep|n shows what it did.
    """

    key = "aisleep"
    locks = "cmd:perm(Builder)"

    def run(self) -> None:
        """Put it to sleep now, or as soon as nobody waits for an answer."""
        script = self.find_editable(self.args.strip())
        if is_asleep(script):
            raise UsageError(f"{shown_name(script)} is asleep already.")
        if not script.may_think():
            raise UsageError(
                f"{shown_name(script)} cannot sleep now: it is stopped, or somebody plays it."
                " See |waistatus|n."
            )
        asleep = go_to_bed(script, ORDER, f"at {self.caller.key}'s word")
        now = "is asleep" if asleep else "will fall asleep when nobody waits for an answer"
        self.msg(
            f"{shown_name(script)} {now}. "
            "|waiwake|n wakes it, and so does anybody who speaks to it."
        )


class CmdAIWake(AICommand):
    """
    wake a sleeping assistant

    Usage:
      aiwake <character>
    """

    key = "aiwake"
    locks = "cmd:perm(Builder)"

    def run(self) -> None:
        """Wake it, or cancel its going to sleep."""
        script = self.find_editable(self.args.strip())
        if stay_up(script):
            self.msg(f"{shown_name(script)} stays awake.")
            return
        if not is_asleep(script):
            raise UsageError(f"{shown_name(script)} is awake.")
        wake_up(script, f"at {self.caller.key}'s word")
        self.msg(f"{shown_name(script)} is awake.")
