"""``aipurge``: delete what retention has no room for, now; or look at it first."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from evennia.utils.evtable import EvTable
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import AICommand
from evennia_ai.commands.players import is_yes
from evennia_ai.errors import AssistantError
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.store.purge import Report


class CmdAIPurge(AICommand):
    """
    delete old rows of the assistants' logs

    Usage:
      aipurge [<character>]
      aipurge/dry [<character>]

    Deletes for ever what the game's setting RETENTION has no room for, of one
    assistant or of all. Where that is set, it happens once a day by itself.
    What is in use stays, however old: what a model has in view or would have
    after two undos, what waits for an answer, and what |waiforget|n needs to
    find all that there is of somebody.

    Switches:
      dry - only tell how much would go, and why some of it would not
    """

    key = "aipurge"
    locks = "cmd:perm(Admin)"
    switch_options = ("dry",)

    @property
    def keeper(self) -> Any:
        """What purges."""
        return AssistantScript.shared_services.log_retention

    def run(self) -> Any:
        """Dispatch by switch."""
        name = self.args.strip()
        script = self.find_assistant(name) if name else None
        self.keeper.check()
        if "dry" not in self.switches:
            return self.dialogue(script)
        self.watch(self.keeper.preview(script and script.id), "Counting ...", self.tell_plan)
        return None

    def dialogue(self, script: Any) -> Generator[str, str, None]:
        """Ask, then purge."""
        whose = f"{script.character_name}'s logs" if script else "the logs of all assistants"
        limits = ", ".join(f"{table} {limit}" for table, limit in self.keeper.retention.items())
        answer = yield (
            f"This deletes from {whose}, for ever and without an undo, what is over a limit and "
            f"not in use. Kept are: {limits}. |waipurge/dry|n tells how much would go. Go on? "
            "yes/[no]"
        )
        if not is_yes(answer):
            self.msg("Nothing was deleted.")
            return
        try:
            purging = self.keeper.purge(script and script.id, self.tell_progress)
        except AssistantError as error:
            self.msg(str(error))
            return
        self.watch(purging, "Deleting ...", self.tell_result)

    def watch(self, work: Deferred[Report], beginning: str, tell: Any) -> None:
        """Tell that something begins, and how it ended."""
        self.msg(beginning)
        work.addCallback(tell).addErrback(self.tell_failure)

    def tell_progress(self, rows: int) -> None:
        """How far it is."""
        self.msg(f"{rows:,} rows are deleted ...")

    def tell_result(self, report: Report) -> None:
        """What was deleted."""
        gone = ", ".join(f"{table} {tally.gone:,}" for table, tally in report.items() if tally.gone)
        kept = sum(tally.kept.total() for tally in report.values())
        self.msg(
            f"Done. Rows deleted: {gone or 'none'}. Rows over a limit that stay, in use: {kept:,}."
        )

    def tell_plan(self, report: Report) -> None:
        """What would be deleted, and what would stay all the same."""
        table = EvTable(
            "Table", "Kept", "Rows", "Would go", "In use", border="header", pad_left=0
        )  # fmt: skip
        for name, tally in report.items():
            limit, kept = str(self.keeper.retention[name]), tally.kept.total()
            table.add_row(name, limit, *(f"{n:,}" for n in (tally.rows, tally.gone, kept)))
        self.msg("\n".join([str(table), *reasons(report), "Nothing was deleted."]))

    def tell_failure(self, failure: Failure) -> None:
        """What stood in the way."""
        if isinstance(failure.value, CancelledError):
            self.msg("The server goes down: the rest stays for the next time.")
            return
        failure.trap(AssistantError)
        self.msg(
            f"Broken off: {clean_output(str(failure.value), 300)} What is deleted by now is gone, "
            "the rest is as it was. Try again in a moment."
        )


def reasons(report: Report) -> Iterator[str]:
    """A line for each table of which something is over a limit and stays."""
    for table, tally in report.items():
        if tally.kept:
            why = "; ".join(f"{count:,} {reason}" for reason, count in tally.kept.most_common())
            yield f"In use of {table}: {why}."
