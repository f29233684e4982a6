"""``aipurge``: delete the log rows that are over the retention limits, or count them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import AICommand, Dialogue, Outcome, table
from evennia_ai.game.client_text import shown_name
from evennia_ai.game.texts import is_yes
from evennia_ai.policy.disclosure import FIGURES
from evennia_ai.store.purge import Report


class CmdAIPurge(AICommand):
    """
    delete old rows from the logs of the assistants

    Usage:
      aipurge [<character>]
      aipurge/dry [<character>]

    Deletes for ever the rows that are over the limits of the game's setting
    RETENTION: those of one assistant, or of all. If RETENTION is set, the game
    also does this by itself once a day. Rows in use stay, however old they are:
    what a prompt holds or would hold after two undos, what waits for an answer,
    and what |waiforget|n needs to find everything about a player.

    Switches:
      dry - count what would be deleted, and say why other rows would stay
    """

    key = "aipurge"
    locks = "cmd:perm(Admin)"
    reads = FIGURES
    switch_options = ("dry",)
    failure_text = (
        "Stopped early: {reason} The rows deleted so far are gone; the others are unchanged. "
        "Try again in a moment."
    )

    @property
    def retention(self) -> Any:
        """The service that purges the logs."""
        return self.services.log_retention

    def run(self) -> Outcome:
        """Dispatch by switch."""
        name = self.args.strip()
        script = self.find_assistant(name) if name else None
        self.retention.check()
        return self.dispatch(script)

    def do_dry(self, script: AssistantScript | None) -> Deferred[None]:
        self.msg("Counting ...")
        counting: Deferred[Report] = self.retention.preview(script.id if script else None)
        return counting.addCallback(self.tell_plan)

    def do_default(self, script: AssistantScript) -> Dialogue:
        whose = f"{shown_name(script)}'s logs" if script else "the logs of all assistants"
        limits = ", ".join(f"{table} {limit}" for table, limit in self.retention.retention.items())
        answer = yield (
            f"This deletes rows from {whose}, for ever and without an undo: those over a limit "
            f"and not in use. Limits: {limits}. |waipurge/dry|n counts them first. Go on? "
            "yes/[no]"
        )
        if not is_yes(answer):
            self.msg("Nothing was deleted.")
            return
        purging = self.retention.purge(
            script.id if script else None, lambda rows: self.msg(f"{rows:,} rows deleted ...")
        )
        self.msg("Deleting ...")
        purging.addCallback(self.tell_result).addErrback(self.tell_failure)

    def tell_result(self, report: Report) -> None:
        """Say what was deleted, and how much stays."""
        gone = ", ".join(f"{table} {tally.gone:,}" for table, tally in report.items() if tally.gone)
        kept = sum(tally.kept.total() for tally in report.values())
        self.msg(
            f"Done. Rows deleted: {gone or 'none'}. "
            f"Rows over a limit that stay because they are in use: {kept:,}."
        )

    def tell_plan(self, report: Report) -> None:
        """Show what a purge would delete and what would stay, with the reasons."""
        rows = []
        for name, tally in report.items():
            limit, kept = str(self.retention.retention[name]), tally.kept.total()
            rows.append([name, limit, *(f"{n:,}" for n in (tally.rows, tally.gone, kept))])
        shown = table(("Table", "Limit", "Rows", "Would go", "In use"), rows)
        self.msg("\n".join([shown, *reasons(report), "Nothing was deleted."]))

    def tell_failure(self, failure: Failure) -> None:
        """Say that the purge stopped early and which rows are deleted."""
        if isinstance(failure.value, CancelledError):
            self.msg("The server is stopping: the other rows stay until the next purge.")
        else:
            super().tell_failure(failure)


def reasons(report: Report) -> Iterator[str]:
    """Yield a line for each table in which rows over a limit stay."""
    for name, tally in report.items():
        if tally.kept:
            why = "; ".join(f"{count:,} {reason}" for reason, count in tally.kept.most_common())
            yield f"In use in {name}: {why}."
