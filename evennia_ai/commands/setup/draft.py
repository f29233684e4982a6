"""What a builder chose in the menu so far, and the settings that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from evennia_ai.commands.common import UsageError
from evennia_ai.commands.setup.descriptions import value_words
from evennia_ai.config import (
    FIELDS,
    AssistantConfig,
    ModelProfile,
    choose_settings,
    fit_settings,
    source_of,
    valid_values,
)
from evennia_ai.game.assistant_context import GUESSED_OVERHEAD
from evennia_ai.game.client_text import as_shown
from evennia_ai.game.perception import find_object
from evennia_ai.game.script_ports import GameScript, GameServices
from evennia_ai.game.settings import game_settings
from evennia_ai.store.attributes import MENU_DRAFT, read_attribute, write_attribute


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
        """Return the chosen character, None if it is new or deleted."""
        return find_object(self.dbref)

    @property
    def script(self) -> GameScript | None:
        """Return the assistant that the character has already; that of a trial does not count."""
        script: GameScript | None = getattr(self.character, "assistant", None)
        return None if self.trial and self.trial == self.dbref else script

    def ensure_exists(self) -> None:
        """Raise UsageError if the chosen character was deleted."""
        if self.dbref and self.character is None:
            raise UsageError(f"{as_shown(self.name)} was deleted meanwhile. Choose another one.")

    def own_settings(self) -> dict[str, Any]:
        """Return the settings of its own that the character would have."""
        before = self.script.own_settings() if self.script else {}
        merged = {**before, **self.settings}
        return {name: value for name, value in merged.items() if value is not None}


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


def write_draft(caller: Any, draft: Draft) -> None:
    """Store the caller's draft."""
    write_attribute(caller, MENU_DRAFT, asdict(draft))


def update_draft(caller: Any, **changes: Any) -> None:
    """Store changed parts of the caller's draft."""
    write_draft(caller, replace(read_draft(caller), **changes))


@dataclass(frozen=True)
class InForce:
    """The settings that a draft would bring into force, with the layers that they come from."""

    config: AssistantConfig
    profile: ModelProfile
    complaints: list[str]
    layers: Mapping[str, Mapping[str, object]]

    def words(self, name: str, label: str = "") -> str:
        """Return a setting with its value and where that comes from."""
        value = getattr(self.config, name)
        default = "the default" if value == FIELDS[name].default else "fitted to the model"
        source = source_of(name, self.layers) or default
        return f"{label or name}: {value_words(name, value)} ({source})"


def in_force(draft: Draft, services: GameServices) -> InForce:
    """Return the settings that a draft would bring into force."""
    own, game, script = draft.own_settings(), game_settings(), draft.script
    chosen = choose_settings(game, own, services.profiles)
    profile = services.endpoints.told(chosen.profile)
    count = script.prompt_tokens if script else lambda _: GUESSED_OVERHEAD
    config = fit_settings(chosen.values, profile, count)
    layers = {"the game": game, "the model profile": profile.settings, "its own": own}
    layers["chosen here"] = draft.settings
    return InForce(config, profile, chosen.complaints, layers)
