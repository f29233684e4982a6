"""What staff may do to a journal, for the commands and the web pages alike."""

from __future__ import annotations

from typing import Any

from evennia_ai.errors import AssistantError
from evennia_ai.game.line_changes import renew
from evennia_ai.game.memory_reading import may_read
from evennia_ai.game.script_ports import GameScript
from evennia_ai.messages import Audience
from evennia_ai.policy.compaction.journal_summary import is_synthesis
from evennia_ai.policy.disclosure import Reader
from evennia_ai.policy.records.memory_listing import undo_line
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.sanitize import one_line
from evennia_ai.store.memory_editor import GONE, HEARD_SINCE, MemoryEditor, source_lines

ENTRY_CHARS = 1_000


class CannotChange(AssistantError):
    """An entry cannot be changed in this way. The text says why."""


def entry_words(text: str) -> str:
    """Return a text for an entry on one line; raises CannotChange if it is empty or too long."""
    words = one_line(text)
    if not words:
        raise CannotChange("The entry needs a text.")
    if len(words) > ENTRY_CHARS:
        raise CannotChange(
            f"The text has {len(words):,} characters; at most {ENTRY_CHARS:,} are allowed. "
            "Write one fact at a time."
        )
    return words


def add_memory(script: GameScript, text: str, audience: Audience | None = None) -> Record:
    """Add an entry for some people, or for all (None); returns it. Raises CannotChange."""
    told = None if audience is None else sorted(audience)
    character = script.character
    entry = MemoryEditor(character).add(entry_words(text), told)
    if entry is None:
        raise CannotChange(f"{character.key} has this entry already.")
    return entry


def edit_memory(script: GameScript, entry: Record, text: str) -> Record:
    """Replace the words of an entry; returns it as it was before. Raises CannotChange."""
    ensure_own_words(script.character, entry)
    words = entry_words(text)
    if words == entry["content"]:
        raise CannotChange("The entry has these words already.")
    return MemoryEditor(script.character).edit(entry["id"], words)


def pin_memory(script: GameScript, entry: Record, pinned: bool) -> Record:
    """Pin or unpin an entry; returns it as it was before. Raises CannotChange."""
    ensure_own_words(script.character, entry)
    if entry["pinned"] is pinned:
        state = "pinned" if pinned else "not pinned"
        raise CannotChange(f"{entry['id']} is {state} already.")
    return MemoryEditor(script.character).pin(entry["id"], pinned)


def delete_memory(script: GameScript, entry: Record, by: str = "") -> int:
    """Delete an entry for somebody; returns how many lines of the log are not recalled either."""
    lines = source_lines(entry)
    MemoryEditor(script.character).delete(entry["id"], by)
    if lines:
        renew(script, lines)
    return len(lines)


def undo_memory(script: GameScript, reader: Reader) -> tuple[str, str]:
    """Undo the last change; returns the entry's id, and what became of it as a sentence.

    Raises CannotChange if there is no change, or one that the reader may not see.
    """
    character = script.character
    editor = MemoryEditor(character)
    step = editor.steps.last()
    if step is None:
        raise CannotChange(f"There is no change of {character.key}'s journal to undo.")
    if not may_read(reader, step):
        raise CannotChange("The last change was to a private entry. Only an admin can undo it.")
    outcome = editor.undo(step)
    renew(script, source_lines(step))
    sentences = {
        GONE: f"{step['entry']} is deleted meanwhile: there is nothing to undo.",
        HEARD_SINCE: f"{step['entry']} stays: somebody told the character the same since then.",
    }
    said = sentences.get(outcome, f"Undone: {undo_line(step)}.")
    return step["entry"], f"{said} ({len(editor.steps.ids())} more to undo.)"


def ensure_own_words(character: Any, entry: Record) -> None:
    """Raise CannotChange for the summary of a compaction, which can only be deleted."""
    if is_synthesis(entry):
        raise CannotChange(
            "This entry is the summary of a compaction and can only be deleted. "
            f"To undo the compaction: aicompact/undo {character.key}"
        )
