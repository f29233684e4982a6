"""``aipurge``: delete old rows of the logs, or count what would be deleted."""

from collections.abc import Iterator, Mapping
from typing import Any

from twisted.internet.defer import Deferred

from evennia_ai.commands.common import AICommand, CommandResult, Dialogue, table
from evennia_ai.game.confirmations import confirmed
from evennia_ai.policy.read_permissions import FIGURES
from evennia_ai.policy.texts import counted

PlannedPurge = Mapping[str, Any]  # a `store.purge.PurgeCount` by table


class CmdAIPurge(AICommand):
    """delete old rows from the logs of the assistants

    Usage:
      aipurge [<character>]
      aipurge/dry [<character>]

    Deletes for ever the rows that are over the limits of the game's setting
    RETENTION: those of one assistant, or of all. The game also does this by
    itself once a day. Rows in use stay, however old they are: what a prompt holds
    or would hold after two undos, what waits for an answer, and what |wforgetme|n
    needs to find everything about a player.

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

    def run(self) -> CommandResult:
        name = self.args.strip()
        assistant = self.find_assistant(name).id if name else None
        self.services.log_retention.check()
        return self.dispatch(assistant)

    def do_dry(self, assistant: int | None) -> Deferred[None]:
        self.msg("Counting ...")
        counting: Deferred[PlannedPurge] = self.services.log_retention.preview(assistant)
        return counting.addCallback(self.tell_plan)

    def do_default(self, assistant: int | None) -> Dialogue:
        retention = self.services.log_retention
        whose = f"{self.name}'s logs" if assistant else "the logs of all assistants"
        limits = ", ".join(f"{table} {limit}" for table, limit in retention.retention.items())
        question = (
            f"This deletes rows from {whose}, for ever and without an undo: those over a limit "
            f"and not in use. Limits: {limits}. |waipurge/dry|n counts them first. Go on? "
            "yes/[no]"
        )
        if not (yield from confirmed(self, question, "Nothing was deleted.")):
            return
        self.msg("Deleting ...")
        purging = retention.purge(
            assistant, lambda rows: self.msg(f"{counted(rows, 'row')} deleted ...")
        )
        purging.addCallback(self.tell_result).addErrback(self.tell_failure)

    def tell_result(self, report: PlannedPurge) -> None:
        gone = ", ".join(f"{table} {tally.gone:,}" for table, tally in report.items() if tally.gone)
        kept = sum(tally.kept.total() for tally in report.values())
        self.msg(
            f"Done. Rows deleted: {gone or 'none'}. "
            f"Rows over a limit that stay because they are in use: {kept:,}."
        )

    def tell_plan(self, report: PlannedPurge) -> None:
        limits = self.services.log_retention.retention
        rows = [
            [name, str(limits[name]), f"{t.rows:,}", f"{t.gone:,}", f"{t.kept.total():,}"]
            for name, t in report.items()
        ]
        shown = table(("Table", "Limit", "Rows", "Would go", "In use"), rows)
        self.msg("\n".join([shown, *reasons(report), "Nothing was deleted."]))


def reasons(report: PlannedPurge) -> Iterator[str]:
    for name, tally in report.items():
        if tally.kept:
            why = "; ".join(f"{count:,} {reason}" for reason, count in tally.kept.most_common())
            yield f"In use in {name}: {why}."
