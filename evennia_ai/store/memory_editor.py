"""A builder's changes to a journal, for the commands and the web pages alike."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import evennia_ai.store.segments  # noqa: F401  # stores the records
from evennia_ai.errors import AssistantError
from evennia_ai.messages import Audience
from evennia_ai.policy.compaction.restored_context import is_synthesis
from evennia_ai.policy.recallable_lines import SUMMARY, UNRECALLED
from evennia_ai.policy.records.memory_listing import BUILDER
from evennia_ai.policy.records.record import TRUST, Record
from evennia_ai.policy.sanitize import one_line
from evennia_ai.ports import Character
from evennia_ai.ports.journal import Journal
from evennia_ai.store.names import own_name
from evennia_ai.store.server_settings import mark_for_deletion
from evennia_ai.store.transactions import brief_transaction

ENTRY_CHARS = 1_000


class CannotChange(AssistantError):
    """An entry cannot be changed in this way. The text says why."""


class MemoryEditor:
    """A builder's changes to the journal of one character, each one transaction.

    What is removed is removed from long-term memory soon after (`store.server_settings`). Every
    change may raise CannotChange or StoreUnavailable, or KeyError for an unknown id. ``renew`` is
    called with the messages of the log that are recalled in another way from now on.
    """

    def __init__(
        self, character: Character, renew: Callable[[Sequence[int]], None] = lambda _seqs: None
    ) -> None:
        self._character = character
        self._renew = renew
        self._journal = Journal.of(character)

    def add(self, text: str, audience: Audience | None = None) -> Record:
        """Add an entry as a builder's, which pruning never removes; returns it."""
        words = entry_words(text)
        if self._journal.has(words, audience):
            raise CannotChange(f"{own_name(self._character)} has this entry already.")
        listeners = None if audience is None else sorted(audience)
        return self._journal.require(
            self._journal.add(words, source_type=BUILDER, audience=listeners)
        )

    def edit(self, id: str, text: str) -> Record:
        """Replace the words of an entry, whose source is the builder then; returns it as before."""
        entry = self._require_own_words(id)
        words = entry_words(text)
        if words == entry["content"]:
            raise CannotChange("The entry has these words already.")
        source = {"source_type": BUILDER, "source_entity": "", "trust": TRUST[BUILDER]}
        return self._change(entry, content=words, **source)

    def pin(self, id: str, pinned: bool) -> Record:
        """Pin or unpin an entry; returns it as before. The character unpins no pin of a builder."""
        entry = self._require_own_words(id)
        if entry["pinned"] is pinned:
            state = "pinned" if pinned else "not pinned"
            raise CannotChange(f"{id} is {state} already.")
        weight = {"importance": entry["importance"]} if pinned else {}
        return self._change(entry, pinned=pinned, **weight)

    def delete(self, id: str, by: str = "") -> int:
        """Move an entry into the archive; returns how many lines are not recalled any more either.

        These are the lines of the log that it was made of. `restore` brings all of it back.
        """
        entry = self._journal.require(id)
        lines = source_lines(entry)
        with self._together():
            self._journal.archive.put_away(self._journal, id)
            if lines and self._journal.amendments:
                self._journal.amendments.add(UNRECALLED, lines, by, id)
        self._renew(lines)
        return len(lines)

    def restore(self, id: str) -> Record:
        """Move a pruned or deleted entry back into the journal; returns it."""
        with self._together():
            back = self._journal.archive.bring_back(self._journal, id)
            if self._journal.amendments:
                self._journal.amendments.undo("", kind=UNRECALLED, text=id)
        self._renew(source_lines(back))
        return back

    def _require_own_words(self, id: str) -> Record:
        entry = self._journal.require(id)
        if is_synthesis(entry):
            raise CannotChange(
                "This entry is the summary of a compaction and can only be deleted. "
                f"To undo the compaction: aicompact/undo {own_name(self._character)}"
            )
        return entry

    def _change(self, entry: Record, **fields: Any) -> Record:
        """Change fields of an entry; returns it as it was before."""
        with self._together():
            self._journal.update(entry["id"], **fields)
        return entry

    @contextmanager
    def _together(self) -> Generator[None]:
        """Run one transaction, also for long-term memory; if it fails, all is read again."""
        try:
            with brief_transaction():
                mark_for_deletion(self._character.id)
                yield
        except BaseException:
            self._journal.unload()
            self._journal.archive.unload()
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
