"""Base class of the commands, with the lookups and texts that several commands share."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from functools import partial
from typing import Any

from evennia.commands.default.muxcommand import MuxCommand
from evennia.objects.models import ObjectDB
from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.assistant_character import composed_path
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.errors import AssistantError
from evennia_ai.game.help_entries import HELP_CATEGORY
from evennia_ai.game.texts import text
from evennia_ai.policy.authors import people_among
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.ports import GameScript, GameServices
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.reports import Page

log = Logger()

NAME_CHARS = 60
ERROR_CHARS = 400

Dialogue = Generator[Any, str, None]  # yields a question, or a pause in seconds
Outcome = Dialogue | Deferred[Any] | None


class UsageError(AssistantError):
    """What was typed cannot be done. The text says why, and what to type instead."""


class AICommand(MuxCommand):
    """A command that shows every `AssistantError` to its caller as a sentence."""

    help_category = HELP_CATEGORY
    switch_options: tuple[str, ...] = ()
    switches: list[str]
    failure_text = "{reason}"  # said if work that continued after `run` fails

    @property
    def services(self) -> GameServices:
        """The services that all assistants share; `func` checks that they were started."""
        services: GameServices = AssistantScript.shared_services
        return services

    @property
    def switch(self) -> str:
        """The switch that was typed, or an empty string."""
        return self.switches[0] if self.switches else ""

    def func(self) -> Dialogue | None:
        """Run the command; show the caller any error, now or later."""
        try:
            self.check_switches()
            if AssistantScript.shared_services is None:
                raise UsageError(self.explain_no_services())
            outcome = self.run()
        except AssistantError as error:
            self.msg(str(error))
            return None
        if isinstance(outcome, Deferred):
            outcome.addErrback(self.tell_failure)
            return None
        return outcome and self.guard(outcome)

    def parse(self) -> None:
        """Keep the unknown switches that Evennia would drop, so that `func` can name them."""
        options, self.switch_options = self.switch_options, ()
        try:
            super().parse()
        finally:
            self.switch_options = options
        self.switches = [switch.lower() for switch in self.switches]

    def check_switches(self) -> None:
        """Raise UsageError for an unknown switch or for more than one."""
        unknown = [switch for switch in self.switches if switch not in self.switch_options]
        if unknown:
            switch = clean_output(unknown[0], 40)
            known = ", ".join(f"/{option}" for option in self.switch_options)
            if known:
                raise UsageError(text("switch_unknown", switch=switch, known=known))
            raise UsageError(text("switch_none", switch=switch, command=self.key))
        if len(self.switches) > 1:
            raise UsageError(f"Use one switch at a time. See |whelp {self.key}|n.")

    def explain_no_services(self) -> str:
        """Return the message for a server whose assistants could not be started."""
        if not self.caller.check_permstring("Builder"):
            return text("minds_off")
        return f"{text('minds_off')} The server log says what to do: |wevennia -l|n."

    def run(self) -> Outcome:
        """Do what was typed; return a Deferred of work that continues, or a dialogue."""
        return self.dispatch()

    def dispatch(self, *args: Any) -> Outcome:
        """Call ``do_<switch>``, or ``do_default`` if no switch was typed."""
        outcome: Outcome = getattr(self, f"do_{self.switch or 'default'}")(*args)
        return outcome

    def guard(self, dialogue: Dialogue) -> Dialogue:
        """Run a dialogue and show the caller its error, if it raises one."""
        try:
            yield from dialogue
        except AssistantError as error:
            self.msg(str(error))

    def tell(self, lines: str | Sequence[str]) -> None:
        """Show lines to the caller, whose session may have changed since they typed."""
        self.caller.msg(lines if isinstance(lines, str) else "\n".join(lines))

    def tell_failure(self, failure: Failure) -> None:
        """Tell the caller why work that continued after `run` failed."""
        if isinstance(failure.value, UsageError):
            self.tell(str(failure.value))
        elif isinstance(failure.value, AssistantError):
            reason = clean_output(str(failure.value), ERROR_CHARS)
            self.tell(self.failure_text.format(reason=reason))
        elif not isinstance(failure.value, CancelledError):  # the server is stopping
            log.failure("{command} failed", command=self.key, failure=failure)
            self.tell(f"|w{self.key}|n failed because of a bug. The server log has the details.")

    def show_page(
        self, name: str, lines: Iterable[str], page: Page, if_none: str, word: str = ""
    ) -> None:
        """Show a character's lines and how to see older ones, or ``if_none`` without lines.

        ``word`` comes before the page number that is to be typed.
        """
        shown = [*lines]
        if not shown:
            self.msg(f"{name} {if_none}")
            return
        footer = f"|xPage {page.number} of {page.pages}, times in UTC.|n"
        if page.number < page.pages:
            typed = "/".join([self.key, *self.switches])
            footer += f" Older: |w{typed} {name} = {word}{page.number + 1}|n"
        self.msg("\n".join([*shown, footer]))

    def find_character(self, name: str) -> Any:
        """Return the one character of this name, from this room first; raises UsageError."""
        if not name:
            raise UsageError(f"Which character? See |whelp {self.key}|n.")
        search = partial(self.caller.search, name, quiet=True)
        found = search() or search(global_search=True)
        if not found:
            raise UsageError(
                f"There is no character called '{clean_output(name, NAME_CHARS)}'. "
                "Check the name, or use a number such as #12."
            )
        if len(found) > 1:
            named = [f"{obj.get_display_name(self.caller)}({obj.dbref})" for obj in found]
            raise UsageError(
                f"Several match: {', '.join(named)}. Use a number, such as {found[0].dbref}."
            )
        return found[0]

    def find_assistant(self, name: str) -> GameScript:
        """Return the assistant of a character; raises UsageError if it has none."""
        character = self.find_character(name)
        script: GameScript | None = getattr(character, "assistant", None)
        if script is None and character.scripts.has(SCRIPT_KEY):
            raise UsageError(
                f"{character.key} has an assistant but does not hear: its typeclass was changed. "
                f"To repair it: |wtypeclass/force {character.key} = "
                f"{composed_path(type(character).path)}|n"
            )
        if script is None:
            command = f"|waisetup {character.key} = <persona>|n"
            raise UsageError(f"{character.key} has no assistant. To attach one: {command}")
        return script

    def find_editable(self, name: str) -> GameScript:
        """Return the assistant of a character that the caller may edit; raises UsageError."""
        script = self.find_assistant(name)
        self.ensure_may_edit(script.character)
        return script

    def ensure_may_edit(self, character: Any) -> None:
        """Raise UsageError if Evennia's locks do not let the caller edit a character."""
        if not (character.access(self.caller, "edit") or character.access(self.caller, "control")):
            raise UsageError(
                f"You may not change {character.get_display_name(self.caller)}: "
                "its edit and control locks do not let you. Ask an admin."
            )


def page_number(text: str | None) -> int:
    """Return the page number that was typed, or 1 if none was; raises UsageError."""
    digits = (text or "").strip() or "1"
    if not digits.isdigit() or not 0 < int(digits) < 10**9:
        raise UsageError(f"'{clean_output(digits, 20)}' is no number. Use a whole number from 1.")
    return int(digits)


def number_of(dbref: str) -> int:
    """Return the number in a dbref."""
    return int(dbref.lstrip("#"))


def names_of(dbrefs: Iterable[str]) -> dict[str, str]:
    """Return the names of objects by dbref, without those that are deleted. One query."""
    rows = ObjectDB.objects.filter(id__in=[number_of(dbref) for dbref in people_among(dbrefs)])
    return {f"#{number}": key for number, key in rows.values_list("id", "db_key")}


def list_names(dbrefs: Sequence[str]) -> str:
    """Return the names of objects with commas; a deleted one keeps its number."""
    names = names_of(dbrefs)
    return ", ".join(names.get(dbref, dbref) for dbref in dbrefs) or "nobody"


def all_assistants() -> list[GameScript]:
    """Return every assistant of the game, sorted by its character's name."""
    scripts = AssistantScript.objects.filter_family(db_key=SCRIPT_KEY).exclude(db_obj=None)
    return sorted(scripts, key=lambda script: script.obj.key.lower())
