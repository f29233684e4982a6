"""What a builder chose in the menu so far; nothing of it is stored before ``live``."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, get_args

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.config import AssistantConfig, ModelProfile, resolve_profile, source_of
from evennia_ai.config.declared import FIELDS, HINTS, describe_kind
from evennia_ai.errors import ConfigError
from evennia_ai.game import setup
from evennia_ai.game.settings import effective_settings, game_settings
from evennia_ai.ports.mind import GUESSED_OVERHEAD

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
    if not endpoint.has_model:
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
