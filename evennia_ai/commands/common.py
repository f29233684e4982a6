"""What the commands share."""

from __future__ import annotations

from typing import Any

from evennia.commands.default.muxcommand import MuxCommand
from twisted.python.failure import Failure

from evennia_ai.assistant_character import composed_path
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.errors import AssistantError
from evennia_ai.game.help_entries import HELP_CATEGORY
from evennia_ai.game.texts import text
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.reports import Page


class UsageError(AssistantError):
    """What was typed cannot be done. The text says what can."""


class AICommand(MuxCommand):
    """A command whose errors are sentences for whoever typed it."""

    help_category = HELP_CATEGORY

    def func(self) -> Any:
        """Run the command and tell what was wrong with it."""
        try:
            unknown = [s for s in self.switches if s not in self.switch_options]
            if unknown:
                raise UsageError(self.explain_switch(clean_output(unknown[0], 40)))
            if AssistantScript.shared_services is None:
                raise UsageError(self.explain_silence())
            return self.run()
        except AssistantError as error:
            self.msg(str(error))
            return None

    def parse(self) -> None:
        """Keep the switches that Evennia would drop, to tell of them ourselves."""
        options, self.switch_options = self.switch_options, ()
        try:
            super().parse()
        finally:
            self.switch_options = options
        self.switches = [switch.lower() for switch in self.switches]

    def explain_switch(self, unknown: str) -> str:
        """What to tell whoever typed a switch that there is not."""
        known = ", ".join(f"/{switch}" for switch in self.switch_options)
        if not known:
            return text("switch_none", switch=unknown, command=self.key)
        return text("switch_unknown", switch=unknown, known=known)

    def explain_silence(self) -> str:
        """What to tell where the service could not be started."""
        if not self.caller.check_permstring("Builder"):
            return text("minds_off")
        return f"{text('minds_off')} The server's log says what, and what to do: |wevennia -l|n."

    def run(self) -> Any:
        """Do what was asked; raises `AssistantError`."""
        raise NotImplementedError

    def tell_failure(self, failure: Failure) -> None:
        """Tell what was wrong with a command that goes on after `run`."""
        failure.trap(AssistantError)
        self.msg(str(failure.value))

    def find_character(self, name: str) -> Any:
        """The one character of this name, near first; raises UsageError with what is wrong."""
        if not name:
            raise UsageError(f"Which character? See |whelp {self.key}|n.")
        found = self.caller.search(name, quiet=True) or self.caller.search(
            name, quiet=True, global_search=True
        )
        if not found:
            raise UsageError(f"There is nobody called '{clean_output(name, 60)}'.")
        if len(found) > 1:
            options = ", ".join(
                f"{obj.get_display_name(self.caller)}({obj.dbref})" for obj in found
            )
            raise UsageError(f"There are several: {options}. Use the number: {found[0].dbref}.")
        return found[0]

    def find_assistant(self, name: str) -> Any:
        """The assistant of a character; raises UsageError where it has none."""
        character = self.find_character(name)
        script = getattr(character, "assistant", None)
        if script is None and character.scripts.has(SCRIPT_KEY):
            raise UsageError(
                f"{character.key} has a mind but no ears: its typeclass was changed. "
                f"|wtypeclass/force {character.key} = {composed_path(type(character).path)}|n "
                "gives them back."
            )
        if script is None:
            raise UsageError(
                f"{character.key} has no assistant. |waisetup {character.key} = <persona>|n gives "
                "it one."
            )
        return script


def page_number(text: str | None) -> int:
    """The page that was asked for, 1 where none was; raises UsageError."""
    if not text or not text.strip():
        return 1
    if not text.strip().isdigit() or not 0 < int(text) < 10**9:
        raise UsageError(f"'{clean_output(text, 20)}' is no page number: try 1.")
    return int(text)


def page_footer(page: Page, typed: str) -> str:
    """Where one is, and how to go on: what to type before the next page's number."""
    older = f" Older: |w{typed}{page.number + 1}|n" if page.number < page.pages else ""
    return f"|xPage {page.number} of {page.pages}, times in UTC.|n{older}"


def all_assistants() -> list[AssistantScript]:
    """Every assistant of the game, by the character's name."""
    scripts = AssistantScript.objects.filter_family(db_key=SCRIPT_KEY).exclude(db_obj=None)
    return sorted(scripts, key=lambda script: script.obj.key.lower())
