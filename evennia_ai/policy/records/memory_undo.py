"""Undo steps for changes that a builder makes to a journal by hand."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from evennia_ai.policy.records.journal_entry import JournalEntry
from evennia_ai.policy.records.long_term import linked
from evennia_ai.policy.records.provenance import TRUST, Record, Time, Words, copy_of, iso_utc

ADD, EDIT, PIN, UNPIN, DELETE = "add", "edit", "pin", "unpin", "delete"
BUILDER = "builder"
OWN_FIELDS = ("act", "entry", "done_at")
# The fields that an edit changes. Undo leaves the audience and the speakers as they are now.
EDITED = ("content", "source_type", "source_entity", "trust")


class UndoStep(JournalEntry):
    """An entry before a change, or as written if the change added it."""

    act: Literal["add", "edit", "pin", "unpin", "delete"]
    entry: Words  # the entry's id; ``id`` is the step's own
    done_at: Time


def step_of(entry: Record, act: str, id: str, at: datetime) -> Record:
    """Return a step that saves an entry's current state."""
    return {**copy_of(entry), "id": id, "act": act, "entry": entry["id"], "done_at": iso_utc(at)}


def edited_fields(content: str) -> dict[str, object]:
    """Return the fields of an entry after a builder, its new source, rewrote it."""
    source = {"source_type": BUILDER, "source_entity": "", "trust": TRUST[BUILDER]}
    return {"content": content, **source}


def pinned_fields(entry: Record, pinned: bool) -> dict[str, object]:
    """Return the fields of an entry that a builder pins or unpins."""
    # A manual pin's importance counts as given, so the character does not unpin it when space runs
    # out.
    weight = {"importance": entry["importance"]} if pinned else {}
    return {"pinned": pinned, **weight}


def restored_fields(step: Record) -> dict[str, object]:
    """Return the fields that undo an edit or a pin."""
    names = EDITED if step["act"] == EDIT else ("pinned", "importance_by")
    return {name: step[name] for name in names}


def restored_entry(step: Record) -> Record:
    """Return a deleted entry as it was; long-term memory no longer holds it."""
    entry = {name: value for name, value in step.items() if name not in OWN_FIELDS}
    return {**entry, "id": step["entry"], **linked(entry, "")}


def is_heard_since(step: Record, entry: Record) -> bool:
    """Return True if a builder's entry has since been told by others as well."""
    return bool(entry["speakers"] != step["speakers"])
