"""An author's note: a builder's words that stand in the prompt for a while."""

from __future__ import annotations

import re
from contextlib import suppress

from pydantic import BaseModel, ConfigDict, Field, ValidationError

NOTE_CHARS = 500
DEFAULT_TURNS, MOST_TURNS = 20, 1_000
MOST_MINUTES = 7 * 24 * 60
FOR = re.compile(r"\s+for\s+(\d{1,9})\s+(turn|minute|hour)s?\s*$", re.I)
LABEL = "Bear in mind now"


class AuthorNote(BaseModel):
    """A note; it ends after ``turns`` further turns, or at ``until`` in unix seconds."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(max_length=NOTE_CHARS)
    by: str  # dbref of the builder
    after_turn: int  # the last turn before it
    turns: int | None = None
    until: float | None = None


def read_note(value: object) -> AuthorNote | None:
    """Return a stored note, None if there is none or its fields cannot be used."""
    with suppress(ValidationError):
        return AuthorNote.model_validate(value) if value else None
    return None


def split_duration(typed: str) -> tuple[str, int | None, int | None]:
    """Return a note's text, and its turns or its minutes; raises ValueError with a sentence."""
    found = FOR.search(typed)
    if found is None:
        return typed.strip(), DEFAULT_TURNS, None
    text, number, unit = typed[: found.start()].strip(), int(found[1]), found[2].lower()
    number *= 60 if unit == "hour" else 1
    most, units = (MOST_TURNS, "turns") if unit == "turn" else (MOST_MINUTES, "minutes")
    if not 1 <= number <= most:
        raise ValueError(f"A note stands for 1 to {most:,} {units}, not for {number:,}.")
    return (text, number, None) if unit == "turn" else (text, None, number)
