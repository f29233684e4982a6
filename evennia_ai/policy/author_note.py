"""An author's note: a builder's words that stand in the prompt for a while."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

NOTE_CHARS = 500
DEFAULT_TURNS, MOST_TURNS = 20, 1_000
MOST_MINUTES = 7 * 24 * 60
FOR = re.compile(r"\s+for\s+(\d{1,9})\s+(turn|minute|hour)s?\s*$", re.I)
LABEL = "Bear in mind now"


@dataclass(frozen=True)
class AuthorNote:
    """A note; it ends after ``turns`` further turns, or at ``until`` in unix seconds."""

    text: str
    by: str  # dbref of the builder
    after_turn: int = 0  # the last turn before it
    turns: int | None = None
    until: float | None = None

    def stored(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def read_note(value: object) -> AuthorNote | None:
    """Return a stored note, None if there is none or its fields cannot be used."""
    if not isinstance(value, Mapping) or not isinstance(value.get("text"), str):
        return None
    try:
        turns, until = value.get("turns"), value.get("until")
        return AuthorNote(
            value["text"][:NOTE_CHARS],
            str(value.get("by", "")),
            int(value.get("after_turn") or 0),
            None if turns is None else int(turns),
            None if until is None else float(until),
        )
    except (TypeError, ValueError, OverflowError):
        return None


def split_duration(typed: str) -> tuple[str, int | None, int | None]:
    """Return a note's text, and its turns or its minutes; raises ValueError with a sentence."""
    found = FOR.search(typed)
    if found is None:
        return typed.strip(), DEFAULT_TURNS, None
    text, number, unit = typed[: found.start()].strip(), int(found[1]), found[2].lower()
    if unit == "turn":
        check_range(number, MOST_TURNS, "turns")
        return text, number, None
    minutes = number * (60 if unit == "hour" else 1)
    check_range(minutes, MOST_MINUTES, "minutes")
    return text, None, minutes


def check_range(number: int, most: int, unit: str) -> None:
    """Raise ValueError for a number that is not between 1 and ``most``."""
    if not 1 <= number <= most:
        raise ValueError(f"A note stands for 1 to {most:,} {unit}, not for {number:,}.")
