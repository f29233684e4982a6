"""A builder's changes to a journal, and their undo, for the commands and the web pages alike.

The last changes are stored on the character. "Forget me" removes them as it does journal entries.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import evennia_ai.store.segments  # noqa: F401  # stores the records
from evennia_ai.errors import AssistantError
from evennia_ai.messages import Audience
from evennia_ai.policy.compaction.materials import is_synthesis
from evennia_ai.policy.disclosure import Reader
from evennia_ai.policy.log_lines import SUMMARY, UNRECALLED
from evennia_ai.policy.records.journal_entry import JournalEntry, linked
from evennia_ai.policy.records.memory_listing import BUILDER, may_read, undo_line
from evennia_ai.policy.records.provenance import TRUST, Record, Time, Words, copy_of, iso_utc
from evennia_ai.policy.sanitize import one_line
from evennia_ai.ports import Character
from evennia_ai.ports.journal import Journal
from evennia_ai.ports.records import RecordStore, anew
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.names import own_name
from evennia_ai.store.server_settings import mark_for_deletion

ENTRY_CHARS = 1_000
MOST_STEPS = 20
ADD, EDIT, PIN, UNPIN, DELETE = "add", "edit", "pin", "unpin", "delete"
OWN_FIELDS = ("act", "entry", "done_at")
# The fields that an undo restores. The audience and the speakers stay as they are now.
PINNING = ("pinned", "importance_by")
RESTORED: Mapping[str, Sequence[str]] = {
    EDIT: ("content", "source_type", "source_entity", "trust"),
    PIN: PINNING,
    UNPIN: PINNING,
}


class CannotChange(AssistantError):
    """An entry cannot be changed in this way. The text says why."""


class UndoStep(JournalEntry):
    """An entry before a change, or as written if the change added it."""

    act: Literal["add", "edit", "pin", "unpin", "delete"]
    entry: Words  # the entry's id; ``id`` is the step's own
    done_at: Time


class UndoSteps(RecordStore):
    """The changes that can be undone, oldest first."""

    kind = "ai_memory_undo"
    prefix = "u"
    model = UndoStep

    def last(self) -> Record | None:
        """Return the change that an undo takes back next, None if there is none."""
        steps = list(self.every())
        return copy_of(steps[-1]) if steps else None

    @anew
    def note(self, entry: Record, act: str) -> None:
        """Store a change; remove the oldest above `MOST_STEPS`. Raises StoreUnavailable."""
        own = {"id": self.next_id, "act": act, "entry": entry["id"], "done_at": iso_utc(self.now())}
        steps = [one["id"] for one in self.every()]
        surplus = max(0, len(steps) + 1 - MOST_STEPS)
        self.change(dict.fromkeys(steps[:surplus]), {**copy_of(entry), **own})


class MemoryEditor:
    """A builder's changes to the journal of one character.

    Each change and its undo step are one transaction. What is removed from the journal is removed
    from long-term memory soon after (`evennia_ai.store.server_settings`). Every method that changes
    something raises CannotChange or StoreUnavailable, or KeyError for an unknown id, and then
    nothing has changed.

    Args:
        renew: called with the messages of the log that are recalled in another way from now on.
    """

    def __init__(
        self, character: Character, renew: Callable[[Sequence[int]], None] = lambda _seqs: None
    ) -> None:
        self._character = character
        self._renew = renew
        self._journal = Journal.of(character)
        self.steps = UndoSteps.of(character)

    def add(self, text: str, audience: Audience | None = None) -> Record:
        """Add an entry as a builder's, which pruning never removes; returns it.

        ``audience`` has the dbrefs of the only people who may know it; None for public.
        """
        words = entry_words(text)
        if self._journal.has(words, audience):
            raise CannotChange(f"{own_name(self._character)} has this entry already.")
        told = None if audience is None else sorted(audience)
        with self._together():
            added = self._journal.add(words, source_type=BUILDER, audience=told)
            entry = self._journal.require(added)
            self.steps.note(entry, ADD)
        return entry

    def edit(self, id: str, text: str) -> Record:
        """Replace the words of an entry, whose source is the builder then; returns it as before."""
        entry = self._require_own_words(id)
        words = entry_words(text)
        if words == entry["content"]:
            raise CannotChange("The entry has these words already.")
        source = {"source_type": BUILDER, "source_entity": "", "trust": TRUST[BUILDER]}
        return self._change(entry, EDIT, {"content": words, **source})

    def pin(self, id: str, pinned: bool) -> Record:
        """Pin or unpin an entry; returns it as it was before.

        A manual pin's importance counts as given, so the character does not unpin it when space
        runs out.
        """
        entry = self._require_own_words(id)
        if entry["pinned"] is pinned:
            state = "pinned" if pinned else "not pinned"
            raise CannotChange(f"{id} is {state} already.")
        weight = {"importance": entry["importance"]} if pinned else {}
        return self._change(entry, PIN if pinned else UNPIN, {"pinned": pinned, **weight})

    def delete(self, id: str, by: str = "") -> int:
        """Remove an entry; returns how many lines of the log are not recalled any more either."""
        entry = self._journal.require(id)
        lines = source_lines(entry)
        with self._together():
            self._change(entry, DELETE, None)
            if lines and self._journal.amendments:
                self._journal.amendments.add(UNRECALLED, lines, by, id)
        if lines:
            self._renew(lines)
        return len(lines)

    def restore(self, id: str) -> Record:
        """Move a pruned entry back into the journal; returns it."""
        return self._journal.archive.bring_back(self._journal, id)

    def undo(self, reader: Reader) -> tuple[str, str]:
        """Undo the last change; returns the entry's id, and what became of it as a sentence."""
        step = self.steps.last()
        if step is None:
            whose = own_name(self._character)
            raise CannotChange(f"There is no change of {whose}'s journal to undo.")
        if not may_read(reader, step):
            raise CannotChange("The last change was to a private entry. Only an admin can undo it.")
        mark_for_deletion(self._character.id)
        with self._together():
            said = self._take_back(step)
            self.steps.remove(step["id"])
        self._renew(source_lines(step))
        return step["entry"], f"{said} ({len(self.steps.ids())} more to undo.)"

    def _take_back(self, step: Record) -> str:
        name, act = step["entry"], step["act"]
        entry = self._journal.get(name)
        if act == DELETE:
            if entry is None:
                was = {field: step[field] for field in step if field not in OWN_FIELDS}
                back = {**was, "id": name, **linked(was, "")}  # long-term memory lost it
                self._journal.change({}, back)
            if self._journal.amendments:
                self._journal.amendments.undo("", kind=UNRECALLED, text=name)
        elif entry is None:
            return f"{name} is deleted meanwhile: there is nothing to undo."
        elif act != ADD:
            self._journal.update(name, **{field: step[field] for field in RESTORED[act]})
        elif entry["speakers"] != step["speakers"]:
            return f"{name} stays: somebody told the character the same since then."
        else:
            self._journal.remove(name)
        return f"Undone: {undo_line(step)}."

    def _require_own_words(self, id: str) -> Record:
        entry = self._journal.require(id)
        if is_synthesis(entry):
            raise CannotChange(
                "This entry is the summary of a compaction and can only be deleted. "
                f"To undo the compaction: aicompact/undo {own_name(self._character)}"
            )
        return entry

    def _change(self, entry: Record, act: str, fields: Mapping[str, Any] | None) -> Record:
        """Change fields of an entry, or remove it for None; returns it as it was before."""
        mark_for_deletion(self._character.id)
        with self._together():
            self.steps.note(entry, act)
            if fields is None:
                self._journal.remove(entry["id"])
            else:
                self._journal.update(entry["id"], **fields)
        return entry

    @contextmanager
    def _together(self) -> Generator[None]:
        """Run one transaction over journal and steps; if it fails, both are read again."""
        try:
            with brief_transaction():
                yield
        except BaseException:
            self._journal.unload()
            self.steps.unload()
            raise


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


def source_lines(entry: Record) -> list[int]:
    """Return the lines of the log that an entry was made of; a summary has only a range."""
    return [] if entry["source_type"] == SUMMARY else list(entry["source_seqs"])
