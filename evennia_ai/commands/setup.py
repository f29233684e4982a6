"""``aisetup``: attach an assistant to a character, set it up, and delete it."""

from collections.abc import Collection, Mapping
from typing import Any

from django.conf import settings
from evennia.objects.objects import DefaultCharacter
from evennia.utils import logger
from evennia.utils.create import create_object
from evennia.utils.dbserialize import deserialize
from evennia.utils.evmore import EvMore
from evennia.utils.utils import class_from_module

from evennia_ai.assistant_character import add_assistant_mixin, remove_assistant_mixin
from evennia_ai.commands.common import AICommand, Dialogue, UsageError, all_assistants
from evennia_ai.config import FIELDS, ModelProfile, known_setting
from evennia_ai.game import setup
from evennia_ai.game.client_text import clean_error, clean_output, shown_name
from evennia_ai.game.confirmations import confirmed
from evennia_ai.game.help_entries import STAFF
from evennia_ai.game.minds import PERSONA_AUTHORS
from evennia_ai.game.perception import excessive_rights, is_played_by, owners_of
from evennia_ai.game.settings import game_settings
from evennia_ai.game.sleep_state import mode_of
from evennia_ai.game.world_clock import clock_words
from evennia_ai.policy.audience import people_among
from evennia_ai.policy.conversation.persona_and_lore import (
    Persona,
    read_persona,
    render_persona,
    stored_fields,
)
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.texts import counted
from evennia_ai.store.attributes import write_attributes
from evennia_ai.store.forget import count_rows, erase_chunk
from evennia_ai.store.names import list_names

PERSONA = "persona"
CLOCKED = ("sleep_schedule", "sleep_clock")
ERASE_PAUSE_S = 0.01
LONGEST_LINE = 1_000


class CmdAISetup(AICommand):
    """
    attach an assistant to a character, and change its settings

    Usage:
      aisetup <character> = <persona>
      aisetup/new <name>[;<alias>][:<typeclass>] = <persona>
      aisetup <character>
      aisetup/set <character>/<setting> [= <value>]
      aisetup/set <character>/persona[.<field>] = <text>
      aisetup/persona <name>[.<field>] = <text>
      aisetup/delete <character>, or @<shared persona>
      aisetup/list [<character> or <setting>]

    An assistant plays the character: it hears, answers, acts and remembers.
    |waisetup <character>|n shows the persona and the settings of one.

    The persona says in your own words who the character is, for example:
      aisetup Mira = You are Mira, who keeps the Gilded Gull. You are warm,
      quick and curious, and you never tell a guest's secret.
    It has the fields text, voice, manner, knows, wants, never and examples. The
    last four are lists; a semicolon separates their entries. @ and a name stand
    for a persona that several characters share.

    Switches:
      new     - create a character in this room, with an assistant
      set     - change one setting, or the persona; its other fields and the
                memories stay. Without the = the setting is shown; with nothing
                after the = it is inherited again.
      persona - write a shared persona, or one field of it; the others stay.
                Without a text it is shown; without a name all are listed.
      delete  - delete the assistant and everything it remembers, after a
                question. The character stays. Or delete a shared persona that
                no character uses.
      list    - list all settings with their defaults, or with the values that a
                character uses: its own, the game's, or the default; or tell what
                one setting does
    """

    key = "aisetup"
    help_category = STAFF
    switch_options = ("new", "set", "persona", "delete", "list")

    def do_default(self) -> Dialogue | None:
        if not self.rhs:
            self.show()
            return None
        character = self.find_character(self.lhs)
        self.ensure_suitable(character)
        if getattr(character, "assistant", None):
            name = shown_name(character)
            raise UsageError(
                f"{name} has an assistant already. To change its persona: "
                f"|waisetup/set {name}/persona = ...|n"
            )
        self.attach(character, self.read_persona(), {})
        return None

    def do_new(self) -> None:
        if not self.lhs or not self.rhs:
            raise UsageError("Usage: aisetup/new <name> = <persona>")
        persona = self.read_persona()
        self.attach(self.create(self.lhs), persona, {})

    def ensure_suitable(self, character: Any) -> None:
        """Raise UsageError if an object cannot have an assistant, or must not have one."""
        name = shown_name(character)
        if not isinstance(character, DefaultCharacter):
            raise UsageError(
                f"{name} is no character. To make it one: |wtype {name} = "
                f"{settings.BASE_CHARACTER_TYPECLASS}|n. "
                "To create one: |waisetup/new <name> = <persona>|n"
            )
        self.ensure_may_edit(character)
        if character.has_account:
            raise UsageError(f"{name} is being played by somebody now. Choose another character.")
        # Evennia lists what a builder makes with ``create`` among the builder's own characters.
        owners = [owner for owner in owners_of(character)[0] if owner != self.caller.account]
        if any(is_played_by(owner, character) for owner in owners):
            raise UsageError(f"{name} belongs to a player. Choose another character.")
        if too_much := excessive_rights(character):
            raise UsageError(f"{name} cannot have an assistant: {clean_output(too_much)}")

    def create(self, typed: str) -> Any:
        """Create a character in the caller's room from ``name;alias:typeclass``."""
        here = self.caller.location
        if here is None:
            raise UsageError("You are in no room. Go to the room for the new character first.")
        name, aliases, typeclass = read_new(typed)
        character = create_object(typeclass, name, location=here, home=here, aliases=aliases)
        character.locks.add(f"edit:id({self.caller.id}) or perm(Admin);get:false()")
        return character

    def attach(self, character: Any, persona: Any, own: Mapping[str, Any]) -> None:
        add_assistant_mixin(character)
        write_attributes(character, **{PERSONA_AUTHORS: [self.caller.dbref]})
        self.script, self.name = character.attach_assistant(persona), shown_name(character)
        self.write_settings(own)
        self.msg(
            f"|g{self.name} has an assistant now.|n It uses the model profile "
            f"{self.profile_words()}. Say something to it, or see |waistatus|n."
        )
        self.report_complaints()

    def profile_words(self) -> str:
        """Return the assistant's profile with its client and its model, each word once; escaped."""
        profile = self.script.mind.settings.profile
        parts = dict.fromkeys(filter(None, (profile.client, profile.model)))
        return clean_output(f"'{profile.name}' ({', '.join(parts)})")

    def write_settings(self, changes: Mapping[str, Any]) -> None:
        """Store checked values of settings, None to inherit again; raises AssistantError."""
        script = self.script
        for name, value in changes.items():
            if self.sets_discretion(script.mind.settings.profile, name, value):
                change = f"{name} = {value} of {script.character}"
                logger.log_sec(f"aisetup/set: {self.caller}, {change}")
        script.mind.settings.write(changes)
        self.services.watch(script.mind)  # it may sleep at other hours now

    def sets_discretion(self, profile: ModelProfile, name: str, value: Any) -> bool:
        """Return True if a setting changes whisper_policy; raises AssistantError for no admin."""
        changes = setup.sets_discretion(self.services, profile, name, value)
        if changes and not self.has_permission("Admin"):
            raise UsageError(
                "Only admins may change whisper_policy, by itself or with a profile that sets it: "
                "it decides who is told what players whisper."
            )
        return changes

    def report_complaints(self, known: Collection[str] = (), is_clocked: bool = True) -> None:
        """Tell whose clock sleep hours go by, and what is wrong that was not ``known`` before."""
        if is_clocked and self.script.config.sleep_schedule:
            clock = clock_words(self.services.world_clock, self.script.config.sleep_clock)
            self.msg(f"|xSleep hours go by {clean_output(clock, 120)}.|n")
        for complaint in self.script.mind.settings.complaints:
            if complaint not in known:
                self.msg(f"|yFix this:|n {clean_error(complaint)}")

    def read_persona(self) -> str:
        persona: str = self.rhs.strip()
        self.services.personas.resolve(persona)
        return persona

    def show(self) -> None:
        if not self.lhs:
            raise UsageError("Usage: aisetup <character> = <persona>. See |whelp aisetup|n.")
        script = self.find_assistant(self.lhs)
        own = script.mind.settings.own()
        rows = [f"  {name} = {clean_output(str(value), 200)}" for name, value in own.items()]
        lines = [
            f"|w{self.name}|n ({mode_of(script.character, self.services)})",
            f"Persona: {persona_lines(script.mind.who.persona)}",
            f"Model profile: {self.profile_words()}",
            "Its own settings:" if rows else "It has no settings of its own.",
            *rows,
        ]
        self.msg("\n".join(lines))
        self.report_complaints()

    def do_set(self) -> None:
        target, _, name = self.lhs.partition("/")
        if not name.strip():
            raise UsageError("Usage: aisetup/set <character>/<setting> = <value>")
        script = self.find_editable(target.strip())
        name, value = name.strip().lower(), (self.rhs or "").strip()
        setting, _, field = name.partition(".")
        if setting != PERSONA:
            known_setting(name)
        if self.rhs is None:  # as Evennia's `set` shows what stands there
            self.show_value(name, field)
            return
        if setting == PERSONA:
            self.set_persona(field, value)
            return
        known = script.mind.settings.complaints
        self.write_settings({name: setup.read_setting(self.services, name, value)})
        chosen = getattr(script.config, name)
        effective = "none" if chosen is None else clean_output(str(chosen))
        inherited = "" if value else " (inherited)"
        about = FIELDS[name].metadata["help"]
        self.msg(f"{self.name}: {name} is now {effective}{inherited}. |x{about}|n")
        self.report_complaints(known, name in CLOCKED)

    def show_value(self, name: str, field: str) -> None:
        if not name.startswith(PERSONA):
            shown = setup.value_words(name, getattr(self.script.config, name))
        else:
            persona = read_persona(deserialize(self.script.character.db.ai_persona))
            shown = persona_words(getattr(persona, field or "text", ""))
        self.msg(
            f"{self.name}: {clean_output(name)} is {clean_output(shown) or 'empty'}. To change it: "
            f"|waisetup/set {self.name}/{clean_output(name)} = <value>|n"
        )

    def set_persona(self, field: str, value: str) -> None:
        stored = deserialize(self.script.character.db.ai_persona)
        if field and isinstance(stored, str) and stored.startswith("@"):
            name = clean_output(f"{stored[1:]}.{field}")
            raise UsageError(
                f"{self.name} shares the persona {clean_output(stored)}. "
                f"To change it for everybody: |waisetup/persona {name} = ...|n"
            )
        if not field and value and isinstance(stored, Mapping) and not value.startswith("@"):
            field = "text"
        before = getattr(read_persona(stored), field, "") if field else stored
        changed = changed_persona(stored, field, value)
        self.services.personas.resolve(changed)
        others = [part for part in stored_fields(read_persona(changed)) if part != field]
        keep_authors = bool(field and others)
        setup.write_persona(self.script.character, changed, self.caller.dbref, keep_authors)
        undo = {f".{field}" if field else "": before}
        if isinstance(before, Mapping):
            undo = {f".{part}": value for part, value in {"text": "", **before}.items()}
        lines = "\n".join(
            f"|waisetup/set {self.name}/persona{part} =|n {clean_output(persona_words(old))}"
            for part, old in undo.items()
        )
        kept = "Its memories stay."
        if field == "text" and others:
            example = f"|waisetup/set {self.name}/persona.{others[0]} =|n"
            kept = f"Kept: {', '.join(others)} (to remove one: {example}). {kept}"
        if not persona_words(before):
            kept += f" The field '{clean_output(field)}' was empty before."
        elif value and isinstance(before, tuple):
            shown = clean_output(persona_words(before))
            kept += f" Before, it was: {shown}."
            if new := [part for part in map(str.strip, value.split(";")) if part not in before]:
                both = clean_output("; ".join((*before, *new)))
                kept += f" To have both: |waisetup/set {self.name}/persona.{field} =|n {both}\n"
        kept = f"{kept} To undo: ".replace("\n ", "\n")
        self.msg(f"The persona of {self.name} is changed. {kept}{lines}")

    def do_persona(self) -> None:
        personas = self.services.personas
        if not self.lhs:
            lines = [
                f"|w@{clean_output(name)}|n: {clean_output(render_persona(persona), 200)}"
                for name, persona in sorted(personas.all().items())
            ]
            self.msg("\n".join(lines) or "There are no shared personas yet.")
            return
        name, _, field = self.lhs.strip().lstrip("@").lower().partition(".")
        if self.rhs is None:
            self.msg(persona_lines(personas.resolve(f"@{name}")))
            return
        before, shown, users = personas.all().get(name), clean_output(name), personas.users(name)
        if not (field or self.rhs.strip()):
            raise UsageError(
                f"A persona cannot be empty. To delete it: |waisetup/delete @{shown}|n"
            )
        changed = changed_persona(before, field or "text", self.rhs.strip())
        authors = people_among(personas.authors_of(f"@{name}"))
        personas.write(name, read_persona(changed), authors | {self.caller.dbref})
        use = f"for {len(users)} character{'s' * (len(users) > 1)}: {list_names(users)}."
        if not users:
            use = (
                f"and not used yet. To use it: |waisetup <character> = @{shown}|n. "
                f"To delete it: |waisetup/delete @{shown}|n"
            )
        self.msg(f"|w@{shown}|n is {'changed' if before else 'new'} {use}")

    def do_delete(self) -> Dialogue:
        """Ask, then delete in chunks with pauses, so that the server stays responsive."""
        if self.lhs.startswith("@"):
            self.delete_persona(self.lhs.removeprefix("@"))
            return
        self.find_editable(self.lhs)
        script, name = self.script, self.name
        messages = counted(count_rows(script.id)["Message"], "message")
        question = (
            f"This deletes {name}'s assistant with its {messages}, for ever. "
            f"The character stays. To silence it instead: |waistop {name}|n\n"
            "Delete it? yes/[no]"
        )
        if not (yield from confirmed(self, question, "Nothing was deleted.")):
            return
        if not script.pk:
            self.msg(f"{name}'s assistant is deleted already.")
            return
        character = script.character
        script.mind.stop_thinking()
        while erase_chunk(script.id):
            yield ERASE_PAUSE_S
        script.delete()
        remove_assistant_mixin(character)
        self.msg(f"{name} has no assistant any more. Everything it remembered is deleted.")

    def delete_persona(self, name: str) -> None:
        """Delete a shared persona that no character uses; raises UsageError."""
        users, shown = self.services.personas.users(name), clean_output(name)
        if users:
            raise UsageError(f"@{shown} is used by {list_names(users)}.")
        if not self.services.personas.remove(name):
            raise UsageError(f"No shared persona '@{shown}' was written in the game.")
        self.msg(f"The shared persona @{shown} is deleted.")

    def do_list(self) -> None:
        whose, origins = self.args.strip(), dict.fromkeys(game_settings(), "the game's")
        values: dict[str, object] = {name: item.default for name, item in FIELDS.items()}
        if whose in FIELDS:
            self.msg(setup.setting_line(whose, values[whose], "the default", width=LONGEST_LINE))
            return
        if whose:
            settings = self.find_assistant(whose).mind.settings
            config, _ = settings.resolve()
            values = {name: getattr(config, name) for name in FIELDS}
            origins |= dict.fromkeys(settings.own(), "its own")
        lines = [*setup.setting_lines(values, origins if whose else {})]
        if not whose:
            names = ", ".join(shown_name(script) for script in all_assistants()) or "none yet"
            lines.append(f"Assistants: {names}.")
        lines.append("All of one line: |waisetup/list <setting>|n")
        EvMore(self.caller, "\n".join(lines), session=self.session, exit_on_lastpage=True)


def read_new(typed: str) -> tuple[str, list[str], type]:
    """Return name, aliases and class in ``name;alias:typeclass``; raises UsageError."""
    named, _, path = (part.strip() for part in typed.partition(":"))
    shown = clean_output(path, 120)
    try:
        setting_type = class_from_module(
            path or settings.BASE_CHARACTER_TYPECLASS, defaultpaths=settings.TYPECLASS_PATHS
        )
    except ImportError as error:
        raise UsageError(
            f"There is no typeclass '{shown}'. Use a path such as "
            f"{settings.BASE_CHARACTER_TYPECLASS}."
        ) from error
    if not issubclass(setting_type, DefaultCharacter):
        raise UsageError(
            f"{shown} is no class of characters. Use one that inherits from "
            "Evennia's DefaultCharacter."
        )
    names = [clean_heard(part, 80) for part in named.split(";") if part.strip()]
    if not names:
        raise UsageError("Which name? For example: |waisetup/new Mira = <persona>|n")
    return names[0], names[1:], setting_type


def changed_persona(stored: Any, field: str, value: str) -> Any:
    """Return a persona to store, with all of it or one field changed; raises AssistantError."""
    if not field:
        if not value:
            raise UsageError("A persona cannot be empty. Say who the character is.")
        return value
    return stored_fields(read_persona({**stored_fields(read_persona(stored)), field: value}))


def persona_words(value: Any) -> str:
    return "; ".join(value) if isinstance(value, (list, tuple)) else str(value or "")


def persona_lines(persona: Persona) -> str:
    return "\n".join(clean_output(line) for line in render_persona(persona).splitlines())
