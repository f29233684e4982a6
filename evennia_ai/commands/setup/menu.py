"""The menu of ``aisetup``: how it opens, survives a restart and closes, and how a page looks."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from evennia.utils.evmenu import EvMenu, EvMenuCmdSet

from evennia_ai.commands.columns import TABLE_WIDTH
from evennia_ai.commands.common import UsageError, error_line
from evennia_ai.commands.setup.attaching import SetupCommand
from evennia_ai.commands.setup.draft import Draft, read_draft, write_draft
from evennia_ai.commands.setup.trial import strike
from evennia_ai.errors import AssistantError
from evennia_ai.game.client_text import as_shown
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import MENU_DRAFT

NODES = "evennia_ai.commands.setup.nodes"
LINE_CHARS = 600
HELP = """Type the number of a choice, or what the step asks for.
next: the next step. back: the step before. look: show this step again.
quit: leave. Nothing changes before you type live in the last step."""
RESTARTED = "The server was restarted. Your choices are kept. Type your last line again."

STEPS = ("character", "persona", "model", "tools", "habits", "trial", "finish")  # the nodes
Goto = Any  # the name of a node or a function that returns one, perhaps with keyword arguments
Choice = tuple[str, Goto]


class SetupMenu(EvMenu):
    """The menu; a wrong input gets one line, and the step stays the same."""

    def __init__(self, caller: Any, *args: Any, **kwargs: Any) -> None:
        self.is_done = False
        if caller.attributes.has(MENU_DRAFT):
            caller.msg(RESTARTED)
            strike(caller)
        else:
            write_draft(caller, Draft())
        caller.cmdset.remove(EvMenuCmdSet)  # Evennia 5 adds one at each restart
        super().__init__(caller, *args, **kwargs)

    def goto(self, target: Goto, raw_string: str, **kwargs: Any) -> None:
        """Go to a node; tell an error in a line and stay."""
        try:
            self.check_character()
            super().goto(target, raw_string, **kwargs)
        except AssistantError as error:
            self.msg(error_line(error))

    def check_character(self) -> None:
        """Go back to the first step if the chosen character cannot have an assistant any more."""
        draft = read_draft(self.caller)
        try:
            draft.ensure_exists()
            if draft.character:
                MenuActor(self).ensure_suitable(draft.character)
        except UsageError:
            write_draft(self.caller, Draft())
            super().goto(STEPS[0], "")
            raise

    def close_menu(self) -> None:
        """Close the menu and forget the draft."""
        is_open = not self._quitting
        super().close_menu()
        if is_open:
            strike(self.caller)
            self.caller.attributes.remove(MENU_DRAFT)
            if not self.is_done:
                self.msg("You left the setup. Nothing was changed. To begin again: |waisetup|n")

    def msg(self, txt: str) -> None:
        """Show a text, unless it is empty."""
        if txt:
            super().msg(txt)

    def options_formatter(self, optionlist: Any) -> str:
        """Return nothing: `page` lists the choices."""
        return ""

    def node_formatter(self, nodetext: str, optionstext: str) -> str:
        """Return the page without lines drawn around it."""
        return nodetext


class MenuActor(SetupCommand):
    """A command whose work that continues speaks to the menu, or to nobody once that is closed."""

    def __init__(self, menu: SetupMenu) -> None:
        super().__init__()
        self.menu, self.caller, self.session = menu, menu.caller, menu._session
        self.reader = self.make_reader()

    def tell(self, lines: str | Sequence[str]) -> None:
        """Show lines in the menu."""
        if self.caller.ndb._evmenu is self.menu:
            self.menu.msg(lines if isinstance(lines, str) else "\n".join(lines))


def actor_of(caller: Any) -> SetupCommand:
    """Return the command on whose behalf the caller's open menu acts."""
    return MenuActor(caller.ndb._evmenu)


def open_menu(caller: Any, session: Any) -> None:
    """Open the menu for a builder; raises UsageError inside another menu."""
    if caller.ndb._evmenu:
        raise UsageError("You are in a menu already. Leave it first.")
    options = {"persistent": True, "session": session, "cmd_on_exit": None}
    SetupMenu(caller, NODES, startnode=STEPS[0], **options)


def wrapped(text: str, indent: int = 0) -> list[str]:
    """Return a text as lines of at most `TABLE_WIDTH` columns, escaped for a client."""
    lines = textwrap.wrap(
        clean_heard(text, LINE_CHARS), TABLE_WIDTH - indent, break_on_hyphens=False
    )
    return [" " * (indent if number else 0) + as_shown(line) for number, line in enumerate(lines)]


def page(
    step: str, lines: Sequence[str], choices: Sequence[Choice] = (), ask: str = "", **gotos: Goto
) -> tuple[tuple[str, str], list[dict[str, Any]]]:
    """Return a node: its text with numbered choices, and what each input leads to.

    Args:
        step: one of `STEPS`, perhaps with more words after a colon.
        lines: plain text; what is empty is left out.
        ask: what may be typed.
        gotos: ``typed`` leads on from what is typed beside the choices; ``back`` and ``next``, if
            they lead elsewhere than to the neighbouring steps.
    """
    steps, place = (*STEPS, *STEPS[-1:]), STEPS.index(step.partition(":")[0])
    shown = [f"|wStep {place + 1} of {len(STEPS)}, {as_shown(step)}|n"]
    shown += [part for line in lines for part in wrapped(line)]
    for number, (label, _) in enumerate(choices, 1):
        shown += wrapped(f"{number}. {label}", 3)
    shown += ["", *wrapped(ask), "Always: back, next, look, help, quit."]
    leads = {
        ("back", "b"): gotos.get("back", steps[max(place - 1, 0)]),
        ("next", "n"): gotos.get("next", steps[place + 1]),
        "_default": gotos.get("typed", (refuse, {"most": len(choices)})),
    }
    leads |= {str(number): goto for number, (_, goto) in enumerate(choices, 1)}
    return ("\n".join(shown), HELP), [{"key": key, "goto": goto} for key, goto in leads.items()]


def refuse(caller: Any, raw_string: str, most: int = 0, **kwargs: Any) -> None:
    """Raise UsageError with what can be typed instead."""
    typed = as_shown(clean_heard(raw_string, 20))
    number = f"1 to {most}, " if most else ""
    raise UsageError(f"'{typed}' is no choice. Type {number}back, next, look or quit.")
