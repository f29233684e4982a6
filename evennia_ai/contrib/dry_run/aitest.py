"""``aitest``: try an assistant without effect, or one of its tools."""

import json
from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.commands.common import Dialogue, UsageError
from evennia_ai.commands.dry_run import LINE_CHARS, TryingCommand
from evennia_ai.commands.rendering import ACT_STATES, call_text
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.room_lines import hear_typed
from evennia_ai.messages import IncomingEvent
from evennia_ai.mind.dry_run import next_step
from evennia_ai.policy.read_permissions import DRY_RUNS
from evennia_ai.policy.texts import read_typed_call
from evennia_ai.ports import ToolResult
from evennia_ai.store.names import locks_of
from evennia_ai.store.reports import log_page
from evennia_ai.turn.prompt_contexts import TurnKind

RESULT_CHARS = 2_000
PAUSE_S, MOST_PAUSES = 0.5, 60  # until a turn in progress has ended
USAGE = "Usage: aitest <assistant> = <line>. See |whelp aitest|n."


class CmdAITest(TryingCommand):
    """try an assistant without effect, or one of its tools

    Usage:
      aitest <assistant> = <line>
      aitest/whisper <assistant> = <line>
      aitest/tool <assistant> = <tool> [<argument> = <value>; ...]

    Shows what the assistant would say and do if you said or whispered this line
    in its room now. The model gets the real prompt, and its tokens count. No tool
    runs, nothing is stored, and nobody else sees anything. This also works while
    the assistant is stopped.

    With /tool, a tool really runs, as if a model had used it at your words, with
    its locks and confirmations; no model is asked. You see what it did, or why it
    was refused, and what a model would read. The tool noop is to do nothing.
    """

    key = "aitest"
    switch_options = ("whisper", "tool")

    def do_default(self) -> Deferred[None]:
        if not self.lhs:
            raise UsageError(USAGE)
        self.ensure_may_read(DRY_RUNS)
        self.find_assistant(self.lhs)
        if not (self.rhs or "").strip():
            raise UsageError(f"Which line? {USAGE}")
        event = self.addressed_line(self.switch or "say", self.rhs or "")
        self.script.mind.settings.resolve()
        return self.start_dry_run(event, self.script.mind.around)

    do_whisper = do_default

    def do_tool(self) -> Dialogue:
        self.ensure_may_read(DRY_RUNS)
        script, typed = self.find_editable(self.lhs), (self.rhs or "").strip()
        if not typed:
            raise UsageError("Which tool? Usage: aitest/tool <assistant> = <tool> [<arguments>]")
        event = hear_typed(script.character, script.config, self.caller, "say", typed)
        name, arguments = read_typed_call(typed)
        for _ in range(MOST_PAUSES):
            if not script.mind.ticker.is_ticking:
                break
            yield PAUSE_S
        self.ensure_may_act("act")
        trying: Deferred[Any] = try_tool(script.mind, event, name, json.dumps(arguments))
        trying.addCallback(lambda _: self.tell(tried_lines(script.id)))
        trying.addErrback(self.tell_failure)


def tried_lines(assistant: int) -> list[str]:
    """Return an assistant's last tool call, what a model reads of it, and the locks it asked."""
    (row,) = log_page("ToolCall", assistant, 1, 1).rows
    state = ACT_STATES.get(row["state"], row["state"])
    line = f"|w{state}|n: {clean_output(row['result'], RESULT_CHARS)}"
    locks = [f"|x{clean_output(lock, LINE_CHARS)}|n" for lock in locks_of(row["locks"])]
    return [call_text(row["name"], row["arguments"]), line, *locks]


def try_tool(mind: Any, event: IncomingEvent, name: str, arguments: str) -> Deferred[ToolResult]:
    """Run a tool call as if a model had made it at a line of somebody; only it is logged."""

    def run() -> Deferred[ToolResult]:
        context, detail = next_step(mind.around, event).calls.context, f"by {event.speaker}"
        running: Deferred[ToolResult] = mind.turn_runner.run_call(
            context, name, arguments, detail, TurnKind("tried_act", "")
        )
        return running

    trying: Deferred[ToolResult] = mind.ticker.run_instead(run)
    return trying
