"""``aicompact``: compact a conversation by hand, preview that, and undo it."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.policy.compaction.plan import Skip
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.ports import GameScript
from evennia_ai.sleep.compaction.compact import CHANGED, preview
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

    def do_default(self) -> Deferred[None]:
        """Compact, and report the result when it is done."""
        request = self.read_request()
        script = self.find_named()
        running: Deferred[dict[str, Any]] = script.compact(request)
        self.msg(f"{script.character_name} sums up the old talk ...")
        return running.addCallback(lambda result: self.msg(describe(result)))

    do_keep = do_default

    def do_dry(self) -> None:
        """Say what a compaction would do now."""
        request = self.read_request()
        script = self.find_named()
        use, plan = measure_context(script), preview(script, request)
        name = script.character_name
        fill = f"{name}'s context is filled to {use.ratio:.0%} ({use.used:,} of {use.window:,})."
        if isinstance(plan, Skip):
            self.msg(f"{fill} Nothing would be done: {plan.reason}.")
            return
        kept = len(script.conversation.current.messages) - plan.cut
        self.msg(
            f"{fill} {plan.cut} messages would be summed up, the newest {kept} "
            f"({plan.kept_tokens:,} tokens) would stay. Nothing was done."
        )

    def do_undo(self) -> None:
        """Undo the last compaction."""
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

    def find_named(self) -> GameScript:
        """Return the assistant before the slash; raises UsageError."""
        return self.find_assistant(self.lhs.partition("/")[0].strip())

    def read_request(self) -> CompactionRequest:
        """Return the compaction that was asked for; raises UsageError."""
        keep = None
        if self.switch == "keep":
            number = self.lhs.partition("/")[2].strip()
            if not number.isdigit() or int(number) > MOST_KEPT:
                raise UsageError("How many? |waicompact/keep <character>/<number>|n, such as 10.")
            keep = int(number)
        focus = clean_output(self.rhs or "", 300) or None
        return CompactionRequest(MANUAL, force=True, focus=focus, keep_recent=keep)

    def explain_failure(self, reason: str) -> str:
        """Return why nothing was compacted."""
        return f"Nothing was done: {reason}"


def describe(result: dict[str, Any]) -> str:
    """Return a compaction's result as a sentence."""
    if result.get("skipped"):
        return f"Nothing was done: {result['reason']}."
    if result.get("error") == CHANGED:
        return "The talk was changed meanwhile, so nothing was done. Please try again."
    if not result["success"]:
        return "No usable summary came of it, so everything stays as it is. See |waistatus|n."
    return (
        f"Done ({result['rung']}): {result['compacted_messages']} messages summed up, "
        f"{result['preserved_messages']} kept; {result['original_tokens']:,} tokens "
        f"before, {result['new_tokens']:,} now. |waicompact/undo|n takes it back."
    )
