"""``aisetup``: attach an assistant to a character, set it up, and delete it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from evennia.objects.objects import DefaultCharacter
from evennia.utils import logger
from evennia.utils.create import create_object
from evennia.utils.dbserialize import deserialize
from evennia.utils.utils import class_from_module

from evennia_ai.assistant_character import add_assistant_mixin, remove_assistant_mixin
from evennia_ai.commands.common import AICommand, Dialogue, UsageError, all_assistants
from evennia_ai.commands.cost_rendering import switch_estimate
from evennia_ai.config import FIELDS, known_setting, parse_value, resolve_profile
from evennia_ai.game.assistant_context import PERSONA_AUTHORS
from evennia_ai.game.authorship import is_played_by, owners_of
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.perception import excessive_rights
from evennia_ai.game.script_ports import GameScript
from evennia_ai.game.texts import is_yes
from evennia_ai.policy.authors import people_among
from evennia_ai.policy.conversation.persona import (
    Persona,
    read_persona,
    render_persona,
    stored_fields,
)
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import read_attribute, write_attribute
from evennia_ai.store.erase import count_rows, erase_chunk

PERSONA, DISCRETION = "persona", "discretion"
ERASE_PAUSE_S = 0.01


class CmdAISetup(AICommand):
    """
    attach an assistant to a character, and change its settings

    Usage:
      aisetup <character> = <persona>
      aisetup/new <name>[;<alias>][:<typeclass>] = <persona>
      aisetup <character>
      aisetup <character> = @<shared persona>
      aisetup/set <character>/<setting> = <value>
      aisetup/set <character>/<setting> =
      aisetup/set <character>/persona.<field> = <text>
      aisetup/persona <name>[.<field>] = <text>
      aisetup/delete <character>
      aisetup/list

    An assistant plays the character: it hears, answers, acts and remembers.
    |waisetup <character>|n shows the persona and the settings of one.

    Switches:
      new     - create a character in this room, with an assistant
      set     - change one setting, or the persona. Without a value the setting
                is inherited again.
      persona - write a persona that several characters share. Without a text it
                is shown; without a name all of them are listed.
      delete  - delete the assistant and everything it remembers. The character
                stays. The command asks before it deletes.
      list    - list all settings with their defaults

    The persona says in your own words who the character is, for example:
      aisetup Mira = You are Mira, who keeps the Gilded Gull. You are warm,
      quick and curious, and you never tell a guest's secret.

    A persona has these fields: text, voice, manner, knows, wants, never and
    examples. The last four are lists; a semicolon separates their entries:
      aisetup/set Mira/persona.wants = a new roof; to know every guest
    The character keeps its memories when you change its persona.
    """

    key = "aisetup"
    locks = "cmd:perm(Builder)"
    switch_options = ("new", "set", "persona", "delete", "list")

    def do_default(self) -> None:
        if not self.rhs:
            self.show()
            return
        character = self.find_character(self.lhs)
        self.ensure_suitable(character)
        if getattr(character, "assistant", None):
            raise UsageError(
                f"{shown_name(character)} has an assistant already. To change its persona: "
                f"|waisetup/set {shown_name(character)}/persona = ...|n"
            )
        self.attach(character, self.read_persona())

    def do_new(self) -> None:
        if not self.lhs or not self.rhs:
            raise UsageError("Usage: aisetup/new <name> = <persona>")
        if self.caller.location is None:
            raise UsageError("You are in no room. Go to the room for the new character first.")
        persona = self.read_persona()
        named, typeclass = read_typeclass(self.lhs)
        name, *aliases = (clean_heard(part, 80) for part in named.split(";") if part.strip())
        here = self.caller.location
        character = create_object(typeclass, name, location=here, home=here, aliases=aliases)
        character.locks.add(f"edit:id({self.caller.id}) or perm(Admin);get:false()")
        self.attach(character, persona)

    def read_persona(self) -> str:
        """Return the persona that was typed; raises AssistantError if it cannot be used."""
        persona: str = self.rhs.strip()
        self.services.personas.resolve(persona)
        return persona

    def ensure_suitable(self, character: Any) -> None:
        """Raise UsageError if an object cannot have an assistant, or must not have one."""
        if not isinstance(character, DefaultCharacter):
            raise UsageError(
                f"{shown_name(character)} is no character. To create one: "
                "|waisetup/new <name> = <persona>|n"
            )
        self.ensure_may_edit(character)
        if character.has_account:
            raise UsageError(
                f"{shown_name(character)} is being played by somebody now. "
                "Choose another character."
            )
        if is_somebodys(character, self.caller.account):
            raise UsageError(
                f"{shown_name(character)} belongs to a player. Choose another character."
            )
        if too_much := excessive_rights(character):
            raise UsageError(
                f"{shown_name(character)} cannot have an assistant: {clean_output(too_much)}"
            )

    def attach(self, character: Any, persona: str) -> None:
        """Give a character an assistant, and name its model."""
        add_assistant_mixin(character)
        write_attribute(character, PERSONA_AUTHORS, [self.caller.dbref])
        script: GameScript = character.attach_assistant(persona)
        profile = script.profile
        model = f"'{profile.name}' ({profile.client}, {profile.model})"
        self.msg(
            f"|g{shown_name(script)} has an assistant now.|n It uses the model profile "
            f"{clean_output(model)}. Say something to it, or see |waistatus|n."
        )
        self.report_complaints(script)

    def report_complaints(self, script: GameScript) -> None:
        """Name the settings that are invalid or contradict each other."""
        for complaint in script.complaints:
            self.msg(f"|yFix this:|n {clean_output(complaint)}")

    def show(self) -> None:
        """Show an assistant's persona and its own settings."""
        if not self.lhs:
            raise UsageError("Usage: aisetup <character> = <persona>. See |whelp aisetup|n.")
        script = self.find_assistant(self.lhs)
        own = script.own_settings()
        rows = [f"  {name} = {clean_output(str(value), 200)}" for name, value in own.items()]
        lines = [
            f"|w{shown_name(script)}|n ({'awake' if script.is_on else 'stopped'})",
            f"Persona: {persona_lines(script.persona)}",
            f"Model profile: {clean_output(script.profile.name)} ({script.profile.client})",
            "Its own settings:" if rows else "It has no settings of its own.",
            *rows,
        ]
        self.msg("\n".join(lines))
        self.report_complaints(script)

    def do_set(self) -> None:
        target, _, name = self.lhs.partition("/")
        if not name.strip():
            raise UsageError("Usage: aisetup/set <character>/<setting> = <value>")
        script = self.find_editable(target.strip())
        name, value = name.strip().lower(), (self.rhs or "").strip()
        setting, _, field = name.partition(".")
        if setting == PERSONA:
            self.set_persona(script, field, value)
            return
        known_setting(name)
        checked = parse_value(name, value) if value else None
        self.ensure_may_set(script, name, checked)
        if value:
            write_attribute(script, name, checked)
        else:
            script.attributes.remove(name)
        before = script.profile
        script.resolve_settings()
        effective = getattr(script.config, name)
        origin = "" if value else " (inherited)"
        self.msg(f"{shown_name(script)}: {name} is now {clean_output(str(effective))}{origin}.")
        if estimate := switch_estimate(script, before):
            self.msg(estimate)
        self.report_complaints(script)

    def ensure_may_set(self, script: GameScript, name: str, value: Any) -> None:
        """Raise AssistantError for an unknown profile, and unless admins change the discretion."""
        changes = name == DISCRETION
        if name == "profile":
            profiles = [script.profile]
            if value is not None:
                profiles.append(resolve_profile(str(value), self.services.profiles))
            changes = any(DISCRETION in profile.settings for profile in profiles)
        if not changes:
            return
        if not self.caller.locks.check_lockstring(self.caller, "use:perm(Admin)"):
            raise UsageError(
                f"Only admins may change {DISCRETION}, by itself or with a profile that sets it: "
                "it decides who is told what players whisper."
            )
        logger.log_sec(f"aisetup/set: {self.caller}, {name} = {value} of {script.character}")

    def set_persona(self, script: GameScript, field: str, value: str) -> None:
        """Change the persona or one of its fields; memories stay."""
        stored = deserialize(script.character.db.ai_persona)
        if field and isinstance(stored, str) and stored.startswith("@"):
            name = clean_output(f"{stored[1:]}.{field}")
            raise UsageError(
                f"{shown_name(script)} shares the persona {clean_output(stored)}. "
                f"To change it for everybody: |waisetup/persona {name} = ...|n"
            )
        before = getattr(read_persona(stored), field, "") if field else stored
        changed = changed_persona(stored, field, value)
        self.services.personas.resolve(changed)
        before_us = read_attribute(script.character, PERSONA_AUTHORS) if field else None
        authors = sorted({*(before_us or ()), self.caller.dbref})
        write_attribute(script.character, PERSONA_AUTHORS, authors)
        write_attribute(script.character, "ai_persona", changed)
        name = f"{shown_name(script)}/persona{'.' if field else ''}{clean_output(field)}"
        self.msg(
            f"The persona of {shown_name(script)} is changed. Its memories stay. "
            f"To undo: |waisetup/set {name} =|n {persona_as_typed(before)}"
        )

    def do_persona(self) -> None:
        personas = self.services.personas
        if not self.lhs:
            every = sorted(personas.all().items())
            lines = [
                f"|w@{clean_output(name)}|n: {clean_output(render_persona(one), 200)}"
                for name, one in every
            ]
            self.msg("\n".join(lines) or "There are no shared personas yet.")
            return
        name, _, field = self.lhs.strip().lstrip("@").lower().partition(".")
        if self.rhs is None:
            self.msg(persona_lines(personas.resolve(f"@{name}")))
            return
        known = personas.all().get(name, Persona())
        shown = clean_output(name)
        changed = read_persona(changed_persona(known, field, self.rhs.strip()))
        before = people_among(personas.authors_of(f"@{name}")) if field else frozenset[str]()
        personas.write(name, changed, before | {self.caller.dbref})
        self.msg(f"The persona @{shown} is stored. To use it: |waisetup <character> = @{shown}|n")

    def do_delete(self) -> Dialogue:
        return self.confirm_delete(self.find_editable(self.lhs))

    def confirm_delete(self, script: GameScript) -> Dialogue:
        """Ask, then delete in chunks with pauses, so that the server stays responsive."""
        rows, name = count_rows(script.id), shown_name(script)
        answer = yield (
            f"This deletes {name}'s assistant with its {rows['Message']} messages, for ever. "
            f"The character stays. To silence it instead: |waistop {name}|n\n"
            "Delete it? yes/[no]"
        )
        if not is_yes(answer):
            self.msg("Nothing was deleted.")
            return
        if not script.pk:
            self.msg(f"{name}'s assistant is deleted already.")
            return
        character = script.character
        script.stop_thinking()
        while erase_chunk(script.id):
            yield ERASE_PAUSE_S
        script.delete()
        remove_assistant_mixin(character)
        self.msg(f"{name} has no assistant any more. Everything it remembered is deleted.")

    def do_list(self) -> None:
        self.msg("\n".join(setting_line(name) for name in sorted(FIELDS)))
        names = ", ".join(shown_name(script) for script in all_assistants()) or "none yet"
        self.msg(f"Assistants: {names}.")


def setting_line(name: str) -> str:
    """Return a setting with its default and its help."""
    item = FIELDS[name]
    default = f"{item.default:g}" if isinstance(item.default, float) else str(item.default)
    value = "none" if item.default is None else f"{default} {item.metadata['unit']}".strip()
    return f"|w{name}|n ({clean_output(value, 60)}): {item.metadata['help']}"


def read_typeclass(typed: str) -> tuple[str, type]:
    """Return the name and the class in ``name:typeclass``; raises UsageError for a wrong class."""
    name, _, path = (part.strip() for part in typed.partition(":"))
    try:
        found = class_from_module(
            path or settings.BASE_CHARACTER_TYPECLASS, defaultpaths=settings.TYPECLASS_PATHS
        )
    except ImportError as error:
        raise UsageError(
            f"There is no typeclass '{clean_output(path, 120)}'. Use a path such as "
            f"{settings.BASE_CHARACTER_TYPECLASS}."
        ) from error
    if not issubclass(found, DefaultCharacter):
        raise UsageError(
            f"{clean_output(path, 120)} is no class of characters. Use one that inherits from "
            "Evennia's DefaultCharacter."
        )
    return name, found


def is_somebodys(character: Any, builder: Any) -> bool:
    """Return True if an account plays the character; a builder's own account does not count.

    Evennia lists what a builder makes with ``create`` among the characters of the builder.
    """
    return any(
        owner != builder and is_played_by(owner, character) for owner in owners_of(character)[0]
    )


def changed_persona(stored: Any, field: str, value: str) -> Any:
    """Return a persona to store, with all of it or one field changed; raises AssistantError."""
    if not field:
        if not value:
            raise UsageError("A persona cannot be empty. Say who the character is.")
        return value
    return stored_fields(read_persona({**stored_fields(read_persona(stored)), field: value}))


def persona_lines(persona: Persona) -> str:
    """Return a persona as a builder reads it: a line for each entry."""
    return "\n".join(clean_output(line) for line in render_persona(persona).splitlines())


def persona_as_typed(value: Any) -> str:
    """Return a persona, or one of its fields, as a builder would type it."""
    if isinstance(value, (list, tuple)):
        value = "; ".join(value)
    elif isinstance(value, Mapping):
        value = value.get("text", "")
    return clean_output(str(value or ""))
