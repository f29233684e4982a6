"""``aireport``: players report what a character said, and admins read that."""

from __future__ import annotations

from typing import Any

from evennia.utils import logger

from evennia_ai.commands.choosing import choose
from evennia_ai.commands.common import UsageError, all_assistants, page_number
from evennia_ai.commands.history_rendering import message_line
from evennia_ai.commands.players import PlayersCommand
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.perception import display_name
from evennia_ai.game.script_ports import GameScript
from evennia_ai.game.texts import TEXTS, text
from evennia_ai.policy.disclosure import Reader
from evennia_ai.policy.sanitize import clean_heard, storable
from evennia_ai.store.reports import (
    add_report,
    close_report,
    count_open,
    find_report,
    heard_lines,
    messages_by_seq,
    report_page,
)

REASON_CHARS = 500
LINE_CHARS = 160
MOST_OPEN = 5
REPORTS_A_PAGE = 15
FOR_ADMINS = """
For admins:
  aireport/list [<page>]
  aireport/show <number>
  aireport/close <number>

Shows the open reports, and one with the lines that its writer heard. Each
reading of a report is noted in the server's log."""


class CmdAIReport(PlayersCommand):
    __doc__ = TEXTS["help_report"]

    key = "aireport"
    locks = "cmd:all();staff:perm(Admin)"
    switch_options: tuple[str, ...] = ("list", "show", "close")
    help_text, for_admins = "help_report", FOR_ADMINS

    def check_switches(self) -> None:
        """Raise UsageError for a wrong switch; players know none."""
        if not self.access(self.caller, "staff"):
            self.switch_options = ()
        super().check_switches()

    def do_default(self) -> None:
        script = self.find_reported(self.lhs.strip())
        name = shown_name(script)
        reason = clean_heard(storable(self.rhs or ""), REASON_CHARS)
        if not reason:
            raise UsageError(text("report_reason", name=name))
        count = count_open(self.caller.dbref)
        if count >= MOST_OPEN:
            raise UsageError(text("report_many", count=count))
        seqs = heard_lines(script.id, self.caller.dbref)
        if not seqs:
            raise UsageError(text("report_nothing", name=name))
        reporter = (self.caller.dbref, display_name(self.caller, self.caller))
        number = add_report(script.id, self.services.now(), reporter, reason, seqs)
        logger.log_sec(f"aireport: report {number} of {script.character.dbref} by {reporter[0]}")
        self.msg(text("report_done", name=name))

    def find_reported(self, name: str) -> GameScript:
        """Return the assistant of a character, here or elsewhere; raises UsageError."""
        characters = {script.character: script for script in all_assistants()}
        here = [one for one in characters if one.location is self.caller.location]
        found = choose(name, here, self.caller) or choose(name, characters, self.caller)
        if not name or found is None:
            raise UsageError(text("mute_unknown", name=clean_output(name, 60)))
        return characters[found]

    def do_list(self) -> None:
        page = report_page(page_number(self.args), REPORTS_A_PAGE)
        lines = [report_line(report, self.reader) for report in page.rows]
        lines.append(f"|xPage {page.number} of {page.pages}, times in {self.reader.zone}.|n")
        self.msg("\n".join(lines) if page.rows else "There are no open reports.")

    def do_show(self) -> None:
        report = self.find_report()
        logger.log_sec(f"aireport/show: {self.caller} reads report {report.id}")
        rows = messages_by_seq(report.assistant_id, report.seqs, len(report.seqs))
        self.read_of = report.assistant.obj
        name = self.read_of.key if self.read_of else ""
        gone = len(report.seqs) - len(rows)
        lines = [report_line(report, self.reader), clean_output(report.reason)]
        lines += [message_line(row, name, self.reader) for row in rows]
        lines += [f"|x{gone} of the lines are deleted.|n"] if gone else []
        self.msg("\n".join(lines))

    def do_close(self) -> None:
        report = self.find_report()
        by = clean_heard(self.caller.key, 60)
        if not close_report(report.id, self.services.now(), by):
            raise UsageError(f"Report {report.id} is closed already.")
        logger.log_sec(f"aireport/close: {self.caller} closes report {report.id}")
        self.msg(f"Report {report.id} is closed.")

    def find_report(self) -> Any:
        """Return the report whose number was typed; raises UsageError."""
        report = find_report(page_number(self.args))
        if report is None:
            raise UsageError("There is no report with this number. |waireport/list|n lists them.")
        return report


def report_line(report: Any, reader: Reader) -> str:
    """Return a report on a line: number, time, writer, character, the beginning of the reason."""
    of = shown_name(report.assistant.obj) if report.assistant.obj else "a deleted character"
    by = clean_output(report.reporter_name, 40)
    closed = f" |x(closed by {clean_output(report.closed_by, 40)})|n" if report.closed_at else ""
    reason = clean_output(report.reason, LINE_CHARS)
    return f"|w{report.id}|n |x{reader.clock(report.at)}|n {by} of {of}: {reason}{closed}"
