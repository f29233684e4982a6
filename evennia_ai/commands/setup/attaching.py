"""Who may get an assistant, how it is attached, and who may change which setting."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.conf import settings
from evennia.objects.objects import DefaultCharacter
from evennia.utils import logger
from evennia.utils.create import create_object
from evennia.utils.utils import class_from_module

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.commands.common import AICommand, UsageError
from evennia_ai.config import ModelProfile, resolve_profile
from evennia_ai.game.assistant_context import PERSONA_AUTHORS
from evennia_ai.game.authorship import is_played_by, owners_of
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.perception import excessive_rights
from evennia_ai.game.script_ports import GameScript
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import read_attribute, write_attribute, write_attributes

DISCRETION = "discretion"
NOTHING: Mapping[str, Any] = MappingProxyType({})


class SetupCommand(AICommand):
    """What ``aisetup`` and its menu share."""

    key = "aisetup"
    locks = "cmd:perm(Builder)"

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

    def create(self, typed: str) -> Any:
        """Create a character in the caller's room from ``name;alias:typeclass``."""
        here = self.caller.location
        if here is None:
            raise UsageError("You are in no room. Go to the room for the new character first.")
        name, aliases, typeclass = read_new(typed)
        character = create_object(typeclass, name, location=here, home=here, aliases=aliases)
        character.locks.add(f"edit:id({self.caller.id}) or perm(Admin);get:false()")
        return character

    def attach(self, character: Any, persona: Any, own: Mapping[str, Any] = NOTHING) -> None:
        """Give a character an assistant with its own settings, and name its model."""
        add_assistant_mixin(character)
        write_attribute(character, PERSONA_AUTHORS, [self.caller.dbref])
        script: GameScript = character.attach_assistant(persona)
        self.write_settings(script, own)
        profile = script.profile
        model = f"'{profile.name}' ({profile.client}, {profile.model})"
        self.msg(
            f"|g{shown_name(script)} has an assistant now.|n It uses the model profile "
            f"{clean_output(model)}. Say something to it, or see |waistatus|n."
        )
        self.report_complaints(script)

    def change(self, script: GameScript, persona: Any, changes: Mapping[str, Any]) -> None:
        """Change an assistant's settings, None to inherit again, and its persona if it differs."""
        self.write_settings(script, changes)
        character = script.character
        if read_attribute(character, "ai_persona") != persona:
            authors = {*(read_attribute(character, PERSONA_AUTHORS) or ()), self.caller.dbref}
            changed = {"ai_persona": persona, PERSONA_AUTHORS: sorted(authors)}
            write_attributes(character, **changed)
        self.msg(f"|g{shown_name(script)} is changed.|n Its memories stay.")
        self.report_complaints(script)

    def write_settings(self, script: GameScript, changes: Mapping[str, Any]) -> None:
        """Store checked values of settings, None to inherit again; raises as `ensure_may_set`."""
        for name, value in changes.items():
            self.ensure_may_set(script, name, value)
        for name, value in changes.items():
            if value is None:
                script.attributes.remove(name)
            else:
                write_attribute(script, name, value)
        script.resolve_settings()
        script.services.watch.keep(script)  # it may sleep at other hours now

    def report_complaints(self, script: GameScript) -> None:
        """Name the settings that are invalid or contradict each other."""
        for complaint in script.complaints:
            self.msg(f"|yFix this:|n {clean_output(complaint)}")

    def ensure_may_set(self, script: GameScript, name: str, value: Any) -> None:
        """Raise AssistantError if the caller may not store a setting, else log a discretion."""
        if self.sets_discretion(script.profile, name, value):
            logger.log_sec(f"aisetup/set: {self.caller}, {name} = {value} of {script.character}")

    def sets_discretion(self, profile: ModelProfile, name: str, value: Any) -> bool:
        """Return True if a setting changes the discretion, which only admins may do.

        ``profile`` is the present one. Raises AssistantError for an unknown profile, and for a
        caller who is no admin.
        """
        changes = name == DISCRETION
        if name == "profile":
            profiles = [profile]
            if value is not None:
                profiles.append(resolve_profile(str(value), self.services.profiles))
            changes = any(DISCRETION in one.settings for one in profiles)
        if changes and not self.has_permission("Admin"):
            raise UsageError(
                f"Only admins may change {DISCRETION}, by itself or with a profile that sets it: "
                "it decides who is told what players whisper."
            )
        return changes


def read_new(typed: str) -> tuple[str, list[str], type]:
    """Return name, aliases and class in ``name;alias:typeclass``; raises UsageError."""
    named, typeclass = read_typeclass(typed)
    names = [clean_heard(part, 80) for part in named.split(";") if part.strip()]
    if not names:
        raise UsageError("Which name? For example: |waisetup/new Mira = <persona>|n")
    return names[0], names[1:], typeclass


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
