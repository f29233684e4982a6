"""``aiapprove``: the acts of characters that wait for the staff."""

from __future__ import annotations

from evennia.locks.lockhandler import check_lockstring

from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.game.act_answers import decide
from evennia_ai.game.client_text import clean_output
from evennia_ai.policy.pending_acts import APPROVE, PendingAct, arguments_line
from evennia_ai.store import pending_acts
from evennia_ai.store.attributes import script_of
from evennia_ai.store.names import list_names

LINE_CHARS = 100
WHEN = "%Y-%m-%d %H:%M"


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
    in full.

    Switches:
      yes - approve a call: the character makes it once, with exactly the
            arguments that are shown
      no  - refuse a call
    """

    key = "aiapprove"
    locks = "cmd:perm(Builder)"
    switch_options = ("yes", "no")

    def do_default(self) -> None:
        if self.args.strip():
            self.msg(self.details(self.find()))
            return
        lines = [self.line(act) for act in self.waiting()]
        self.msg("\n".join(lines) or "Nothing waits for your approval.")

    def do_yes(self) -> None:
        act = self.find()
        if not decide(act, self.caller, self.switch == "yes"):
            raise UsageError(f"Call {act.id} does not wait any more.")
        done = "Approved: it runs once." if self.switch == "yes" else "Refused."
        self.msg(f"{done} {self.line(act)}")

    do_no = do_yes

    def waiting(self) -> list[PendingAct]:
        """Return the calls that the caller may approve, oldest first."""
        self.caller.locks.cache_lock_bypass(self.caller)  # a superuser may have played it before
        acts = pending_acts.waiting(self.services.now(), APPROVE)
        return [act for act in acts if self.may_approve(act)]

    def may_approve(self, act: PendingAct) -> bool:
        """Return True if the tool's lock ``approval`` lets the caller pass."""
        item = self.services.toolbox.tools.get(act.name)
        return bool(item and item.approval) and check_lockstring(
            self.caller, f"approve:{item.approval}"
        )

    def find(self) -> PendingAct:
        """Return the call that was named; raises UsageError."""
        number = self.args.strip().lstrip("#")
        found = [act for act in self.waiting() if str(act.id) == number]
        if not found:
            shown = clean_output(number, 20)
            raise UsageError(f"No call {shown} waits for you. |waiapprove|n lists all.")
        return found[0]

    def line(self, act: PendingAct) -> str:
        """Return a call on one line."""
        told = clean_output(arguments_line(act.arguments), LINE_CHARS)
        return f"|w{act.id}|n {character_name(act)}: {act.name} ({told})"

    def details(self, act: PendingAct) -> str:
        """Return a call in full: what runs, who asked, and until when it waits."""
        item = self.services.toolbox.tools[act.name]
        asked, until = (self.reader.clock(at, WHEN) for at in (act.at, act.expires_at))
        return "\n".join(
            [
                f"|w{act.id}|n {character_name(act)} wants to use {act.name}: {item.purpose}",
                f"With exactly: {clean_output(arguments_line(act.arguments))}",
                f"At the words of: {list_names(act.speakers) or 'nobody'}",
                f"Asked {asked}, waits until {until} {self.reader.zone}.",
                f"|waiapprove/yes {act.id}|n approves it, |waiapprove/no {act.id}|n refuses it.",
            ]
        )


def character_name(act: PendingAct) -> str:
    """Return the name of the character whose call waits."""
    script = script_of(act.assistant_id)
    return clean_output(script.character_name, 60) if script else "?"
