"""What a change of a journal by hand leaves behind, so that it can be taken back."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Literal

from evennia_ai.policy.records.journal_entry import JournalEntry
from evennia_ai.policy.records.long_term import linked
from evennia_ai.policy.records.provenance import (
    TRUST,
    Record,
    Time,
    Words,
    changed_record,
    copy_of,
    iso_utc,
    read_record,
)

ADD, EDIT, PIN, UNPIN, DELETE = "add", "edit", "pin", "unpin", "delete"
BUILDER = "builder"
OWN_FIELDS = ("act", "entry", "done_at")
# What an edit changes: the words, and whose they are. Who may know, and who may have it forgotten,
# stays as it is by then.
EDITED = ("content", "source_type", "source_entity", "trust")


class UndoStep(JournalEntry):
    """An entry as it was before a change; of one that was added, as it was written.

    Attributes:
        act: what was done: ``add``, ``edit``, ``pin``, ``unpin`` or ``delete``.
        entry: the entry's id; ``id`` is the step's own.
        done_at: when, ISO-8601 UTC.
    """

    act: Literal["add", "edit", "pin", "unpin", "delete"]
    entry: Words
    done_at: Time


def step_of(entry: Record, act: str, id: str, at: datetime) -> Record:
    """A step that keeps an entry as it is now."""
    return {**copy_of(entry), "id": id, "act": act, "entry": entry["id"], "done_at": iso_utc(at)}


# Read a stored step, or return a step with changed fields; both raise BadRecord.
read_step = partial(read_record, UndoStep)
change_step = partial(changed_record, UndoStep)


def edited_fields(content: str) -> dict[str, object]:
    """The fields of an entry that somebody puts in other words. It is a builder's word from then
    on, and no claim of whoever said the first ones."""
    return {
        "content": content,
        "source_type": BUILDER,
        "source_entity": "",
        "trust": TRUST[BUILDER],
    }


def pinned_fields(entry: Record, pinned: bool) -> dict[str, object]:
    """The fields of an entry that somebody pins, or lets go. Pinned by hand its weight counts as
    given: the character does not let it go by itself where room is short."""
    weight = {"importance": entry["importance"]} if pinned else {}
    return {"pinned": pinned, **weight}


def restored_fields(step: Record) -> dict[str, object]:
    """The fields that take an edit, or a pin, back."""
    names = EDITED if step["act"] == EDIT else ("pinned", "importance_by")
    return {name: step[name] for name in names}


def restored_entry(step: Record) -> Record:
    """An entry that was deleted, as it was. Long-term memory does not have it any more."""
    entry = {name: value for name, value in step.items() if name not in OWN_FIELDS}
    return {**entry, "id": step["entry"], **linked(entry, "")}


def is_heard_since(step: Record, entry: Record) -> bool:
    """True where what was added by hand was told by somebody, too, since then: it is not a
    builder's alone any more."""
    return bool(entry["speakers"] != step["speakers"])
