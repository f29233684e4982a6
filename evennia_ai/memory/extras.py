"""Optional packages: what does not work without each, and how to get it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from evennia_ai.config.resolve import read_switch
from evennia_ai.errors import ConfigError


@dataclass(frozen=True)
class Extra:
    """An optional package: our extra that installs it, its module, and what is missing without."""

    name: str
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


LONG_TERM_MEMORY = Extra("memory", "mem0ai", "mem0", "the journal is the only memory")
EMBEDDINGS = Extra("embeddings", "wordllama", "wordllama", "recall ranks by words alone")
TELEMETRY = Extra(
    "telemetry", "opentelemetry-api", "opentelemetry.metrics", "this setting has no effect"
)
