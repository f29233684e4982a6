"""``aireport``: players report a character, and admins read the lines that they heard of it."""

from typing import Any

from evennia.utils import logger

from evennia_ai.commands.common import AICommand, UsageError, all_assistants, choose, page_number
from evennia_ai.commands.rendering import message_line
from evennia_ai.contrib.player_reports import rows
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.help_entries import HELP_CATEGORY
from evennia_ai.game.perception import display_name, puppets
from evennia_ai.game.texts import TEXTS, text
from evennia_ai.policy.sanitize import clean_heard, storable
from evennia_ai.store import reports

REASON_CHARS, SHOWN_CHARS = 500, 160
MOST_OPEN = 5
REPORTS_A_PAGE = 15
OPEN, CLOSED = "open", "closed"
NAMED_LINE = "    |y^ The report has words of this line.|n"
LAST_LINE = "    |y^ This is the character's last line before the report.|n"


class CmdAIReport(AICommand):  # noqa: D101  # from the texts
    __doc__ = TEXTS["help_report"]

    key = "aireport"
    help_category = HELP_CATEGORY
    locks = "cmd:all();staff:perm(Admin)"
    switch_options: tuple[str, ...] = ("list", "show", "close")
    for_admins = """

For admins:
  aireport/list [closed] [<page>]
  aireport/show <number>
  aireport/close <number>

Shows the open or the closed reports, and one with the lines that its writer
heard. Admins in the game are told of a new one; |waistatus|n counts those that
are open. The server's log notes who reads a report. |wforgetme|n deletes the
reports of whoever is forgotten."""

    def get_help(self, caller: Any, cmdset: Any) -> str:
        """Return the help in the game's own words, or translated."""
        return text("help_report") + (self.for_admins if self.access(caller, "staff") else "")

    def check_switches(self) -> None:
        """Raise UsageError for a wrong switch; players know none."""
        if not self.access(self.caller, "staff"):
            self.switch_options = ()
        super().check_switches()

    def do_default(self) -> None:
        if not self.lhs:
            raise UsageError(text("report_whom"))
        script = self.find_reported(self.lhs.strip())
        name = shown_name(script)
        reason = clean_heard(storable(self.rhs or ""), REASON_CHARS)
        if not reason:
            raise UsageError(text("report_reason", name=name))
        count = rows.reports(reporter=self.caller.dbref).count()
        if count >= MOST_OPEN:
            raise UsageError(text("report_many", count=count))
        seqs = rows.heard_lines(script.id, self.caller.dbref)
        if not seqs:
            raise UsageError(text("report_nothing", name=name))
        by, now = (self.caller.dbref, display_name(self.caller, self.caller)), self.services.now()
        number = rows.add_report(script.id, now, by, reason, seqs)
        logger.log_sec(f"aireport: report {number} of {script.character.dbref} by {by[0]}")
        self.msg(text("report_done", name=name))
        for person in puppets() - {self.caller}:
            if self.access(person, "staff"):
                person.msg(f"A player has reported {name}: |waireport/show {number}|n")

    def find_reported(self, name: str) -> Any:
        characters = {script.character: script for script in all_assistants()}
        here = [item for item in characters if item.location is self.caller.location]
        character = choose(name, here, self.caller) or choose(name, characters, self.caller)
        if character is None:
            raise UsageError(text("mute_unknown", name=clean_output(name, 60)))
        return characters[character]

    def do_list(self) -> None:
        words = self.args.split()
        state = CLOSED if words[:1] == [CLOSED] else OPEN
        number = page_number(" ".join(words[state == CLOSED :]))
        reported = rows.reports(is_open=state == OPEN).select_related("assistant")
        page = reports.paged(reported, number, REPORTS_A_PAGE)
        lines = [self.line(report) for report in page.rows]
        order = f"newest last, times in {self.reader.zone}"
        lines.append(f"|xPage {page.number} of {page.pages}, {order}.|n")
        other = "" if state == CLOSED else " |waireport/list closed|n lists those that were closed."
        self.msg("\n".join(lines) if page.rows else f"There are no {state} reports.{other}")

    def do_show(self) -> None:
        report = self.find_report()
        logger.log_sec(f"aireport/show: {self.caller} reads report {report.id}")
        messages = reports.messages_by_seq(report.assistant_id, report.seqs, len(report.seqs))
        self.read_of = report.assistant.obj
        name = display_name(self.read_of, self.caller) if self.read_of else ""
        gone = len(report.seqs) - len(messages)
        lines = [self.line(report, REASON_CHARS)]
        marked, is_named = rows.find_reported_line(messages, report.reason)
        mark = NAMED_LINE if is_named else LAST_LINE
        for row in messages:
            lines += [message_line(row, name, self.reader), *[mark] * (row["id"] == marked)]
        lines += [f"|x{gone} of the lines are deleted.|n"] if gone else []
        if not report.closed_at:
            lines.append(f"To close it: |waireport/close {report.id}|n")
        self.msg("\n".join(lines))

    def do_close(self) -> None:
        report = self.find_report()
        if not rows.close_report(report.id, self.services.now(), self.caller_name):
            raise UsageError(f"Report {report.id} is closed already.")
        logger.log_sec(f"aireport/close: {self.caller} closes report {report.id}")
        self.msg(f"Report {report.id} is closed.")

    def find_report(self) -> Any:
        report = rows.find_report(page_number(self.args))
        if report is None:
            raise UsageError(
                "There is no report with this number: see |waireport/list|n and |waireport/list "
                "closed|n. |wforgetme|n deletes the reports of whoever is forgotten."
            )
        return report

    def line(self, report: Any, limit: int = SHOWN_CHARS) -> str:
        character = report.assistant.obj
        of = shown_name(character) if character else "a deleted character"
        by, closed = clean_output(report.reporter_name, 40), ""
        if report.closed_at:
            closed = f" |x(closed by {clean_output(report.closed_by, 40)})|n"
        reason, at = clean_output(report.reason, limit), self.reader.clock(report.at)
        return f"|w{report.id}|n |x{at}|n {by} of {of}: {reason}{closed}"
