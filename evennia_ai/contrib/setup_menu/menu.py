"""The menu of ``aisetup``: who, what persona, which fields, a trial talk, and ``live``.

`CmdAISetupMenu.menu` is the dialogue. Each step is a page and a method that takes what is typed;
the number of a choice stands for a typed text. Nothing in the game changes before ``live``.
"""

import textwrap
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from evennia_ai import config
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import TABLE_WIDTH, Dialogue, UsageError, error_line
from evennia_ai.commands.dry_run import TryingCommand
from evennia_ai.commands.setup import PERSONA, CmdAISetup, changed_persona, persona_words, read_new
from evennia_ai.contrib.setup_menu import draft as drafts
from evennia_ai.contrib.setup_menu import staging
from evennia_ai.contrib.setup_menu.draft import Draft, InForce, archetypes
from evennia_ai.errors import AssistantError
from evennia_ai.game import setup
from evennia_ai.game.client_text import as_shown, shown_name
from evennia_ai.game.room_lines import hear_typed
from evennia_ai.game.setup import PERSONA_FIELDS, value_words
from evennia_ai.mind.dry_run import as_drafted
from evennia_ai.policy.conversation.persona_and_lore import read_persona, stored_fields
from evennia_ai.policy.read_permissions import DRY_RUNS
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import read_attribute
from evennia_ai.store.lore_records import by_builder
from evennia_ai.store.names import own_name

HELP = """Type the number of a choice, or what the step asks for.
back: the step before. look: show this step again. quit: leave.
Nothing changes before you type live in the last step."""
USAGE = "Usage:\n"
MENU_USAGE = f"{USAGE}  aisetup                 (a menu: ready characters, and a trial talk)\n"
MOST_LISTED = 12
LINE_CHARS, ANSWER_CHARS = 600, 200
# They come first among the settings.
FIRST = (
    "profile tools_off autonomous_calls_per_hour autonomy_quiet sleep_schedule "
    "sleep_after_long_quiet daily_plan share_memory whisper_policy"
).split()
MORE = "more"


class MenuPage(NamedTuple):
    """A step as it is shown."""

    title: str
    lines: Sequence[str]  # plain text
    choices: Sequence[tuple[str, str]]  # each with the text that its number stands for
    ask: str  # what may be typed


class MenuExit(Exception):
    """The builder left the menu."""


class CmdAISetupMenu(CmdAISetup, TryingCommand):
    """``aisetup`` with its dialogue; what was chosen is lost with that, or at a restart."""

    draft: Draft
    start = 0  # the first field on the page
    field = ""  # the field that is shown alone
    is_trying = False  # True while a trial is in progress
    staged: AssistantScript | None = None  # of the trial
    is_open = False

    def get_help(self, caller: Any, cmdset: Any) -> str:
        """Return the help of the plain command, and what the menu adds."""
        return str(CmdAISetup.__doc__).replace(USAGE, MENU_USAGE, 1)

    def do_default(self) -> Dialogue | None:
        return super().do_default() if self.args.strip() else self.menu()

    def menu(self) -> Dialogue:
        """Ask step by step, until the draft is live or the builder leaves."""
        staging.clear_trials()
        self.is_open, step = True, 0
        ask_character = partial(self.ask, self.see_characters, self.choose)
        steps = (ask_character, self.ask_persona, self.ask_fields)
        try:
            while self.is_open:
                self.draft = self.draft if step else Draft()
                is_done = yield from steps[step]()
                knows_who = step == 0 and self.draft.persona
                step = max(0, step + (1 + bool(knows_who) if is_done else -1))
        except MenuExit:
            self.msg("You left the setup. Nothing was changed. To begin again: |waisetup|n")
        finally:
            self.is_open = False
            self.end_trial()

    def ask(
        self, page: Callable[[], MenuPage], take: Callable[[str], str | bool | None]
    ) -> Generator[str, str, bool]:
        """Show a page until ``take`` returns True; a text from it is shown instead of the page.

        Returns False if the builder goes back. An error is told in a line. Raises Left.
        """
        shown = render(page())
        while True:
            typed = clean_heard((yield shown))
            word, choices = typed.lower(), page().choices
            if word in ("quit", "q"):
                raise MenuExit
            if word in ("back", "b"):
                return False
            if word.isdecimal() and 0 < int(word[:9]) <= len(choices):
                typed = choices[int(word) - 1][1]
            try:
                self.ensure_there()
                reply = take(typed) if word not in ("", "look", "help") else None
            except AssistantError as error:
                reply = error_line(error)
            if reply is True:
                return True
            shown = HELP if word == "help" else reply or render(page())

    def ensure_there(self) -> None:
        """Raise UsageError if the chosen character cannot have an assistant any more."""
        character = self.draft.character
        if character is not None and not character.pk:
            name = as_shown(self.draft.name)
            raise UsageError(f"{name} was deleted meanwhile. Type |wquit|n, and begin again.")
        if character is not None:
            self.ensure_suitable(character)

    def tell(self, lines: str | Sequence[str]) -> None:
        """Show lines of work that continues, unless the menu is closed."""
        if self.is_open:
            super().tell(lines)

    # --- the character ---

    def see_characters(self) -> MenuPage:
        here = self.caller.location.contents if self.caller.location else ()
        choices = []
        for item in here:
            with suppress(UsageError):
                self.ensure_suitable(item)
                has = ", has an assistant: change it" if getattr(item, "assistant", None) else ""
                choices.append((f"{own_name(item)} ({item.dbref}){has}", item.dbref))
        who = "Who shall have an assistant? It plays a character: hears, answers and remembers."
        ask = "Type a number, the name of any character, or new and a name, such as new Mira."
        return MenuPage("1 of 3, character", [who], choices[:MOST_LISTED], ask)

    def choose(self, typed: str) -> bool:
        word, _, name = typed.partition(" ")
        if word.lower() == "new":
            self.draft = Draft(name=read_new(name)[0], typed=name)
            return True
        character = self.find_character(typed)
        self.ensure_suitable(character)
        stored = read_attribute(character, "ai_persona") or ""
        if not isinstance(stored, str):
            stored = stored_fields(read_persona(stored))
        self.draft = Draft(name=own_name(character), character=character, persona=stored)
        return True

    # --- the persona ---

    def ask_persona(self) -> Generator[str, str, bool]:
        self.draft.archetype = ""
        is_done = yield from self.ask(self.see_personas, self.describe)
        while is_done and self.draft.archetype and self.draft.next_blank:
            if not (yield from self.ask(self.see_blank, self.fill_blank)):
                return (yield from self.ask_persona())
        return is_done

    def see_personas(self) -> MenuPage:
        ready = [(archetype["title"], key) for key, archetype in archetypes().items()]
        who = f"Who is {self.draft.name}? Take a ready one, or use your own words: You are ..."
        ask = "Type a number, a persona, or @ and the name of a shared persona."
        return MenuPage("2 of 3, persona", [who], ready, ask)

    def describe(self, typed: str) -> bool:
        if typed in archetypes():
            self.draft.take(typed)
        elif " " not in typed and not typed.startswith("@"):
            raise UsageError(f"'{as_shown(typed[:20])}' is no choice. Type a number, or a persona.")
        else:
            self.services.personas.resolve(typed)
            self.draft.persona = typed
        return True

    def see_blank(self) -> MenuPage:
        draft = self.draft
        question, example = archetypes()[draft.archetype]["blanks"][draft.next_blank]
        ask = "Type the answer, or 1 for the example."
        return MenuPage(
            f"2 of 3, persona: {draft.archetype}", [question], [(example, example)], ask
        )

    def fill_blank(self, typed: str) -> bool:
        self.draft.answers[self.draft.next_blank] = typed[:ANSWER_CHARS]
        if not self.draft.next_blank:
            self.draft.fill_in()
        return True

    # --- the fields of the persona, and the settings ---

    def ask_fields(self) -> Generator[str, str, bool]:
        self.start, self.field = 0, ""
        while not (yield from self.ask(self.see_fields, self.take_line)):
            if not self.field and not self.start:
                return False
            self.start, self.field = (self.start, "") if self.field else (0, "")
        return True

    def see_fields(self) -> MenuPage:
        """Show a page of fields, first those that decide how it lives, or one field alone."""
        if self.field:
            return self.see_field(self.field)
        draft, in_force, start = self.draft, self.draft.in_force(self.services), self.start
        is_shared = isinstance(draft.persona, str) and draft.persona.startswith("@")
        persona = [PERSONA] if is_shared else [f"{PERSONA}.{name}" for name in PERSONA_FIELDS]
        first = [*persona, *(name for name in FIRST if name in config.FIELDS)]
        names = [*first, *sorted(set(config.FIELDS) - set(FIRST))]
        end = start + (MOST_LISTED if start else len(first))
        choices = [(self.field_words(in_force, name), name) for name in names[start:end]]
        if end < len(names):
            choices.append((f"More settings ({len(names) - end})", f"{MORE} {end}"))
        what = "gets an assistant" if draft.character else "is created in this room with one"
        return MenuPage(
            f"3 of 3, {draft.name} {'is changed' if draft.script else what}",
            [f"Fix this: {complaint}" for complaint in in_force.complaints],
            choices,
            "To change a field, type its number, or for example: voice = low and dry. To try it, "
            f"type what you would say to {draft.name}. To put it into the game, type live.",
        )

    def field_words(self, in_force: InForce, name: str) -> str:
        part = name.removeprefix(f"{PERSONA}.")
        if name == PERSONA:
            return f"{name}: {self.draft.persona}"
        if part in PERSONA_FIELDS:
            value = getattr(read_persona(self.draft.persona), part)
            return f"{part} ({PERSONA_FIELDS[part]}): {persona_words(value) or 'empty'}"
        return in_force.words(name)

    def see_field(self, name: str) -> MenuPage:
        in_force = self.draft.in_force(self.services)
        lines, choices = [f"Now: {self.field_words(in_force, name)}."], list[tuple[str, str]]()
        if item := config.FIELDS.get(name):
            lines[:0] = [
                item.metadata["help"],
                f"Allowed: {drafts.allowed_words(name)}.",
                f"Default: {value_words(name, item.default)}.",
            ]
        if name == "profile":
            words = partial(drafts.profile_words, self.services)
            choices = [(words(profile), profile) for profile in sorted(self.services.profiles)]
        elif name == "tools_off":
            off = config.read_families(in_force.config.tools_off)
            families = drafts.families_of(self.services.toolbox.tools)
            lines += [f"Always on: {entry}. {families.pop(entry)}." for entry in config.ALWAYS_ON]
            for family, purpose in families.items():
                others = ", ".join(sorted(off ^ {family})) or "none"
                choices.append((f"{'off' if family in off else 'on'}: {family}. {purpose}", others))
        ask = "Type the new text or value; reset lets the character inherit a setting."
        return MenuPage(f"3 of 3, {self.draft.name}: {name}", lines, choices, ask)

    def take_line(self, typed: str) -> str | bool | None:
        """Put the draft into the game, change a field, show a field, or try a line."""
        name, is_field, value = typed.partition("=")
        name = name.strip().lower()
        if self.is_trying:
            raise UsageError("A trial is in progress. Wait for its answer.")
        if self.field:
            self.set(self.field, typed)
        elif is_field and " " not in name:
            known = f"{PERSONA}.{name}" if name in PERSONA_FIELDS else config.known_setting(name)
            self.set(known, value.strip())
        elif name in config.FIELDS or name.startswith(PERSONA):
            self.field = name
        elif name.startswith(f"{MORE} ") and name.split()[1].isdecimal():
            self.start = int(name.split()[1])
        elif name == "live":
            self.live()
            return True
        else:
            self.ensure_may_read(DRY_RUNS)
            self.try_line(typed)
            return "Type another line, |wlive|n or |wback|n."
        return None

    def try_line(self, words: str) -> None:
        """Tell what the draft would answer, with nothing done or seen; raises UsageError."""
        draft, personas, self.is_trying = self.draft, self.services.personas, True
        try:
            script, in_force = draft.script, draft.in_force(self.services)
            if script is None:
                script = self.staged = staging.stage(draft, self.caller.location)
            self.script, self.name = script, shown_name(script)
            authors = by_builder([self.caller.dbref, *personas.authors_of(draft.persona)])
            persona = personas.resolve(draft.persona)
            around = as_drafted(
                script.mind.around, in_force.config, in_force.profile, persona, authors
            )
            event = hear_typed(script.character, in_force.config, self.caller, "say", words)
            asking = self.start_dry_run(event, around)
        except Exception:
            self.end_trial()
            raise
        asking.addErrback(self.tell_failure).addBoth(lambda _: self.end_trial())

    def end_trial(self) -> None:
        if self.staged is not None and self.staged.pk:
            staging.clear(self.staged)
        self.is_trying, self.staged = False, None

    def set(self, name: str, typed: str) -> None:
        """Change a field; raises AssistantError. "none" turns no family of tools off."""
        draft, part = self.draft, name.removeprefix(PERSONA).lstrip(".")
        if name.startswith(PERSONA):
            if part == "text" and not typed:
                raise UsageError("A persona cannot be empty. Say who the character is.")
            changed = changed_persona(draft.persona, part, typed)
            self.services.personas.resolve(changed)
            draft.persona = changed
            return
        resets = typed.lower() == "reset" or (name, typed) == ("tools_off", "none")
        checked = setup.read_setting(self.services, name, "" if resets else typed)
        self.sets_discretion(draft.in_force(self.services).profile, name, checked)
        draft.settings[name] = checked

    def live(self) -> None:
        draft = self.draft
        present = replace(draft, settings={}).in_force(self.services).profile
        for name, value in draft.settings.items():
            self.sets_discretion(present, name, value)  # before anything is created
        if draft.script:
            self.script, self.name = draft.script, shown_name(draft.character)
            self.write_settings(draft.settings)
            if read_attribute(draft.character, "ai_persona") != draft.persona:
                setup.write_persona(draft.character, draft.persona, self.caller.dbref, True)
            self.msg(f"|g{self.name} is changed.|n Its memories stay.")
            self.report_complaints()
        else:
            draft.character = draft.character or self.create(draft.typed)
            self.attach(draft.character, draft.persona, draft.own_settings())
        self.is_open = False


def render(page: MenuPage) -> str:
    shown = [f"|wStep {as_shown(page.title)}|n"]
    shown += [part for line in page.lines for part in wrapped_plain(line)]
    for number, (label, _typed) in enumerate(page.choices, 1):
        shown += wrapped_plain(f"{number}. {label}", 3)
    return "\n".join([*shown, "", *wrapped_plain(page.ask), "Always: back, look, help, quit."])


def wrapped_plain(text: str, indent: int = 0) -> list[str]:
    plain, width = clean_heard(text, LINE_CHARS), TABLE_WIDTH - indent
    lines = textwrap.wrap(plain, width, break_on_hyphens=False)
    return [" " * (indent if number else 0) + as_shown(line) for number, line in enumerate(lines)]
