"""A journal changed by hand, and the way back: the last changes are kept on the character, across
restarts, and "forget me" reaches them as it does the journal."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

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
from evennia_ai.store.deleted_characters import mark_for_deletion
from evennia_ai.store.journal import Journal
from evennia_ai.store.record_store import RecordStore

MOST_STEPS = 20
# What became of a change that was to be taken back.
TAKEN_BACK, GONE, HEARD_SINCE = "taken back", "gone", "heard since"


class UndoSteps(RecordStore):
    """The changes that can be taken back, oldest first."""

    kind = "ai_memory_undo"
    prefix = "u"
    model = UndoStep

    def last(self) -> Record | None:
        """The change that would be taken back next."""
        steps = list(self.segments.all())
        return copy_of(steps[-1]) if steps else None

    def keep(self, entry: Record, act: str) -> None:
        """Note a change; the oldest beyond `MOST_STEPS` go. Raises StoreUnavailable."""
        step = step_of(entry, act, self.segments.next_id, self.now())
        steps = [one["id"] for one in self.segments.all()]
        superfluous = max(0, len(steps) + 1 - MOST_STEPS)
        self.segments.change(dict.fromkeys(steps[:superfluous]), step)


class MemoryEditor:
    """Changes entries of a character's journal at a builder's word.

    Each change is one transaction together with the step that takes it back. What leaves the
    journal leaves long-term memory soon after (`evennia_ai.store.deleted_characters`). All of it
    raises StoreUnavailable, and then nothing has changed; what changes an entry raises KeyError
    where there is none of that id.
    """

    def __init__(self, character: Character) -> None:
        self._character = character
        self._journal = Journal.of(character)
        self.steps = UndoSteps.of(character)

    def add(self, content: str, audience: list[str] | None = None) -> Record | None:
        """Write something down as a builder's word, which nothing automatic removes; returns the
        entry. None where it stands there already, for the same ears. Raises BadRecord.

        Args:
            content: one fact.
            audience: dbrefs of those who alone may know; None for everybody.
        """
        if self._journal.has(content, None if audience is None else frozenset(audience)):
            return None
        with self._together():
            added = self._journal.add(content, source_type=BUILDER, audience=audience)
            entry = self._journal.require(added)
            self.steps.keep(entry, ADD)
        return entry

    def edit(self, id: str, content: str) -> Record:
        """Put an entry in other words; returns it as it was. Raises BadRecord."""
        return self._update(id, EDIT, edited_fields(content))

    def pin(self, id: str, pinned: bool) -> Record:
        """Keep an entry in mind for good, or not any more; returns it as it was."""
        fields = pinned_fields(self._journal.require(id), pinned)
        return self._update(id, PIN if pinned else UNPIN, fields)

    def delete(self, id: str) -> Record:
        """Remove an entry; returns it."""
        before = self._journal.require(id)
        mark_for_deletion(self._character.id)
        with self._together():
            self.steps.keep(before, DELETE)
            self._journal.remove(id)
        return before

    def undo(self, step: Record) -> str:
        """Take a change back, the last one; returns `TAKEN_BACK`, `GONE` where its entry is not
        there any more, or `HEARD_SINCE` where somebody has told the same since it was added, so
        that it stays. The step is gone in any case."""
        entry = self._journal.get(step["entry"])
        outcome = TAKEN_BACK
        mark_for_deletion(self._character.id)
        with self._together():
            if step["act"] == DELETE:
                if entry is None:
                    self._journal.segments.change({}, restored_entry(step))
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

    # --- within ---------------------------------------------------------------------------------

    def _update(self, id: str, act: str, fields: Mapping[str, Any]) -> Record:
        before = self._journal.require(id)
        mark_for_deletion(self._character.id)
        with self._together():
            self.steps.keep(before, act)
            self._journal.update(id, **fields)
        return before

    @contextmanager
    def _together(self) -> Generator[None]:
        """One transaction for journal and steps. Where it fails, both are read anew: memory must
        not hold what was rolled back."""
        try:
            with brief_transaction():
                yield
        except BaseException:
            self._journal.segments.reset()
            self.steps.segments.reset()
            raise
