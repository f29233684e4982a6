"""``aistop`` with start, sleep and wake; ``aicompact``."""

from typing import Any

from evennia.utils import logger
from twisted.internet.defer import Deferred

from evennia_ai.commands.common import (
    AICommand,
    CommandResult,
    UsageError,
    all_assistants,
    told_apart,
)
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.help_entries import STAFF
from evennia_ai.policy.compaction.plan import MANUAL, CompactionOrder, Skip
from evennia_ai.policy.read_permissions import FIGURES
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.sleep_schedule import ORDER
from evennia_ai.policy.texts import counted
from evennia_ai.sleep.compaction.compact import CHANGED
from evennia_ai.store.attributes import write_attribute

EVERYBODY = "all"
MOST_KEPT = 10_000


class CmdAIStop(AICommand):
    """
    stop an assistant, or all of them, at once

    Usage:
      aistop <character>
      aistop all
      aistop/start <character>     (also: aistart)
      aistop/start all
      aistop/sleep <character>     (also: aisleep)
      aistop/wake <character>      (also: aiwake)

    A stopped assistant thinks and says nothing; a turn in progress is dropped.
    |waistop all|n (for admins) ends every model call at once and allows no new
    one, also after a restart, until |waistart all|n. Players who speak to a
    character meanwhile are told that it is silent; their lines are never
    answered. Who was stopped by name stays stopped when all are started.

    Switches:
      start - undo a stop
      sleep - let it sort its memories and compact its talk if that is due; it
              wakes when somebody speaks to it. |waihistory/sleep|n shows what it
              did. It also sleeps by its settings, such as sleep_schedule.
      wake  - wake it
    """

    key = "aistop"
    help_category = STAFF
    second_names = {"aistart": "start", "aisleep": "sleep", "aiwake": "wake"}
    aliases = tuple(second_names)
    switch_options = ("start", "sleep", "wake")

    def run(self) -> None:
        name = self.args.strip()
        if name.lower() != EVERYBODY or self.switch not in ("", "start"):
            self.find_editable(name)
            self.dispatch()
        elif not self.has_permission("Admin"):
            raise UsageError("Only admins may stop or start all assistants.")
        elif self.switch:
            self.start_all()
        else:
            self.stop_all()
        logger.log_sec(f"{self.describe_use()} = {clean_heard(name)}")

    def do_default(self) -> None:
        if not self.script.is_on:
            raise UsageError(f"{self.name} is stopped already.")
        self.script.mind.stop_thinking()
        self.msg(f"{self.name} is stopped. To start it again: |waistart {self.name}|n")

    def stop_all(self) -> None:
        if since := self.services.switched_off:
            raise UsageError(f"All assistants are stopped already: {clean_output(since)}")
        self.services.switch_off(f"All assistants were stopped by {self.caller_name}.")
        self.msg(
            "All assistants are stopped, and no model is called. To start them: |waistart all|n"
        )

    def do_start(self) -> None:
        if self.script.is_on:
            raise UsageError(f"{self.name} is not stopped.")
        write_attribute(self.script, "stopped", None)
        self.script.wake()
        self.msg(f"{self.name} is started.")
        if self.services.switched_off:
            self.msg("But all assistants are stopped by an admin. To start them: |waistart all|n")

    def start_all(self) -> None:
        stopped = told_apart([script for script in all_assistants() if not script.is_on])
        names = clean_output(", ".join(stopped), 400)
        rest = f" Still stopped by name: {names}." * bool(stopped)
        if not self.services.switched_off:
            raise UsageError(f"The assistants are not stopped.{rest}")
        self.services.switch_on()
        self.msg(f"All assistants are started.{rest}")

    def do_sleep(self) -> None:
        rest = self.script.mind.sleep
        if rest.is_asleep:
            raise UsageError(f"{self.name} is asleep already.")
        self.ensure_may_act("sleep")
        asleep = rest.go_to_bed(ORDER, f"at {self.caller_name}'s word")
        now = "is asleep" if asleep else "will fall asleep when nobody waits for an answer"
        self.msg(f"{self.name} {now}. |waiwake|n wakes it, and so does anybody who speaks to it.")

    def do_wake(self) -> None:
        rest = self.script.mind.sleep
        if rest.stay_up():
            self.msg(f"{self.name} stays awake.")
            return
        if not rest.is_asleep:
            raise UsageError(f"{self.name} is awake.")
        rest.wake_up(f"at {self.caller_name}'s word")
        self.msg(f"{self.name} is awake.")


class CmdAICompact(AICommand):
    """
    replace old messages by a summary, so that the context window has room

    Usage:
      aicompact <character> [= <what to keep above all>]
      aicompact/keep <character>/<number> [= <what to keep above all>]
      aicompact/dry <character>
      aicompact/undo <character>

    The log keeps every message: |waihistory|n shows them as before. The assistant
    does this by itself when its context window is nearly full.

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

    def run(self) -> CommandResult:
        name, _, number = map(str.strip, self.lhs.partition("/"))
        self.find_assistant(name)
        return self.dispatch(number)

    def do_default(self, number: str) -> Deferred[None]:
        request = self.read_request(number)
        running: Deferred[dict[str, Any]] = self.script.mind.compact(request)
        self.msg(f"{self.name} is being compacted ...")
        return running.addCallback(lambda result: self.msg(compacted(result, self.name)))

    do_keep = do_default

    def do_dry(self, number: str) -> None:
        use = self.script.mind.meter.measure()
        task = self.script.mind.compactor.decide(self.read_request(number), use)
        size = f"{use.used:,} of {use.window:,} tokens"
        fill = f"{self.name}'s context window is {use.ratio:.0%} full ({size})."
        if isinstance(task, Skip):
            why = with_detail(task.reason, task.detail)
            self.msg(f"{fill} A compaction would change nothing: {why}.")
            return
        kept = len(task.messages) - task.plan.cut
        self.msg(
            f"{fill} {task.plan.cut} messages would be summarised, the newest {kept} "
            f"({task.plan.kept_tokens:,} tokens) would stay. Nothing was changed."
        )

    def do_undo(self, _number: str) -> None:
        undone = self.script.mind.compactor.archive.undo()
        if undone is None:
            raise UsageError(f"{self.name} has no compaction to undo.")
        use = self.script.mind.meter.measure()
        self.msg(
            f"The compaction of {counted(undone.compacted_count, 'message')} is undone. "
            f"The context window is {use.ratio:.0%} full now."
        )
        if use.ratio >= self.script.config.compact_emergency_threshold:
            self.msg(
                f"{self.name} will compact again at its next tick. To prevent that: "
                f"|waistop {self.name}|n"
            )

    def read_request(self, number: str) -> CompactionOrder:
        if self.switch == "keep" and (not number.isdigit() or int(number) > MOST_KEPT):
            raise UsageError(
                "How many messages? |waicompact/keep <character>/<number>|n, with a number "
                f"from 0 to {MOST_KEPT:,}."
            )
        keep = int(number) if self.switch == "keep" else None
        focus = clean_heard(self.rhs or "", 300) or None
        return CompactionOrder(MANUAL, force=True, focus=focus, keep_recent=keep)


def with_detail(reason: str, detail: str) -> str:
    return f"{reason} ({detail})" if detail else reason


def compacted(result: dict[str, Any], name: str) -> str:
    if result.get("skipped"):
        return f"Nothing was changed: {with_detail(result['reason'], result.get('detail', ''))}."
    if result.get("error") == CHANGED:
        return "The conversation changed meanwhile, so nothing was compacted. Try again."
    if not result["success"]:
        return "The model produced no usable summary, so nothing was changed. See |waistatus|n."
    warning = f"\n|yWarning:|n {result.get('warning')}. |waihistory/compaction {name}|n lists them."
    return (
        f"Done ({result['rung']}): {result['compacted_messages']} messages summarised, "
        f"{result['preserved_messages']} kept; {result['original_tokens']:,} tokens "
        f"before, {result['new_tokens']:,} now. To undo it: |waicompact/undo {name}|n"
        + warning
        * ("warning" in result)
    )
