"""Stop, start, wake, put to sleep and compact an assistant by hand."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.compaction.plan import Skip
from evennia_ai.policy.disclosure import FIGURES
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.sleep_schedule import ORDER
from evennia_ai.sleep.compaction.compact import CHANGED
from evennia_ai.sleep.compaction.request import MANUAL, CompactionRequest
from evennia_ai.store.attributes import write_attribute

EVERYBODY = "all"
MOST_KEPT = 10_000


class SwitchCommand(AICommand):
    """A switch with two positions: ``turn_one`` assistant, or ``turn_all`` by the services.

    Both raise UsageError if the switch is in that position already.
    """

    def run(self) -> None:
        name = self.args.strip()
        if not name:
            raise UsageError(f"Which character? |w{self.key} <character>|n, or |w{self.key} all|n.")
        if name.lower() != EVERYBODY:
            self.find_editable(name)
            self.turn_one()
        elif not self.has_permission("Admin"):
            raise UsageError(f"Only admins may use |w{self.key} all|n.")
        else:
            self.turn_all()


class CmdAIStop(SwitchCommand):
    """
    stop an assistant, or all of them, at once

    Usage:
      aistop <character>
      aistop all

    A stopped assistant thinks and says nothing; a turn in progress is dropped.
    |waistop all|n (for admins) ends every model call at once and allows no new
    one, also after a restart, until |waistart all|n. Players who speak to a
    character meanwhile are told that it is silent; their lines are stored as
    expired and are never answered.
    """

    key = "aistop"

    def turn_one(self) -> None:
        if not self.script.is_on:
            raise UsageError(f"{self.name} is stopped already.")
        self.script.mind.stop_thinking()
        self.msg(f"{self.name} is stopped. To start it again: |waistart {self.name}|n")

    def turn_all(self) -> None:
        if since := self.services.switched_off:
            raise UsageError(f"All assistants are stopped already: {clean_output(since)}")
        by = self.caller_name
        self.services.switch_off(f"All assistants were stopped by {by}.")
        self.msg(
            "All assistants are stopped, and no model is called. To start them: |waistart all|n"
        )


class CmdAIStart(SwitchCommand):
    """
    start a stopped assistant, or all of them

    Usage:
      aistart <character>
      aistart all

    Undoes |waistop|n. An assistant that was stopped by name stays stopped when
    you start all of them.
    """

    key = "aistart"

    def turn_one(self) -> None:
        if self.script.is_on:
            raise UsageError(f"{self.name} is not stopped.")
        write_attribute(self.script, "stopped", None)
        self.script.wake()
        self.msg(f"{self.name} is started.")
        if self.services.switched_off:
            self.msg("But all assistants are stopped by an admin. To start them: |waistart all|n")

    def turn_all(self) -> None:
        if not self.services.switched_off:
            raise UsageError("The assistants are not stopped.")
        self.services.switch_on()
        self.msg("All assistants are started, except those that were stopped by name.")


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

    def run(self) -> None:
        script = self.find_editable(self.args.strip())
        if script.mind.rest.is_asleep:
            raise UsageError(f"{self.name} is asleep already.")
        if not script.mind.life.may_think():
            raise UsageError(
                f"{self.name} cannot sleep now: it is stopped, or somebody plays it."
                " See |waistatus|n."
            )
        asleep = script.mind.rest.go_to_bed(ORDER, f"at {self.caller_name}'s word")
        now = "is asleep" if asleep else "will fall asleep when nobody waits for an answer"
        self.msg(f"{self.name} {now}. |waiwake|n wakes it, and so does anybody who speaks to it.")


class CmdAIWake(AICommand):
    """
    wake a sleeping assistant

    Usage:
      aiwake <character>
    """

    key = "aiwake"

    def run(self) -> None:
        script = self.find_editable(self.args.strip())
        if script.mind.rest.stay_up():
            self.msg(f"{self.name} stays awake.")
            return
        if not script.mind.rest.is_asleep:
            raise UsageError(f"{self.name} is awake.")
        script.mind.rest.wake_up(f"at {self.caller_name}'s word")
        self.msg(f"{self.name} is awake.")


class CmdAICompact(AICommand):
    """
    replace old messages by a summary, so that the context window has room

    Usage:
      aicompact <character> [= <what to keep above all>]
      aicompact/keep <character>/<number> [= <what to keep above all>]
      aicompact/dry <character>
      aicompact/undo <character>

    A compaction replaces the oldest messages in the prompt by a summary. The log
    keeps every message: |waihistory|n shows them as before. The assistant does
    this by itself when its context window is nearly full.

    Switches:
      keep - keep this number of the newest messages word for word, this time
      dry  - show what a compaction would do, and change nothing
      undo - undo the last compaction; repeat it to undo the one before
    """

    key = "aicompact"
    locks = "cmd:perm(Admin)"
    reads = FIGURES
    switch_options = ("keep", "dry", "undo")
    failure_text = "Nothing was changed: {reason}"

    def do_default(self) -> Deferred[None]:
        request = self.read_request()
        running: Deferred[dict[str, Any]] = self.script.mind.compact(request)
        self.msg(f"{self.name} is being compacted ...")
        return running.addCallback(lambda result: self.msg(describe(result)))

    do_keep = do_default

    def do_dry(self) -> None:
        request = self.read_request()
        use = self.script.mind.meter.measure()
        task = self.script.mind.compactor.decide(request, use)
        size = f"{use.used:,} of {use.window:,} tokens"
        fill = f"{self.name}'s context window is {use.ratio:.0%} full ({size})."
        if isinstance(task, Skip):
            self.msg(f"{fill} A compaction would change nothing: {task.reason}.")
            return
        kept = len(task.messages) - task.plan.cut
        self.msg(
            f"{fill} {task.plan.cut} messages would be summarised, the newest {kept} "
            f"({task.plan.kept_tokens:,} tokens) would stay. Nothing was changed."
        )

    def do_undo(self) -> None:
        script = self.find_assistant(self.lhs)
        undone = script.mind.compactor.archive.undo()
        if undone is None:
            raise UsageError(f"{self.name} has no compaction to undo.")
        use = script.mind.meter.measure()
        self.msg(
            f"The compaction of {undone.compacted_count} messages is undone. "
            f"The context window is {use.ratio:.0%} full now."
        )
        if use.ratio >= script.config.compact_emergency_threshold:
            self.msg(
                f"{self.name} will compact again at its next tick. To prevent that: "
                f"|waistop {self.name}|n"
            )

    def read_request(self) -> CompactionRequest:
        """Find the assistant, and return the compaction that was asked for; raises UsageError."""
        name, _, number = map(str.strip, self.lhs.partition("/"))
        keep = None
        if self.switch == "keep":
            if not number.isdigit() or int(number) > MOST_KEPT:
                raise UsageError(
                    "How many messages? |waicompact/keep <character>/<number>|n, with a number "
                    f"from 0 to {MOST_KEPT:,}."
                )
            keep = int(number)
        self.find_assistant(name)
        focus = clean_heard(self.rhs or "", 300) or None
        return CompactionRequest(MANUAL, force=True, focus=focus, keep_recent=keep)


def describe(result: dict[str, Any]) -> str:
    if result.get("skipped"):
        return f"Nothing was changed: {result['reason']}."
    if result.get("error") == CHANGED:
        return "The conversation changed meanwhile, so nothing was compacted. Try again."
    if not result["success"]:
        return "The model produced no usable summary, so nothing was changed. See |waistatus|n."
    return (
        f"Done ({result['rung']}): {result['compacted_messages']} messages summarised, "
        f"{result['preserved_messages']} kept; {result['original_tokens']:,} tokens "
        f"before, {result['new_tokens']:,} now. To undo it: |waicompact/undo|n"
    )
