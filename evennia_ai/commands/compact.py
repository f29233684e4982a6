"""``aicompact``: sum old talk up by hand, look before it, and take it back."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.errors import AssistantError
from evennia_ai.policy.compaction.plan import Skip
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.sleep.compaction.compact import CHANGED, decide
from evennia_ai.sleep.compaction.journal_summary import undo_compaction
from evennia_ai.sleep.compaction.request import MANUAL, CompactionRequest
from evennia_ai.turn.context_use import measure_context

MOST_KEPT = 10_000


class CmdAICompact(AICommand):
    """
    sum up the old talk of an assistant, so that its context has room

    Usage:
      aicompact <character> [= <what to keep above all>]
      aicompact/keep <character>/<number> [= <what to keep above all>]
      aicompact/dry <character>
      aicompact/undo <character>

    Old talk goes out of the model's view and a summary stands in its place. The
    log keeps every word: |waihistory|n shows it as before, and an undo brings it
    back into view. It happens by itself when the context fills.

    Switches:
      keep - keep so many of the newest messages word for word, for this once
      dry  - only tell what would be done
      undo - take the last compaction back; again, the one before it
    """

    key = "aicompact"
    locks = "cmd:perm(Admin)"
    switch_options = ("keep", "dry", "undo")

    def run(self) -> Any:
        """Dispatch by switch."""
        if len(self.switches) > 1:
            raise UsageError("One switch at a time, please. See |whelp aicompact|n.")
        if "undo" in self.switches:
            return self.undo()
        order = self.read_order()
        script = self.find_assistant(self.lhs.partition("/")[0].strip())
        if "dry" in self.switches:
            return self.tell_plan(script, order)
        return self.compact(script, order)

    def read_order(self) -> CompactionRequest:
        """What was asked for; raises UsageError."""
        keep = None
        if "keep" in self.switches:
            number = self.lhs.partition("/")[2].strip()
            if not number.isdigit() or int(number) > MOST_KEPT:
                raise UsageError("How many? |waicompact/keep <character>/<number>|n, such as 10.")
            keep = int(number)
        focus = clean_output(self.rhs or "", 300) or None
        return CompactionRequest(MANUAL, force=True, focus=focus, keep_recent=keep)

    def tell_plan(self, script: Any, order: CompactionRequest) -> None:
        """What a compaction would do now."""
        use = measure_context(script)
        task = decide(script, order, use)
        name = script.character_name
        fill = f"{name}'s context is filled to {use.ratio:.0%} ({use.used:,} of {use.window:,})."
        if isinstance(task, Skip):
            self.msg(f"{fill} Nothing would be done: {task.reason}.")
            return
        plan, kept = task.plan, len(task.messages) - task.plan.cut
        self.msg(
            f"{fill} {plan.cut} messages would be summed up, the newest {kept} "
            f"({plan.kept_tokens:,} tokens) would stay. Nothing was done."
        )

    def compact(self, script: Any, order: CompactionRequest) -> None:
        """Compact, and tell how it went when it has."""
        running: Deferred[dict[str, Any]] = script.compact(order)
        self.msg(f"{script.character_name} sums up the old talk ...")
        running.addCallbacks(self.tell_result, self.tell_failure)

    def tell_result(self, result: dict[str, Any]) -> None:
        """How it went."""
        if result.get("skipped"):
            self.msg(f"Nothing was done: {result['reason']}.")
        elif result.get("error") == CHANGED:
            self.msg("The talk was changed meanwhile, so nothing was done. Please try again.")
        elif not result["success"]:
            self.msg(
                "No usable summary came of it, so everything stays as it is. See |waistatus|n."
            )
        else:
            self.msg(
                f"Done ({result['rung']}): {result['compacted_messages']} messages summed up, "
                f"{result['preserved_messages']} kept; {result['original_tokens']:,} tokens "
                f"before, {result['new_tokens']:,} now. |waicompact/undo|n takes it back."
            )

    def tell_failure(self, failure: Failure) -> None:
        """What stood in the way."""
        failure.trap(AssistantError)
        self.msg(f"Nothing was done: {clean_output(str(failure.value), 300)}")

    def undo(self) -> None:
        """Take the last compaction back."""
        script = self.find_assistant(self.lhs)
        undone = undo_compaction(script)
        if undone is None:
            raise UsageError(f"{script.character_name} has no compaction to take back.")
        use = measure_context(script)
        self.msg(
            f"The compaction of {undone.compacted_count} messages is taken back. "
            f"The context is filled to {use.ratio:.0%} now."
        )
        if use.ratio >= script.config.compact_emergency_threshold:
            self.msg("At its next tick it will compact again: |waistop|n it to prevent that.")
