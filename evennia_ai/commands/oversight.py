"""What waits for people: acts to approve, reports of players, notes of builders."""

from typing import Any

from evennia import CmdSet
from evennia.locks.lockhandler import check_lockstring
from evennia.utils import logger

from evennia_ai.commands.common import AICommand, UsageError, all_assistants, choose, page_number
from evennia_ai.commands.players import PlayersCommand
from evennia_ai.commands.rendering import message_line
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.confirmations import answer, decide
from evennia_ai.game.help_entries import HELP_CATEGORY
from evennia_ai.game.perception import display_name
from evennia_ai.game.texts import TEXTS, text
from evennia_ai.policy import staff_controls
from evennia_ai.policy.sanitize import clean_heard, one_line, storable
from evennia_ai.policy.staff_controls import NOTE_CHARS, AuthorNote, PendingToolCall
from evennia_ai.store import pending_acts, reports
from evennia_ai.store.attributes import script_of
from evennia_ai.store.names import list_names

WHEN = "%Y-%m-%d %H:%M"
REASON_CHARS, SHOWN_CHARS = 500, 160
MOST_OPEN = 5
REPORTS_A_PAGE = 15


class CmdAIApprove(AICommand):
    """
    approve or refuse what characters want to do

    Usage:
      aiapprove
      aiapprove <number>
      aiapprove/yes <number>
      aiapprove/no <number>

    Some tools need the word of the staff each time. Their calls wait here until
    somebody answers, or until they are too old (the setting |wapprove_within|n).
    You see the calls that you may approve. Without a switch: all of them, or one
    with what the tool does and who spoke. An approved call is made once, with
    exactly the arguments that are shown; nothing in them is hidden or cut.
    """

    key = "aiapprove"
    switch_options = ("yes", "no")

    def do_default(self) -> None:
        if self.args.strip():
            self.msg(self.details(self.find()))
            return
        lines = map(self.line, self.waiting())
        self.msg("\n".join(lines) or "Nothing waits for your approval.")

    def do_yes(self) -> None:
        act = self.find()
        if not decide(act, self.caller, self.switch == "yes"):
            raise UsageError(f"Call {act.id} does not wait any more, or cannot be shown whole.")
        done = "Approved: it runs once." if self.switch == "yes" else "Refused."
        self.msg(f"{done} {self.line(act)}")

    do_no = do_yes

    def waiting(self) -> list[PendingToolCall]:
        """Return the calls whose tool's lock ``approval`` the caller passes, oldest first."""
        self.caller.locks.cache_lock_bypass(self.caller)  # a superuser may have played it before
        tools = self.services.toolbox.tools

        def may_approve(act: PendingToolCall) -> bool:
            lock = tools[act.name].approval if act.name in tools else ""
            return bool(lock and check_lockstring(self.caller, f"approve:{lock}"))

        return [
            *filter(may_approve, pending_acts.waiting(self.services.now(), staff_controls.APPROVE))
        ]

    def find(self) -> PendingToolCall:
        number = self.args.strip().lstrip("#")
        matches = [act for act in self.waiting() if str(act.id) == number]
        if not matches:
            shown = clean_output(number, 20)
            raise UsageError(f"No call {shown} waits for you. |waiapprove|n lists all.")
        return matches[0]

    def line(self, act: PendingToolCall) -> str:
        arguments = clean_output(staff_controls.arguments_line(act.arguments))
        return f"|w{act.id}|n {character_name(act)}: {act.name} ({arguments})"

    def details(self, act: PendingToolCall) -> str:
        item = self.services.toolbox.tools[act.name]
        asked_at, until = (self.reader.clock(at, WHEN) for at in (act.at, act.expires_at))
        return "\n".join(
            [
                f"|w{act.id}|n {character_name(act)} wants to use {act.name}: {item.purpose}",
                f"With exactly: {clean_output(staff_controls.arguments_line(act.arguments))}",
                f"At the words of: {list_names(act.speakers) or 'nobody'}",
                f"Asked {asked_at}, waits until {until} {self.reader.zone}.",
                f"|waiapprove/yes {act.id}|n approves it, |waiapprove/no {act.id}|n refuses it.",
            ]
        )


def character_name(act: PendingToolCall) -> str:
    script = script_of(act.assistant_id)
    return clean_output(script.mind.who.name, 60) if script else "?"


class CmdYes(AICommand):
    """
    allow a character what it asks you for

    Usage:
      yes

    The character then does exactly what you were told, once.
    """

    key = "yes"
    help_category = HELP_CATEGORY
    locks = "cmd:all()"

    def run(self) -> None:
        answer(self.caller, self.key == CmdYes.key)


class CmdNo(CmdYes):
    """
    forbid a character what it asks you for

    Usage:
      no
    """

    key = "no"


class AnswerCmdSet(CmdSet):
    """The commands of a player who is asked something, for as long as that waits."""

    key = "EvenniaAIAnswers"
    priority = 1

    def at_cmdset_creation(self) -> None:
        self.add(CmdYes())
        self.add(CmdNo())


class CmdAIReport(PlayersCommand):
    __doc__ = TEXTS["help_report"]

    key = "aireport"
    locks = "cmd:all();staff:perm(Admin)"
    switch_options: tuple[str, ...] = ("list", "show", "close")
    help_text = "help_report"
    for_admins = """
For admins:
  aireport/list [<page>]
  aireport/show <number>
  aireport/close <number>

Shows the open reports, and one with the lines that its writer heard. Each
reading of a report is noted in the server's log."""

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
        count = reports.open_reports(reporter=self.caller.dbref).count()
        if count >= MOST_OPEN:
            raise UsageError(text("report_many", count=count))
        seqs = reports.heard_lines(script.id, self.caller.dbref)
        if not seqs:
            raise UsageError(text("report_nothing", name=name))
        by, now = (self.caller.dbref, display_name(self.caller, self.caller)), self.services.now()
        number = reports.add_report(script.id, now, by, reason, seqs)
        logger.log_sec(f"aireport: report {number} of {script.character.dbref} by {by[0]}")
        self.msg(text("report_done", name=name))

    def find_reported(self, name: str) -> Any:
        characters = {script.character: script for script in all_assistants()}
        here = [item for item in characters if item.location is self.caller.location]
        character = choose(name, here, self.caller) or choose(name, characters, self.caller)
        if not name or character is None:
            raise UsageError(text("mute_unknown", name=clean_output(name, 60)))
        return characters[character]

    def do_list(self) -> None:
        rows = reports.open_reports().select_related("assistant")
        page = reports.paged(rows, page_number(self.args), REPORTS_A_PAGE)
        lines = [self.line(report) for report in page.rows]
        lines.append(f"|xPage {page.number} of {page.pages}, times in {self.reader.zone}.|n")
        self.msg("\n".join(lines) if page.rows else "There are no open reports.")

    def do_show(self) -> None:
        report = self.find_report()
        logger.log_sec(f"aireport/show: {self.caller} reads report {report.id}")
        rows = reports.messages_by_seq(report.assistant_id, report.seqs, len(report.seqs))
        self.read_of = report.assistant.obj
        name = display_name(self.read_of, self.caller) if self.read_of else ""
        gone = len(report.seqs) - len(rows)
        lines = [self.line(report), clean_output(report.reason)]
        lines += [message_line(row, name, self.reader) for row in rows]
        lines += [f"|x{gone} of the lines are deleted.|n"] if gone else []
        self.msg("\n".join(lines))

    def do_close(self) -> None:
        report = self.find_report()
        if not reports.close_report(report.id, self.services.now(), self.caller_name):
            raise UsageError(f"Report {report.id} is closed already.")
        logger.log_sec(f"aireport/close: {self.caller} closes report {report.id}")
        self.msg(f"Report {report.id} is closed.")

    def find_report(self) -> Any:
        report = reports.find_report(page_number(self.args))
        if report is None:
            raise UsageError("There is no report with this number. |waireport/list|n lists them.")
        return report

    def line(self, report: Any) -> str:
        whom = report.assistant.obj
        of = shown_name(whom) if whom else "a deleted character"
        by, closed = clean_output(report.reporter_name, 40), ""
        if report.closed_at:
            closed = f" |x(closed by {clean_output(report.closed_by, 40)})|n"
        reason, at = clean_output(report.reason, SHOWN_CHARS), self.reader.clock(report.at)
        return f"|w{report.id}|n |x{at}|n {by} of {of}: {reason}{closed}"


class CmdAINote(AICommand):
    """
    tell a character something for its next turns

    Usage:
      ainote <character> = <text> [for <n> turns or minutes or hours]
      ainote <character>
      ainote/clear <character>

    The note stands near the end of every prompt of the character, as what it
    should bear in mind now: a mood, a hint for a scene, what it must not give
    away. Everybody may hear of it: write no secrets of players into it. Without
    'for' it stands for 20 turns. A new note replaces the one before. The stand-in
     does not use it.

    Example:
      ainote Mira = You are in a hurry: the inn closes soon. for 5 turns
    """

    key = "ainote"
    switch_options = ("clear",)

    def run(self) -> None:
        self.find_editable(self.lhs)
        self.dispatch()

    def do_default(self) -> None:
        if self.rhs is not None:
            self.write(self.read_note(self.rhs))
        current_note = self.script.mind.life.note_in_force()
        if current_note is None:
            self.msg(f"{self.name} has no note.")
            return
        note, left = current_note
        minutes = f"{max(1, round(left / 60)):,} minutes"
        stands = minutes if note.turns is None else f"{left:,} turns"
        self.msg(f"{self.name} bears in mind, for {stands}: {clean_output(note.text)}")

    def read_note(self, typed: str) -> AuthorNote:
        try:
            typed, turns, minutes = staff_controls.split_duration(typed)
        except ValueError as error:
            raise UsageError(str(error)) from error
        words = one_line(typed)
        if not words:
            raise UsageError(
                "Which text? |wainote <character> = <text>|n, or |wainote/clear <character>|n"
            )
        if len(words) > NOTE_CHARS:
            raise UsageError(
                f"The note has {len(words):,} characters; at most {NOTE_CHARS} are "
                "allowed. What shall stay for good belongs into the persona: |waisetup/set|n"
            )
        until = self.services.now().timestamp() + 60 * minutes if minutes else None
        by, after = self.caller.dbref, self.script.mind.turns.newest()
        return AuthorNote(text=words, by=by, after_turn=after, turns=turns, until=until)

    def do_clear(self) -> None:
        if self.script.mind.life.note_in_force() is None:
            raise UsageError(f"{self.name} has no note.")
        self.write(None)
        self.msg(f"{self.name} has no note any more.")

    def write(self, note: AuthorNote | None) -> None:
        """Store a note; the security log says who changed it, without its words."""
        self.script.mind.life.write_note(note)
        logger.log_sec(f"{self.describe_use()} changed the note of {self.script.character}")
