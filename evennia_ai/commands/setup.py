"""``aisetup``: give a character a mind, tune it, take it away."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from typing import Any

from django.conf import settings
from evennia.accounts.models import AccountDB
from evennia.objects.objects import DefaultCharacter
from evennia.utils.create import create_object
from evennia.utils.dbserialize import deserialize
from evennia.utils.utils import class_from_module

from evennia_ai.assistant_character import (
    AssistantMixin,
    add_assistant_mixin,
    path_with_mixin,
    remove_assistant_mixin,
)
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import AICommand, UsageError, all_assistants
from evennia_ai.config import FIELDS, known_setting, parse_value, resolve_profile
from evennia_ai.game.perception import excessive_rights
from evennia_ai.policy.conversation.persona import (
    Persona,
    read_persona,
    render_persona,
    stored_fields,
)
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.store.attributes import write_attribute
from evennia_ai.store.erase import count_rows, erase_chunk

PERSONA = "persona"
ERASE_PAUSE_S = 0.01


class CmdAISetup(AICommand):
    """
    give a character a mind of its own

    Usage:
      aisetup <character> = <persona>
      aisetup/new <name> = <persona>
      aisetup <character>
      aisetup <character> = @<shared persona>
      aisetup/set <character>/<setting> = <value>
      aisetup/set <character>/<setting> =
      aisetup/set <character>/persona.<field> = <text>
      aisetup/persona <name>[.<field>] = <text>
      aisetup/delete <character>
      aisetup/list

    Switches:
      new     - make a new character here and give it a mind
      set     - change one setting, or the persona; without a value it is
                inherited again
      persona - write a persona that several characters share; alone, show
                those there are
      delete  - take the mind and everything it remembers away; the character
                stays. Asks before it does so.
      list    - the settings there are, with their defaults

    The persona says in your own words who the character is, for example:
      aisetup Mira = You are Mira, who keeps the Gilded Gull. You are warm,
      quick and curious, and you never tell a guest's secret.

    It may also be given by fields: text, voice, manner, knows, wants, never,
    examples; the last four are lists, their entries separated by ";":
      aisetup/set Mira/persona.wants = a new roof; to know every guest
    Changing a persona keeps what the character remembers.
    """

    key = "aisetup"
    locks = "cmd:perm(Builder)"
    switch_options = ("new", "set", "persona", "delete", "list")

    def run(self) -> Any:
        """Dispatch by switch."""
        if len(self.switches) > 1:
            raise UsageError("One switch at a time, please. See |whelp aisetup|n.")
        if not self.switches:
            return self.attach() if self.rhs else self.show()
        return getattr(self, f"do_{self.switches[0]}")()

    def attach(self) -> None:
        """Give an existing character a mind."""
        character = self.find_character(self.lhs)
        ensure_suitable(character, self.caller)
        if getattr(character, "assistant", None):
            raise UsageError(
                f"{character.key} has an assistant already. "
                f"|waisetup/set {character.key}/persona = ...|n changes who it is."
            )
        persona = self.rhs.strip()
        all_services().personas.resolve(persona)
        add_assistant_mixin(character)
        self.welcome(character.attach_assistant(persona))

    def find_own(self, name: str) -> Any:
        """The assistant of a character that the caller may change; raises UsageError."""
        script = self.find_assistant(name)
        ensure_may_edit(script.character, self.caller)
        return script

    def do_new(self) -> None:
        """Make a character with a mind."""
        if not self.lhs or not self.rhs:
            raise UsageError("Usage: aisetup/new <name> = <persona>")
        if self.caller.location is None:
            raise UsageError("You are nowhere: go to where the character shall stand.")
        persona = self.rhs.strip()
        all_services().personas.resolve(persona)
        base = class_from_module(settings.BASE_CHARACTER_TYPECLASS)
        typeclass = base if issubclass(base, AssistantMixin) else path_with_mixin(base)
        character = create_object(
            typeclass,
            key=clean_output(self.lhs, 80),
            location=self.caller.location,
            home=self.caller.location,
        )
        character.locks.add(f"edit:id({self.caller.id}) or perm(Admin);get:false()")
        self.welcome(character.attach_assistant(persona))

    def welcome(self, script: Any) -> None:
        """Tell what was made and which model stands behind it."""
        profile = script.profile
        model = script.config.llm_model or profile.model
        self.msg(
            f"|g{script.character_name} has a mind of its own now.|n It thinks with the model "
            f"profile '{profile.name}' ({profile.client}, {model}). "
            f"Say something to it, or see |waistatus|n."
        )
        self.report_complaints(script)

    def report_complaints(self, script: Any) -> None:
        """Name the settings that cannot be used, or do not fit together."""
        for complaint in script.complaints:
            self.msg(f"|yTo be mended:|n {complaint}")

    def show(self) -> None:
        """Who the character is and how it is set."""
        if not self.lhs:
            raise UsageError("Usage: aisetup <character> = <persona>. See |whelp aisetup|n.")
        script = self.find_assistant(self.lhs)
        own = script.own_settings()
        rows = [f"  {name} = {clean_output(str(value), 200)}" for name, value in own.items()]
        lines = [
            f"|w{script.character_name}|n ({'awake' if script.is_on else 'stopped'})",
            f"Persona: {persona_lines(script.persona)}",
            f"Model profile: {script.profile.name} ({script.profile.client})",
            "Its own settings:" if rows else "It inherits all of its settings.",
            *rows,
        ]
        self.msg("\n".join(lines))
        self.report_complaints(script)

    def do_set(self) -> None:
        """Change one setting of one assistant."""
        target, _, name = self.lhs.partition("/")
        if not name.strip():
            raise UsageError("Usage: aisetup/set <character>/<setting> = <value>")
        script = self.find_own(target.strip())
        name = name.strip().lower()
        value = (self.rhs or "").strip()
        if name.partition(".")[0] == PERSONA:
            self.set_persona(script, name.partition(".")[2], value)
            return
        known_setting(name)
        if value:
            checked = parse_value(name, value)
            if name == "profile":
                resolve_profile(checked, script.services.profiles)
            write_attribute(script, name, checked)
        else:
            script.attributes.remove(name)
        script.resolve_settings()
        effective = getattr(script.config, name)
        origin = "" if value else " (inherited)"
        self.msg(f"{script.character_name}: {name} is now {clean_output(str(effective))}{origin}.")
        self.report_complaints(script)

    def set_persona(self, script: Any, field: str, value: str) -> None:
        """Change who it is, or one field of that; what it remembers stays."""
        stored = deserialize(script.character.db.ai_persona)
        if field and is_shared(stored):
            raise UsageError(
                f"{script.character_name} shares the persona {stored}. "
                f"|waisetup/persona {stored[1:]}.{field} = ...|n changes it for all who have it."
            )
        before = getattr(read_persona(stored), field, "") if field else stored
        changed = changed_persona(stored, field, value)
        script.services.personas.resolve(changed)
        write_attribute(script.character, "ai_persona", changed)
        name = f"{script.character_name}/persona{'.' if field else ''}{field}"
        self.msg(
            f"The persona of {script.character_name} is changed; what it remembers stays. "
            f"To undo: |waisetup/set {name} =|n {persona_as_typed(before)}"
        )

    def do_persona(self) -> None:
        """Write a persona that several characters share, or show those there are."""
        shelf = all_services().personas
        if not self.lhs:
            lines = [
                f"|w@{name}|n: {clean_output(render_persona(persona), 200)}"
                for name, persona in sorted(shelf.all().items())
            ]
            self.msg("\n".join(lines) or "There are no shared personas yet.")
            return
        name, _, field = self.lhs.strip().lstrip("@").lower().partition(".")
        if self.rhs is None:
            self.msg(persona_lines(shelf.resolve(f"@{name}")))
            return
        known = shelf.all().get(name, Persona())
        shelf.write(name, read_persona(changed_persona(known, field, self.rhs.strip())))
        self.msg(f"The persona @{name} is stored. |waisetup <character> = @{name}|n gives it.")

    def do_delete(self) -> Generator[str, str, None]:
        """Take the mind away, after a question."""
        return self.confirm_delete(self.find_own(self.lhs))

    def confirm_delete(self, script: Any) -> Generator[str, str, None]:
        """Ask, then delete chunk by chunk, so that nobody notices."""
        rows = count_rows(script.id)
        name = script.character_name
        answer = yield (
            f"This deletes {name}'s mind with its {rows['Message']} messages, for ever. "
            "The character stays. |waistop|n would only silence it.\n"
            f"Delete it? yes/[no]"
        )
        if answer.strip().lower() not in ("y", "yes"):
            self.msg("Nothing was deleted.")
            return
        if not script.pk:
            self.msg(f"{name}'s mind is gone already.")
            return
        character = script.character
        script.stop_thinking()
        while erase_chunk(script.id):
            yield ERASE_PAUSE_S
        script.delete()
        remove_assistant_mixin(character)
        self.msg(f"{name} has no mind any more, and nothing of it is left.")

    def do_list(self) -> None:
        """The settings there are."""
        self.msg("\n".join(setting_line(name) for name in sorted(FIELDS)))
        names = ", ".join(script.character_name for script in all_assistants()) or "none yet"
        self.msg(f"Assistants: {names}.")


def is_shared(stored: Any) -> bool:
    """True where a character's persona is only the name of one that is shared."""
    return isinstance(stored, str) and stored.startswith("@")


def changed_persona(stored: Any, field: str, value: str) -> Any:
    """A persona, as it is to be stored, with the whole or one field of it changed; raises
    ConfigError for a field there is not and UsageError where nothing would be left."""
    if not field:
        if not value:
            raise UsageError("A persona cannot be empty: say who the character is.")
        return value
    return stored_fields(read_persona({**stored_fields(read_persona(stored)), field: value}))


def persona_lines(persona: Persona) -> str:
    """A persona as a builder reads it: a line for each entry."""
    return "\n".join(clean_output(line) for line in render_persona(persona).splitlines())


def setting_line(name: str) -> str:
    """A setting with its default and what it does."""
    item = FIELDS[name]
    default = f"{item.default:g}" if isinstance(item.default, float) else str(item.default)
    value = "none" if item.default is None else f"{default} {item.metadata['unit']}".strip()
    return f"|w{name}|n ({clean_output(value, 60)}): {item.metadata['help']}"


def persona_as_typed(value: Any) -> str:
    """A persona or a field of one as a builder would type it."""
    if isinstance(value, (list, tuple)):
        value = "; ".join(value)
    elif isinstance(value, Mapping):
        value = value.get("text", "")
    return clean_output(str(value or ""))


def all_services() -> Any:
    """What all assistants share."""
    return AssistantScript.shared_services


def ensure_suitable(character: Any, caller: Any) -> None:
    """Raise UsageError where something cannot, or must not, be given a mind."""
    if not isinstance(character, DefaultCharacter):
        raise UsageError(
            f"{character.get_display_name(caller)} is no character. "
            "|waisetup/new <name> = <persona>|n makes one."
        )
    ensure_may_edit(character, caller)
    if character.has_account:
        raise UsageError(f"{character.key} is being played by somebody right now.")
    if is_somebodys(character):
        raise UsageError(f"{character.key} belongs to a player, who may come back to it.")
    too_much = excessive_rights(character)
    if too_much:
        raise UsageError(f"No: {too_much}")


def ensure_may_edit(character: Any, caller: Any) -> None:
    """Raise UsageError where the caller may not change a character, by Evennia's own locks."""
    if not (character.access(caller, "edit") or character.access(caller, "control")):
        raise UsageError(f"You may not change {character.get_display_name(caller)}.")


def is_somebodys(character: Any) -> bool:
    """True where an account has the character among its own. Its puppet lock names the accounts to
    ask, but builders put themselves there too when they make one."""
    named = re.findall(r"\bpid\((\d+)\)", character.locks.get("puppet"))
    accounts = AccountDB.objects.filter(id__in=named)
    return any(character in account.characters for account in accounts)
