"""The ready characters of ``archetypes.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("archetypes.toml")


@cache
def archetypes() -> Mapping[str, Mapping[str, Any]]:
    """Return title, blanks, persona and settings of each archetype by its key."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def next_blank(archetype: str, answers: Mapping[str, str]) -> str:
    """Return the first blank that is not filled in, "" if none is left."""
    blanks = archetypes()[archetype]["blanks"]
    return next((blank for blank in blanks if blank not in answers), "")


def filled_persona(archetype: str, words: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of an archetype's persona with the words for its blanks."""

    def fill(text: str) -> str:
        for blank, word in words.items():
            text = text.replace(f"{{{blank}}}", word)
        return text

    fields = archetypes()[archetype]["persona"].items()
    return {k: fill(v) if isinstance(v, str) else [*map(fill, v)] for k, v in fields}
