"""A builder's changes to a journal, and their undo.

The last changes are stored on the character. "Forget me" removes them as it does journal entries.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from evennia_ai.policy.amendments import SUMMARY, UNRECALLED
from evennia_ai.policy.records.memory_undo import (
    ADD,
    BUILDER,
    DELETE,
    EDIT,
    PIN,
    UNPIN,
    UndoStep,
    edited_fields,
    is_heard_since,
    pinned_fields,
    restored_entry,
    restored_fields,
    step_of,
)
from evennia_ai.policy.records.provenance import Record, copy_of
from evennia_ai.ports import Character
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.journal import Journal
from evennia_ai.store.record_store import RecordStore
from evennia_ai.store.server_settings import mark_for_deletion

MOST_STEPS = 20
# The outcomes of an undo.
TAKEN_BACK, GONE, HEARD_SINCE = "taken back", "gone", "heard since"


class UndoSteps(RecordStore):
    """The changes that can be undone, oldest first."""

    kind = "ai_memory_undo"
    prefix = "u"
    model = UndoStep

    def last(self) -> Record | None:
        """Return the change that an undo takes back next, None if there is none."""
        steps = list(self.segments.all())
        return copy_of(steps[-1]) if steps else None

    def keep(self, entry: Record, act: str) -> None:
        """Store a change; remove the oldest above `MOST_STEPS`. Raises StoreUnavailable."""
        step = step_of(entry, act, self.next_id, self.now())
        steps = [one["id"] for one in self.segments.all()]
        surplus = max(0, len(steps) + 1 - MOST_STEPS)
        self.segments.change(dict.fromkeys(steps[:surplus]), step)


def source_lines(entry: Record) -> list[int]:
    """Return the lines of the log that an entry was made of; a summary has only a range."""
    return [] if entry["source_type"] == SUMMARY else list(entry["source_seqs"])


class MemoryEditor:
    """A builder's changes to the journal of one character.

    Each change and its undo step are one transaction. What is removed from the journal is removed
    from long-term memory soon after (`evennia_ai.store.server_settings`). Every method raises
    StoreUnavailable, and then nothing has changed; KeyError if no entry has the id.
    """

    def __init__(self, character: Character) -> None:
        self._character = character
        self._journal = Journal.of(character)
        self.steps = UndoSteps.of(character)

    def add(self, content: str, audience: list[str] | None = None) -> Record | None:
        """Add an entry as a builder's, which pruning never removes; returns it. Raises BadRecord.

        ``audience`` has the dbrefs of the only people who may know it; None for public. Returns
        None if an entry with the same words and the same audience exists.
        """
        if self._journal.has(content, None if audience is None else frozenset(audience)):
            return None
        with self._together():
            added = self._journal.add(content, source_type=BUILDER, audience=audience)
            entry = self._journal.require(added)
            self.steps.keep(entry, ADD)
        return entry

    def edit(self, id: str, content: str) -> Record:
        """Change the words of an entry; returns it as it was before. Raises BadRecord."""
        return self._change(id, EDIT, edited_fields(content))

    def pin(self, id: str, pinned: bool) -> Record:
        """Pin or unpin an entry; returns it as it was before."""
        fields = pinned_fields(self._journal.require(id), pinned)
        return self._change(id, PIN if pinned else UNPIN, fields)

    def delete(self, id: str, by: str = "") -> Record:
        """Remove an entry; returns it as it was.

        The lines of the log that it was made of are not recalled any more.
        """
        lines = source_lines(self._journal.require(id))
        with self._together():
            entry = self._change(id, DELETE, None)
            if lines and self._journal.amendments:
                self._journal.amendments.add(UNRECALLED, lines, by, entry["id"])
        return entry

    def undo(self, step: Record) -> str:
        """Undo the last step's change and remove the step; returns the outcome.

        `TAKEN_BACK`; `GONE` if the entry no longer exists; `HEARD_SINCE` if the entry was added by
        hand and somebody has said the same since, so that it stays.
        """
        entry = self._journal.get(step["entry"])
        outcome = TAKEN_BACK
        mark_for_deletion(self._character.id)
        with self._together():
            if step["act"] == DELETE:
                if entry is None:
                    self._journal.segments.change({}, restored_entry(step))
                if self._journal.amendments:
                    self._journal.amendments.undo("", kind=UNRECALLED, text=step["entry"])
            elif entry is None:
                outcome = GONE
            elif step["act"] != ADD:
                self._journal.update(entry["id"], **restored_fields(step))
            elif is_heard_since(step, entry):
                outcome = HEARD_SINCE
            else:
                self._journal.remove(entry["id"])
            self.steps.remove(step["id"])
        return outcome

    def _change(self, id: str, act: str, fields: Mapping[str, Any] | None) -> Record:
        """Change fields of an entry, or remove it for None; returns it as it was before."""
        before = self._journal.require(id)
        mark_for_deletion(self._character.id)
        with self._together():
            self.steps.keep(before, act)
            if fields is None:
                self._journal.remove(id)
            else:
                self._journal.update(id, **fields)
        return before

    @contextmanager
    def _together(self) -> Generator[None]:
        """Run one transaction over journal and steps; if it fails, both are read again."""
        try:
            with brief_transaction():
                yield
        except BaseException:
            self._journal.segments.reset()
            self.steps.segments.reset()
            raise
