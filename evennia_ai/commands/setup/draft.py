"""What a builder chose in the menu so far, the settings that follow, and the ready characters."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.commands.common import UsageError
from evennia_ai.config import FIELDS, HINTS, AssistantConfig, ModelProfile, source_of, valid_values
from evennia_ai.config.fields import describe_kind
from evennia_ai.config.profiles import choose_settings, fit_settings
from evennia_ai.game.client_text import as_shown
from evennia_ai.game.perception import find_object
from evennia_ai.game.settings import game_settings
from evennia_ai.ports.mind import GUESSED_OVERHEAD
from evennia_ai.store.attributes import MENU_DRAFT, read_attribute, write_attribute

FILE = Path(__file__).with_name("archetypes.toml")


@dataclass
class Draft:
    """Plain data on the builder's character, so that a restart of the server keeps it."""

    name: str = ""  # of the character
    dbref: str = ""  # of a character that exists
    typed: str = ""  # of a new one: ``name;alias:typeclass``
    persona: Any = ""  # text or fields, as they are stored
    archetype: str = ""
    answers: dict[str, str] = field(default_factory=dict)  # by blank of the archetype
    settings: dict[str, Any] = field(default_factory=dict)  # what was changed; None inherits
    trial: str = ""  # the dbref of the character in a trial now

    @property
    def character(self) -> Any:
        return find_object(self.dbref)

    @property
    def script(self) -> AssistantScript | None:
        """Return the assistant that the character has already; that of a trial does not count."""
        script: AssistantScript | None = getattr(self.character, "assistant", None)
        return None if self.trial and self.trial == self.dbref else script

    def ensure_exists(self) -> None:
        """Raise UsageError if the chosen character was deleted."""
        if self.dbref and self.character is None:
            raise UsageError(f"{as_shown(self.name)} was deleted meanwhile. Choose another one.")

    def own_settings(self) -> dict[str, Any]:
        before = self.script.mind.settings.own() if self.script else {}
        merged = {**before, **self.settings}
        return {name: value for name, value in merged.items() if value is not None}

    def in_force(self, services: Any) -> InForce:
        own, game, script = self.own_settings(), game_settings(), self.script
        chosen = choose_settings(game, own, services.profiles)
        profile = services.endpoints.told(chosen.profile)
        count = script.mind.settings.prompt_tokens if script else lambda _: GUESSED_OVERHEAD
        config = fit_settings(chosen.values, profile, count)
        layers = {"the game": game, "the model profile": profile.settings, "its own": own}
        layers["chosen here"] = self.settings
        return InForce(config, profile, chosen.complaints, layers)

    @property
    def next_blank(self) -> str:
        """The first blank of the archetype that is not filled in, "" if none is left."""
        blanks = archetypes()[self.archetype]["blanks"]
        return next((blank for blank in blanks if blank not in self.answers), "")

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


def read_draft(caller: Any) -> Draft:
    """Return the caller's draft; what cannot be used of it counts as not chosen."""
    stored, empty = read_attribute(caller, MENU_DRAFT) or {}, asdict(Draft())
    fitting: dict[str, Any] = {
        name: value
        for name, value in stored.items()
        if name in empty
        and isinstance(value, (str, dict) if name == "persona" else type(empty.get(name)))
    }
    changes = fitting.pop("settings", {}).items()  # a builder may have written what is stored
    valid = {name: v for name, v in changes if name in FIELDS and not valid_values({name: v})[1]}
    return Draft(**fitting, settings=valid)


def write_draft(caller: Any, draft: Draft, **changes: Any) -> None:
    write_attribute(caller, MENU_DRAFT, asdict(replace(draft, **changes)))


@dataclass(frozen=True)
class InForce:
    """The settings that a draft would bring into force, with the layers that they come from."""

    config: AssistantConfig
    profile: ModelProfile
    complaints: list[str]
    layers: Mapping[str, Mapping[str, object]]

    def words(self, name: str, label: str = "") -> str:
        value = getattr(self.config, name)
        default = "the default" if value == FIELDS[name].default else "fitted to the model"
        source = source_of(name, self.layers) or default
        return f"{label or name}: {value_words(name, value)} ({source})"


def value_words(name: str, value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    shown = f"{value:,.15g}" if isinstance(value, int | float) else str(value)
    return f"{shown} {FIELDS[name].metadata['unit']}".strip() or "none"


def allowed_words(name: str) -> str:
    meta, kinds = FIELDS[name].metadata, get_args(HINTS[name]) or (HINTS[name],)
    words = describe_kind(tuple(kind for kind in kinds if kind is not type(None)))
    if meta["choices"]:
        words = f"one of {', '.join(meta['choices'])}"
    for key, limit in (("low", "at least"), ("high", "at most")):
        words += "" if meta[key] is None else f", {limit} {meta[key]:,.15g}"
    words += f", in {meta['unit']}" if meta["unit"] else ""
    return words + (", or none" if type(None) in kinds else "")


@cache
def archetypes() -> Mapping[str, Mapping[str, Any]]:
    """Return title, blanks, persona and settings of each archetype by its key."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))
