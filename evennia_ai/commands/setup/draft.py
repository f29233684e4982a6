"""What ``aisetup`` and its menu share: attaching, what was chosen so far, and a trial talk.

A `Draft` is what a builder chose in the menu; nothing of it is stored before ``live``.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_args

from django.conf import settings
from evennia.objects.objects import DefaultCharacter
from evennia.utils import logger
from evennia.utils.create import create_object
from evennia.utils.utils import class_from_module

from evennia_ai.assistant_character import add_assistant_mixin, remove_assistant_mixin
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import UsageError
from evennia_ai.commands.dry_run import TryingCommand
from evennia_ai.config import AssistantConfig, ModelProfile, resolve_profile, source_of
from evennia_ai.config.declared import FIELDS, HINTS, describe_kind
from evennia_ai.errors import ConfigError
from evennia_ai.game import setup
from evennia_ai.game.authorship import is_played_by, owners_of
from evennia_ai.game.client_text import clean_error, clean_output, shown_name
from evennia_ai.game.help_entries import STAFF
from evennia_ai.game.minds import PERSONA_AUTHORS
from evennia_ai.game.perception import excessive_rights
from evennia_ai.game.settings import effective_settings, game_settings
from evennia_ai.policy.conversation.persona_and_lore import read_persona, stored_fields
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports.mind import GUESSED_OVERHEAD
from evennia_ai.store.attributes import SCRIPT_KEY, read_attribute, write_attributes

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
                what = f"{name} = {value} of {script.character}"
                logger.log_sec(f"aisetup/set: {self.caller}, {what}")
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

    def report_complaints(self) -> None:
        for complaint in self.script.mind.settings.complaints:
            self.msg(f"|yFix this:|n {clean_error(complaint)}")


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


TRIAL = "trial"  # the Attribute of an assistant that is there for a trial only
FILE = Path(__file__).with_name("archetypes.toml")


@dataclass
class Draft:
    """What shall become of a character; nothing of it is stored."""

    name: str = ""  # of the character
    character: Any = None  # one that exists already
    typed: str = ""  # of a new one: ``name;alias:typeclass``
    persona: Any = ""  # text or fields, as they are stored
    archetype: str = ""
    answers: dict[str, str] = field(default_factory=dict)  # by blank of the archetype
    settings: dict[str, Any] = field(default_factory=dict)  # what was changed; None inherits

    @property
    def script(self) -> AssistantScript | None:
        """Return the assistant that the character has already; that of a trial does not count."""
        script: AssistantScript | None = getattr(self.character, "assistant", None)
        return None if script and script.attributes.has(TRIAL) else script

    def own_settings(self) -> dict[str, Any]:
        before = self.script.mind.settings.own() if self.script else {}
        merged = {**before, **self.settings}
        return {name: value for name, value in merged.items() if value is not None}

    def in_force(self, services: Any) -> InForce:
        own, script = self.own_settings(), self.script
        count = script.mind.settings.prompt_tokens if script else lambda _: GUESSED_OVERHEAD
        config, profile, complaints = effective_settings(services, own, count)
        layers = {"the game": game_settings(), "the model profile": profile.settings}
        layers |= {"its own": own, "chosen here": self.settings}
        return InForce(config, profile, complaints, layers)

    @property
    def next_blank(self) -> str:
        blanks = archetypes()[self.archetype]["blanks"]
        return next((blank for blank in blanks if blank not in self.answers), "")

    def take(self, key: str) -> None:
        """Choose a ready character; the settings of one that was chosen before go."""
        former = archetypes().get(self.archetype, {}).get("settings", {})
        kept = {name: v for name, v in self.settings.items() if (name, v) not in former.items()}
        self.archetype, self.answers, self.settings = key, {}, kept

    def fill_in(self) -> None:
        """Take over the archetype's settings, and its persona with the answers for its blanks."""
        archetype, words = archetypes()[self.archetype], {"name": self.name, **self.answers}

        def fill(text: str) -> str:
            for blank, word in words.items():
                text = text.replace(f"{{{blank}}}", word)
            return text

        self.persona = {
            name: fill(value) if isinstance(value, str) else [*map(fill, value)]
            for name, value in archetype["persona"].items()
        }
        self.settings |= archetype["settings"]


@dataclass(frozen=True)
class InForce:
    """The settings that a draft would bring into force, with the layers that they come from."""

    config: AssistantConfig
    profile: ModelProfile
    complaints: list[str]
    layers: Mapping[str, Mapping[str, object]]

    def words(self, name: str) -> str:
        value = getattr(self.config, name)
        default = "the default" if value == FIELDS[name].default else "fitted to the model"
        source = source_of(name, self.layers) or default
        return f"{name}: {setup.value_words(name, value)} ({source})"


def allowed_words(name: str) -> str:
    meta, kinds = FIELDS[name].metadata, get_args(HINTS[name]) or (HINTS[name],)
    words = describe_kind(tuple(kind for kind in kinds if kind is not type(None)))
    if meta["choices"]:
        words = f"one of {', '.join(meta['choices'])}"
    for key, limit in (("low", "at least"), ("high", "at most")):
        words += "" if meta[key] is None else f", {limit} {meta[key]:,.15g}"
    words += f", in {meta['unit']}" if meta["unit"] else ""
    return words + (", or none" if type(None) in kinds else "")


def profile_words(services: Any, name: str) -> str:
    try:
        endpoint = services.endpoints.told(resolve_profile(name, services.profiles))
    except ConfigError as error:
        return f"{name}: cannot be used. {error}"
    if endpoint.client == "offline":
        return f"{name}: the stand-in, built in; needs no model and costs nothing"
    where = "on this machine or nearby" if endpoint.is_local else "remote"
    return f"{name}: {endpoint.model or 'no model named yet'}, {where}"


def families_of(tools: Mapping[str, Any]) -> dict[str, str]:
    """Return what each family is for: the first sentence of its module, or its tools."""
    families = {}
    for item in tools.values():
        doc = " ".join((sys.modules[item.run.__module__].__doc__ or "").split())
        names = ", ".join(name for name, tool in tools.items() if tool.family == item.family)
        families[item.family] = doc.partition(". ")[0].rstrip(".") or f"Tools: {names}"
    return families


@cache
def archetypes() -> Mapping[str, Mapping[str, Any]]:
    """Return title, blanks, persona and settings of each archetype by its key."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


UNSEEN = "view:false();search:false();get:false();puppet:false()"
CHARACTER, ASSISTANT = "character", "assistant"  # what goes when a trial is over
running: set[int] = set()  # the ids of the assistants that are staged now


def stage(draft: Draft, here: Any) -> AssistantScript:
    """Attach an assistant for a trial, if need be to a new character that nobody sees."""
    if here is None:
        raise UsageError("You are in no room. Quit, and go to a room first.")
    character, mark = draft.character, ASSISTANT
    if character is None:
        mark = CHARACTER
        character = create_object(DefaultCharacter, draft.name, home=here, locks=UNSEEN)
        character.location = here
    add_assistant_mixin(character)
    script: AssistantScript = character.attach_assistant()
    try:
        write_attributes(script, **{TRIAL: mark, "stopped": True})
    except Exception:
        remove(script, mark)
        raise
    running.add(script.id)
    return script


def clear(script: AssistantScript) -> None:
    """Delete what a trial made and marked, unless somebody started it meanwhile."""
    running.discard(script.id)
    mark = read_attribute(script, TRIAL)
    if mark == CHARACTER or not script.is_on:
        remove(script, mark)


def remove(script: AssistantScript, mark: str) -> None:
    character = script.character
    script.delete()
    remove_assistant_mixin(character)
    if mark == CHARACTER:
        character.delete()


def clear_trials() -> None:
    """Delete what trials left that a crash of the server ended; one query without any."""
    staged = {"db_key": SCRIPT_KEY, "db_attributes__db_key": TRIAL}
    for script in AssistantScript.objects.filter_family(**staged).exclude(db_obj=None):
        if script.id not in running:
            clear(script)
