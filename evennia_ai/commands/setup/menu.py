"""The menu of ``aisetup``: who, what persona, which fields, a trial talk, and ``live``.

`SetupMenu.menu` is the dialogue. Each step is a method ``see_<step>`` that returns a `View`: what
is shown, and what each input does. Nothing in the game changes before ``live``.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evennia.objects.objects import DefaultCharacter

from evennia_ai import config
from evennia_ai.commands.common import TABLE_WIDTH, Dialogue, UsageError, error_line
from evennia_ai.commands.setup.attaching import (
    PERSONA,
    SetupCommand,
    changed_persona,
    persona_words,
    read_new,
)
from evennia_ai.commands.setup.draft import (
    PERSONA_FIELDS,
    Draft,
    InForce,
    allowed_words,
    archetypes,
    families_of,
    profile_words,
    value_words,
)
from evennia_ai.commands.setup.trial import Trial, clear_trials
from evennia_ai.errors import AssistantError
from evennia_ai.game.client_text import as_shown, shown_name
from evennia_ai.policy.conversation.character import read_persona, stored_fields
from evennia_ai.policy.disclosure import DRY_RUNS
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import read_attribute
from evennia_ai.store.names import own_name

STEPS = ("character", "persona", "fields")
MAIN = {"blank": "persona", "field": "fields"}  # the steps that others belong to
HELP = """Type the number of a choice, or what the step asks for.
back: the step before. look: show this step again. quit: leave.
Nothing changes before you type live in the last step."""
MOST_LISTED = 12
LINE_CHARS, ANSWER_CHARS = 600, 200
# They come first among the settings.
FIRST = (
    "profile tools_off autonomous_calls_per_hour autonomy_quiet sleep_schedule "
    "sleep_after_long_quiet daily_plan share_memory discretion"
).split()
Act = Callable[[], object]
Choice = tuple[str, Act]


@dataclass(frozen=True)
class View:
    """A step as it is shown, and what each input does; each may raise AssistantError."""

    title: str
    lines: Sequence[str]  # plain text; empty ones are left out
    ask: str  # what may be typed
    back: Act
    choices: Sequence[Choice]  # shown with numbers from 1
    typed: Callable[[str], object]  # takes what is typed beside these


class SetupMenu(SetupCommand):
    """The dialogue of ``aisetup``; what was chosen is lost with it, or at a restart."""

    draft: Draft
    step: str
    start = 0  # the first field on the page of the step "fields"
    field = ""  # that is shown in the step "field"
    trial: Trial | None = None  # in progress
    is_open = False

    def menu(self) -> Dialogue:
        """Ask step by step, until the draft is live or the builder leaves."""
        clear_trials()
        self.draft, self.step, self.is_open = Draft(), STEPS[0], True
        shown = self.page()
        try:
            while self.is_open:
                typed = (yield shown).strip()
                if typed.lower() in ("quit", "q"):
                    self.msg("You left the setup. Nothing was changed. To begin again: |waisetup|n")
                    return
                shown = self.react(typed)
        finally:
            self.is_open = False
            if self.trial:
                self.trial.end()

    def react(self, typed: str) -> str:
        """Do what was typed, and return what to show; an error is a line, and the step stays."""
        if typed.lower() == "help":
            return HELP
        try:
            self.check_character()
        except UsageError as error:
            self.draft, self.step = Draft(), STEPS[0]
            return f"{self.page()}\n{error_line(error)}"
        try:
            told = typed.lower() != "look" and self.answer(typed)
        except AssistantError as error:
            return error_line(error)
        return told if isinstance(told, str) else self.page()

    def check_character(self) -> None:
        """Raise UsageError if the chosen character cannot have an assistant any more."""
        character = self.draft.character
        if character is not None and not character.pk:
            name = as_shown(self.draft.name)
            raise UsageError(f"{name} was deleted meanwhile. Choose another one.")
        if character is not None:
            self.ensure_suitable(character)

    def tell(self, lines: str | Sequence[str]) -> None:
        """Show lines of work that continues, unless the menu is closed."""
        if self.is_open:
            super().tell(lines)

    @property
    def in_force(self) -> InForce:
        return self.draft.in_force(self.services)

    @property
    def view(self) -> View:
        view: View = getattr(self, f"see_{self.step}")()
        return view

    def page(self) -> str:
        """Return the step as text, with numbered choices."""
        view, place = self.view, STEPS.index(MAIN.get(self.step, self.step)) + 1
        shown = [f"|wStep {place} of {len(STEPS)}, {as_shown(view.title)}|n"]
        shown += [part for line in view.lines for part in wrapped_plain(line)]
        for number, (label, _act) in enumerate(view.choices, 1):
            shown += wrapped_plain(f"{number}. {label}", 3)
        shown += ["", *wrapped_plain(view.ask), "Always: back, look, help, quit."]
        return "\n".join(shown)

    def answer(self, typed: str) -> object:
        """Do what was typed; raises AssistantError, after which the step stays the same."""
        view, word = self.view, typed.lower()
        choices = dict(enumerate((act for _label, act in view.choices), 1))
        if word in ("back", "b"):
            return view.back()
        if word.isdecimal() and int(word[:9]) in choices:
            return choices[int(word)]()
        return view.typed(words_in(typed))

    def to(self, step: str, start: int = 0, field: str = "") -> Act:
        """Return what goes to a step."""
        return partial(self.go, step, start, field)

    def go(self, step: str, start: int = 0, field: str = "") -> None:
        self.step, self.start, self.field = step, start, field

    # --- the character ---

    def see_character(self) -> View:
        here = self.caller.location.contents if self.caller.location else ()
        characters = [one for one in here if isinstance(one, DefaultCharacter)]
        choices: list[Choice] = []
        for one in [*filter(self.is_suitable, characters)][:MOST_LISTED]:
            has = ", has an assistant: change it" if getattr(one, "assistant", None) else ""
            choices.append((f"{own_name(one)} ({one.dbref}){has}", partial(self.choose, one.dbref)))
        who = "Who shall have an assistant? It plays a character: hears, answers and remembers."
        ask = "Type a number, the name of any character, or new and a name, such as new Mira."
        return View("character", [who], ask, is_first, choices, self.choose)

    def is_suitable(self, obj: Any) -> bool:
        try:
            self.ensure_suitable(obj)
        except UsageError:
            return False
        return True

    def choose(self, typed: str) -> None:
        word, _, name = typed.partition(" ")
        if word.lower() == "new":
            self.draft = Draft(name=read_new(name)[0], typed=name)
        else:
            found = self.find_character(typed)
            self.ensure_suitable(found)
            stored = read_attribute(found, "ai_persona") or ""
            if not isinstance(stored, str):
                stored = stored_fields(read_persona(stored))
            self.draft = Draft(name=own_name(found), character=found, persona=stored)
        self.go("fields" if self.draft.persona else "persona")

    # --- the persona ---

    def see_persona(self) -> View:
        ready = [(one["title"], partial(self.take, key)) for key, one in archetypes().items()]
        who = (
            f"Who is {self.draft.name}? Take a ready one, or say it in your own words: You are ..."
        )
        ask = "Type a number, a persona, or @ and the name of a shared persona."
        return View("persona", [who], ask, self.to("character"), ready, self.describe)

    def describe(self, typed: str) -> None:
        if " " not in typed and not typed.startswith("@"):
            raise UsageError(f"'{as_shown(typed[:20])}' is no choice. Type a number, or a persona.")
        self.services.personas.resolve(typed)
        self.draft.persona = typed
        self.go("fields")

    def take(self, key: str) -> None:
        self.draft.take(key)
        self.go("blank")

    def see_blank(self) -> View:
        draft = self.draft
        question, suggestion = archetypes()[draft.archetype]["blanks"][draft.next_blank]
        use = [(suggestion, partial(self.fill_blank, suggestion))]
        title, ask = f"persona: {draft.archetype}", "Type the answer, or 1 for the example."
        return View(title, [question], ask, self.to("persona"), use, self.fill_blank)

    def fill_blank(self, typed: str) -> None:
        draft = self.draft
        draft.answers[draft.next_blank] = typed[:ANSWER_CHARS]
        if not draft.next_blank:
            draft.fill_in()
            self.go("fields")

    # --- the fields of the persona, and the settings ---

    def see_fields(self) -> View:
        """Show the fields a page at a time, first those that decide how the character lives."""
        draft, found, start = self.draft, self.in_force, self.start
        is_shared = isinstance(draft.persona, str) and draft.persona.startswith("@")
        persona = [f"{PERSONA}.{name}" for name in PERSONA_FIELDS]
        first = [*([PERSONA] if is_shared else persona), *FIRST]
        names = [*first, *sorted(set(config.FIELDS) - set(FIRST))]
        end = start + (MOST_LISTED if start else len(first))
        choices: list[Choice] = [
            (self.field_words(found, name), self.to("field", start, name))
            for name in names[start:end]
        ]
        if end < len(names):
            choices.append((f"More settings ({len(names) - end})", self.to("fields", end)))
        what = "gets an assistant" if draft.character else "is created in this room with one"
        fix = [f"Fix this: {complaint}" for complaint in found.complaints]
        return View(
            f"{draft.name} {'is changed' if draft.script else what}",
            fix,
            "To change a field, type its number, or for example: voice = low and dry. To try it, "
            f"type what you would say to {draft.name}. To put it into the game, type live.",
            self.to("fields") if start else self.to("persona"),
            choices,
            self.take_line,
        )

    def field_words(self, found: InForce, name: str) -> str:
        part = name.removeprefix(f"{PERSONA}.")
        if name == PERSONA:
            return f"{name}: {self.draft.persona}"
        if part in PERSONA_FIELDS:
            value = getattr(read_persona(self.draft.persona), part)
            return f"{part} ({PERSONA_FIELDS[part]}): {persona_words(value) or 'empty'}"
        return found.words(name)

    def see_field(self) -> View:
        name, now = self.field, self.field_words(self.in_force, self.field)
        lines, choices = [f"Now: {now}."], list[Choice]()
        if item := config.FIELDS.get(name):
            lines[:0] = [
                item.metadata["help"],
                f"Allowed: {allowed_words(name)}.",
                f"Default: {value_words(name, item.default)}.",
            ]
        if name == "profile":
            services = self.services
            for one in sorted(services.profiles):
                choices.append((profile_words(services, one), partial(self.set, name, one)))
        elif name == "tools_off":
            off = config.read_families(self.in_force.config.tools_off)
            families = families_of(self.services.toolbox.tools)
            lines += [f"Always on: {one}. {families.pop(one)}." for one in config.ALWAYS_ON]
            for one, purpose in families.items():
                others = partial(self.set, name, ", ".join(sorted(off ^ {one})))
                choices.append((f"{'off' if one in off else 'on'}: {one}. {purpose}", others))
        ask = "Type the new text or value; reset lets the character inherit a setting."
        back = self.to("fields", self.start)
        return View(
            f"{self.draft.name}: {name}", lines, ask, back, choices, partial(self.set, name)
        )

    def set(self, name: str, typed: str) -> None:
        """Change a field; raises AssistantError. No family of tools is off with "" as value."""
        draft, part = self.draft, name.removeprefix(PERSONA).lstrip(".")
        if name.startswith(PERSONA):
            if part == "text" and not typed:
                raise UsageError("A persona cannot be empty. Say who the character is.")
            changed = changed_persona(draft.persona, part, typed)
            self.services.personas.resolve(changed)
            draft.persona = changed
            return
        checked = None if typed.strip().lower() == "reset" else self.checked_value(name, typed)
        self.sets_discretion(self.in_force.profile, name, checked)
        draft.settings[name] = checked

    def take_line(self, typed: str) -> str | None:
        """Put the draft into the game, change a field, show a setting, or try a line."""
        name, is_field, value = typed.partition("=")
        name = name.strip().lower()
        if self.trial:
            raise UsageError("A trial is in progress. Wait for its answer.")
        if name == "live" and not is_field:
            self.live()
        elif is_field and " " not in name:
            known = f"{PERSONA}.{name}" if name in PERSONA_FIELDS else config.known_setting(name)
            self.set(known, value.strip())
        elif name in config.FIELDS:
            self.go("field", self.start, name)
        else:
            self.ensure_may_read(DRY_RUNS)
            self.trial = Trial(self, self.draft, typed)
            self.trial.start()
            return "Type another line, |wlive|n or |wback|n."
        return None if self.is_open else ""

    def live(self) -> None:
        draft = self.draft
        present = replace(draft, settings={}).in_force(self.services).profile
        for name, value in draft.settings.items():
            self.sets_discretion(present, name, value)  # before anything is created
        if draft.script:
            self.script, self.name = draft.script, shown_name(draft.character)
            self.write_settings(draft.settings)
            if read_attribute(draft.character, "ai_persona") != draft.persona:
                self.write_persona(draft.persona, keep_authors=True)
            self.msg(f"|g{self.name} is changed.|n Its memories stay.")
            self.report_complaints()
        else:
            found = draft.character or self.create(draft.typed)
            self.attach(found, draft.persona, draft.own_settings())
        self.is_open = False


def is_first() -> None:
    raise UsageError("This is the first step. To leave the menu, type |wquit|n.")


def words_in(typed: str) -> str:
    """Return the text that was typed; raises UsageError if it is empty."""
    words = clean_heard(typed)
    if not words:
        raise UsageError("Type some text, or |wback|n.")
    return words


def wrapped_plain(text: str, indent: int = 0) -> list[str]:
    """Return plain text as lines for a client that fit, the further ones indented."""
    plain, width = clean_heard(text, LINE_CHARS), TABLE_WIDTH - indent
    lines = textwrap.wrap(plain, width, break_on_hyphens=False)
    return [" " * (indent if number else 0) + as_shown(line) for number, line in enumerate(lines)]
