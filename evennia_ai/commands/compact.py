"""``aicompact``: compact a conversation by hand, preview that, and undo it."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.client_text import shown_name
from evennia_ai.game.script_ports import GameScript
from evennia_ai.policy.compaction.plan import Skip
from evennia_ai.policy.disclosure import FIGURES
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.sleep.compaction.compact import CHANGED, decide
from evennia_ai.sleep.compaction.journal_summary import undo_compaction
from evennia_ai.sleep.compaction.request import MANUAL, CompactionRequest
from evennia_ai.turn.context_use import measure_context

MOST_KEPT = 10_000


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
        script, request = self.read_request()
        running: Deferred[dict[str, Any]] = script.compact(request)
        self.msg(f"{shown_name(script)} is being compacted ...")
        return running.addCallback(lambda result: self.msg(describe(result)))

    do_keep = do_default

    def do_dry(self) -> None:
        script, request = self.read_request()
        use = measure_context(script)
        task = decide(script, request, use)
        size = f"{use.used:,} of {use.window:,} tokens"
        fill = f"{shown_name(script)}'s context window is {use.ratio:.0%} full ({size})."
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
        undone = undo_compaction(script)
        if undone is None:
            raise UsageError(f"{shown_name(script)} has no compaction to undo.")
        use = measure_context(script)
        self.msg(
            f"The compaction of {undone.compacted_count} messages is undone. "
            f"The context window is {use.ratio:.0%} full now."
        )
        if use.ratio >= script.config.compact_emergency_threshold:
            self.msg(
                f"{shown_name(script)} will compact again at its next tick. To prevent that: "
                f"|waistop {shown_name(script)}|n"
            )

    def read_request(self) -> tuple[GameScript, CompactionRequest]:
        """Return the assistant and the compaction that was asked for; raises UsageError."""
        name, _, number = map(str.strip, self.lhs.partition("/"))
        keep = None
        if self.switch == "keep":
            if not number.isdigit() or int(number) > MOST_KEPT:
                raise UsageError(
                    "How many messages? |waicompact/keep <character>/<number>|n, with a number "
                    f"from 0 to {MOST_KEPT:,}."
                )
            keep = int(number)
        focus = clean_heard(self.rhs or "", 300) or None
        request = CompactionRequest(MANUAL, force=True, focus=focus, keep_recent=keep)
        return self.find_assistant(name), request


def describe(result: dict[str, Any]) -> str:
    """Return a compaction's result as a sentence."""
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
