"""Optional packages: what each is for, and how to get it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

DISTRIBUTION = "evennia-ai"


@dataclass(frozen=True)
class Extra:
    """An optional package.

    Attributes:
        name: the extra of our distribution that installs it.
        package: the package's name on the index.
        module: the module that it brings.
        purpose: what does not work without it.
    """

    name: str
    package: str
    module: str
    purpose: str

    def is_installed(self, find: Callable[[str], object] = find_spec) -> bool:
        """Tell whether the package can be imported. Imports nothing."""
        return find(self.module) is not None

    @property
    def advice(self) -> str:
        """Say what is missing and how to get it."""
        return (
            f"{self.package}, for {self.purpose}. "
            f"To get it: pip install '{DISTRIBUTION}[{self.name}]'."
        )


LONG_TERM_MEMORY = Extra("memory", "mem0ai", "mem0", "long-term memory")
EMBEDDINGS = Extra("embeddings", "wordllama", "wordllama", "recall by meaning")
