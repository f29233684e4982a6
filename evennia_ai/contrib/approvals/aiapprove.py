"""``aiapprove``: approve or refuse the tool calls that wait for the staff."""

from evennia.locks.lockhandler import check_lockstring
from evennia.scripts.models import ScriptDB

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.client_text import clean_output
from evennia_ai.game.confirmations import decide
from evennia_ai.policy.staff_controls import APPROVE, PendingToolCall, arguments_line
from evennia_ai.store import pending_acts
from evennia_ai.store.names import list_names

WHEN = "%Y-%m-%d %H:%M"


class CmdAIApprove(AICommand):
    """approve or refuse what characters want to do

    Usage:
      aiapprove
      aiapprove <number>
      aiapprove/yes <number>
      aiapprove/no <number>

    Some tools need the staff's approval for each call. Such calls wait here until
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

        return list(filter(may_approve, pending_acts.waiting(self.services.now(), APPROVE)))

    def find(self) -> PendingToolCall:
        number = self.args.strip().lstrip("#")
        matches = [act for act in self.waiting() if str(act.id) == number]
        if not matches:
            shown = clean_output(number, 20)
            raise UsageError(f"No call {shown} waits for you. |waiapprove|n lists all.")
        return matches[0]

    def line(self, act: PendingToolCall) -> str:
        arguments = clean_output(arguments_line(act.arguments))
        return f"|w{act.id}|n {character_name(act)}: {act.name} ({arguments})"

    def details(self, act: PendingToolCall) -> str:
        item = self.services.toolbox.tools[act.name]
        asked_at, until = (self.reader.clock(at, WHEN) for at in (act.at, act.expires_at))
        return "\n".join(
            [
                f"|w{act.id}|n {character_name(act)} wants to use {act.name}: {item.purpose}",
                f"With exactly: {clean_output(arguments_line(act.arguments))}",
                f"At the words of: {list_names(act.speakers) or 'nobody'}",
                f"Asked {asked_at}, waits until {until} {self.reader.zone}.",
                f"|waiapprove/yes {act.id}|n approves it, |waiapprove/no {act.id}|n refuses it.",
            ]
        )


def character_name(act: PendingToolCall) -> str:
    script = ScriptDB.objects.filter(id=act.assistant_id).first()
    return clean_output(script.mind.who.name, 60) if script else "?"
