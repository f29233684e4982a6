"""Who may get an assistant, how it is attached, and who may change what of it."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from evennia.objects.objects import DefaultCharacter
from evennia.utils import logger
from evennia.utils.create import create_object
from evennia.utils.utils import class_from_module

from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.commands.common import UsageError
from evennia_ai.commands.dry_run import TryingCommand
from evennia_ai.config import ModelProfile
from evennia_ai.game import setup
from evennia_ai.game.authorship import is_played_by, owners_of
from evennia_ai.game.client_text import clean_error, clean_output, shown_name
from evennia_ai.game.help_entries import STAFF
from evennia_ai.game.minds import PERSONA_AUTHORS
from evennia_ai.game.perception import excessive_rights
from evennia_ai.policy.conversation.character import read_persona, stored_fields
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import write_attribute

PERSONA = "persona"


class SetupCommand(TryingCommand):
    """What ``aisetup`` and its menu share."""

    key = "aisetup"
    help_category = STAFF

    def ensure_suitable(self, character: Any) -> None:
        """Raise UsageError if an object cannot have an assistant, or must not have one."""
        name = shown_name(character)
        if not isinstance(character, DefaultCharacter):
            raise UsageError(
                f"{name} is no character. To create one: |waisetup/new <name> = <persona>|n"
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
        write_attribute(character, PERSONA_AUTHORS, [self.caller.dbref])
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
        told = dict.fromkeys(filter(None, (profile.client, profile.model)))
        return clean_output(f"'{profile.name}' ({', '.join(told)})")

    def write_settings(self, changes: Mapping[str, Any]) -> None:
        """Store checked values of settings, None to inherit again; raises AssistantError."""
        script = self.script
        for name, value in changes.items():
            if self.sets_discretion(script.mind.settings.profile, name, value):
                what = f"{name} = {value} of {script.character}"
                logger.log_sec(f"aisetup/set: {self.caller}, {what}")
        script.mind.settings.write(changes)
        self.services.watch(script.mind)  # it may sleep at other hours now

    def sets_discretion(self, profile: ModelProfile, name: str, value: Any) -> bool:
        """Return True if a setting changes the discretion; raises AssistantError for no admin."""
        changes = setup.sets_discretion(self.services, profile, name, value)
        if changes and not self.has_permission("Admin"):
            raise UsageError(
                "Only admins may change discretion, by itself or with a profile that sets it: "
                "it decides who is told what players whisper."
            )
        return changes

    def report_complaints(self) -> None:
        for complaint in self.script.mind.settings.complaints:
            self.msg(f"|yFix this:|n {clean_error(complaint)}")


def read_new(typed: str) -> tuple[str, list[str], type]:
    """Return name, aliases and class in ``name;alias:typeclass``; raises UsageError."""
    named, _, path = (part.strip() for part in typed.partition(":"))
    shown = clean_output(path, 120)
    try:
        found = class_from_module(
            path or settings.BASE_CHARACTER_TYPECLASS, defaultpaths=settings.TYPECLASS_PATHS
        )
    except ImportError as error:
        raise UsageError(
            f"There is no typeclass '{shown}'. Use a path such as "
            f"{settings.BASE_CHARACTER_TYPECLASS}."
        ) from error
    if not issubclass(found, DefaultCharacter):
        raise UsageError(
            f"{shown} is no class of characters. Use one that inherits from "
            "Evennia's DefaultCharacter."
        )
    names = [clean_heard(part, 80) for part in named.split(";") if part.strip()]
    if not names:
        raise UsageError("Which name? For example: |waisetup/new Mira = <persona>|n")
    return names[0], names[1:], found


def changed_persona(stored: Any, field: str, value: str) -> Any:
    """Return a persona to store, with all of it or one field changed; raises AssistantError."""
    if not field:
        if not value:
            raise UsageError("A persona cannot be empty. Say who the character is.")
        return value
    return stored_fields(read_persona({**stored_fields(read_persona(stored)), field: value}))


def persona_words(value: Any) -> str:
    return "; ".join(value) if isinstance(value, (list, tuple)) else str(value or "")
