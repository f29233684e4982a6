"""The menu of ``aisetup``: how it opens, survives a restart and closes, its pages, its trials."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from evennia.objects.objects import DefaultCharacter
from evennia.utils.create import create_object
from evennia.utils.evmenu import EvMenu, EvMenuCmdSet

from evennia_ai.assistant_character import add_assistant_mixin, remove_assistant_mixin
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import TABLE_WIDTH, UsageError, error_line
from evennia_ai.commands.dry_run import hear_line
from evennia_ai.commands.setup.attaching import SetupCommand
from evennia_ai.commands.setup.draft import Draft, InForce, read_draft, write_draft
from evennia_ai.errors import AssistantError
from evennia_ai.game.client_text import as_shown, shown_name
from evennia_ai.game.perception import find_object
from evennia_ai.mind.dry_run import as_drafted
from evennia_ai.policy.disclosure import DRY_RUNS
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import MENU_DRAFT, SCRIPT_KEY, read_attribute, write_attributes
from evennia_ai.store.lore_records import by_builder

NODES = "evennia_ai.commands.setup.nodes"
LINE_CHARS = 600
HELP = """Type the number of a choice, or what the step asks for.
next: the next step. back: the step before. look: show this step again.
quit: leave. Nothing changes before you type live in the last step."""
RESTARTED = "The server was restarted. Your choices are kept. Type your last line again."
CHARACTER, ASSISTANT = "character", "assistant"  # what goes when a trial is over

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

    @property
    def draft(self) -> Draft:
        return read_draft(self.caller)

    def update(self, **changes: Any) -> None:
        write_draft(self.caller, self.draft, **changes)

    @property
    def in_force(self) -> InForce:
        return self.draft.in_force(self.actor.services)

    @property
    def actor(self) -> MenuActor:
        return MenuActor(self)

    def goto(self, target: Goto, raw_string: str, **kwargs: Any) -> None:
        """Go to a node; tell an error in a line and stay."""
        try:
            self.check_character()
            super().goto(target, raw_string, **kwargs)
        except AssistantError as error:
            self.msg(error_line(error))

    def check_character(self) -> None:
        """Go back to the first step if the chosen character cannot have an assistant any more."""
        draft = self.draft
        try:
            draft.ensure_exists()
            if draft.character:
                self.actor.ensure_suitable(draft.character)
        except UsageError:
            write_draft(self.caller, Draft())
            super().goto(STEPS[0], "")
            raise

    def close_menu(self) -> None:
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
        return ""

    def node_formatter(self, nodetext: str, optionstext: str) -> str:
        return nodetext


def open_menu(caller: Any, session: Any) -> None:
    """Open the menu for a builder; raises UsageError inside another menu."""
    if caller.ndb._evmenu:
        raise UsageError("You are in a menu already. Leave it first.")
    options = {"persistent": True, "session": session, "cmd_on_exit": None}
    SetupMenu(caller, NODES, startnode=STEPS[0], **options)


class MenuActor(SetupCommand):
    """A command whose work that continues speaks to the menu, or to nobody once that is closed."""

    def __init__(self, menu: SetupMenu) -> None:
        super().__init__()
        self.menu, self.caller, self.session = menu, menu.caller, menu._session
        self.reader = self.make_reader()

    def tell(self, lines: str | Sequence[str]) -> None:
        if self.caller.ndb._evmenu is self.menu:
            self.menu.msg(lines if isinstance(lines, str) else "\n".join(lines))

    def change(self, draft: Draft) -> None:
        """Change the settings of an assistant, and its persona if that differs; memories stay."""
        self.script, self.name = draft.character.assistant, shown_name(draft.character)
        self.write_settings(draft.settings)
        if read_attribute(draft.character, "ai_persona") != draft.persona:
            self.write_persona(draft.persona, keep_authors=True)
        self.msg(f"|g{self.name} is changed.|n Its memories stay.")
        self.report_complaints()

    def start_trial(self, words: str) -> None:
        """Tell what the draft would answer, without a trace; raises UsageError if it cannot."""
        self.ensure_may_read(DRY_RUNS)
        draft = self.menu.draft
        if draft.trial:
            raise UsageError("A trial is in progress. Wait for its answer.")
        staged = draft.script is None
        script = self.script = draft.script or self.stage(draft)
        self.name = shown_name(script)
        try:
            found, personas = draft.in_force(self.services), self.services.personas
            authors = [self.caller.dbref, *personas.authors_of(draft.persona)]
            persona = personas.resolve(draft.persona)
            seen = as_drafted(
                script.mind.around, found.config, found.profile, persona, by_builder(authors)
            )
            heard = hear_line(script.character, found.config, self.caller, "say", words)
            running = self.start_dry_run(heard, seen)
        except Exception:
            strike(self.caller)
            raise
        running.addCallbacks(
            lambda _: self.tell("Type another line, back or next."), self.tell_failure
        )
        # Once the menu was closed, the caller may be in another trial.
        running.addBoth(lambda _: strike(self.caller) if staged and script.pk else None)

    def stage(self, draft: Draft) -> AssistantScript:
        """Attach an assistant for a trial, if need be to a new character that nobody sees."""
        here, character, mark = self.caller.location, draft.character, ASSISTANT
        if here is None:
            raise UsageError("You are in no room. Quit, and go to a room first.")
        if character is None:
            locks, mark = "view:false();search:false();get:false();puppet:false()", CHARACTER
            character = create_object(DefaultCharacter, draft.name, home=here, locks=locks)
            character.location = here
        draft.trial = character.dbref
        write_draft(self.caller, draft)
        add_assistant_mixin(character)
        script: AssistantScript = character.attach_assistant()
        write_attributes(script, stopped=True, trial=mark)
        return script


def strike(caller: Any) -> None:
    """Delete what a trial made and marked, at its end or after a crash in it."""
    draft = read_draft(caller)
    if not draft.trial:
        return
    character: Any = find_object(draft.trial)
    for script in character.scripts.get(SCRIPT_KEY) if character else ():
        mark = read_attribute(script, "trial")
        if mark == CHARACTER:
            character.delete()
        elif mark and not script.is_on:  # else somebody started it meanwhile
            script.delete()
            remove_assistant_mixin(character)
    write_draft(caller, draft, trial="")


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
    shown += [part for line in lines for part in _wrapped(line)]
    for number, (label, _) in enumerate(choices, 1):
        shown += _wrapped(f"{number}. {label}", 3)
    shown += ["", *_wrapped(ask), "Always: back, next, look, help, quit."]
    leads = {
        ("back", "b"): gotos.get("back", steps[max(place - 1, 0)]),
        ("next", "n"): gotos.get("next", steps[place + 1]),
        "_default": gotos.get("typed", (refuse, {"most": len(choices)})),
    }
    leads |= {str(number): goto for number, (_, goto) in enumerate(choices, 1)}
    return ("\n".join(shown), HELP), [{"key": key, "goto": goto} for key, goto in leads.items()]


def _wrapped(text: str, indent: int = 0) -> list[str]:
    plain, width = clean_heard(text, LINE_CHARS), TABLE_WIDTH - indent
    lines = textwrap.wrap(plain, width, break_on_hyphens=False)
    return [" " * (indent if number else 0) + as_shown(line) for number, line in enumerate(lines)]


def refuse(caller: Any, raw_string: str, most: int = 0, **kwargs: Any) -> None:
    """Raise UsageError with what can be typed instead."""
    typed = as_shown(clean_heard(raw_string, 20))
    number = f"1 to {most}, " if most else ""
    raise UsageError(f"'{typed}' is no choice. Type {number}back, next, look or quit.")
