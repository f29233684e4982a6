"""The author's note of an assistant: stored on its script, and as a line of its prompts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.author_note import AuthorNote, read_note
from evennia_ai.store.attributes import read_attribute, write_attribute
from evennia_ai.store.lore_records import by_builder

NOTE = "author_note"


def note_in_force(
    shell: Any, count_after: Callable[[int], int], now: datetime
) -> tuple[AuthorNote, int] | None:
    """Return the note that still stands, with the turns or seconds it has left, None without one.

    ``shell`` is an `AssistantScript`; ``count_after`` returns how many turns came after one. Without
    a note nothing but a cached Attribute is read.
    """
    note = read_note(read_attribute(shell, NOTE))
    if note is None:
        return None
    left = float("inf")
    if note.turns is not None:
        left = note.turns - count_after(note.after_turn)
    elif note.until is not None:
        left = note.until - now.timestamp()
    return (note, int(min(left, 1e9))) if left > 0 else None


def note_lines(shell: Any, count_after: Callable[[int], int], now: datetime) -> list[KnownLine]:
    """Return the note as a line of a prompt, which every audience may know; its author is staff."""
    found = note_in_force(shell, count_after, now)
    if found is None:
        return []
    note, _left = found
    return [KnownLine(note.text, False, by_builder(filter(None, [note.by])))]


def write_note(shell: Any, note: AuthorNote | None) -> None:
    """Store a note in place of the one before, or remove that; raises StoreUnavailable."""
    write_attribute(shell, NOTE, note.model_dump() if note else None)
