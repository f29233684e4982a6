"""What characters of one faction, one place or one world know of each other's: the service's part,
between the rows and those who sleep and think."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from evennia_ai.game.perception import knowledge_labels
from evennia_ai.memory.episodic_index import EpisodicIndex
from evennia_ai.memory.shared import SharedMemories, WithHearsay
from evennia_ai.policy.records.shared_memory import Telling, Told, read_scopes, select_scopes
from evennia_ai.ports import Embedder, RemoteEmbedder
from evennia_ai.store import shared_entries as rows
from evennia_ai.store.shared_entries import SharedEntryStore, changed

NOBODY: frozenset[str] = frozenset()


class SharedMemory:
    """Who was told what.

    Args:
        now: gives the game's time for stores.
        embedder: gives what turns texts into vectors, asked when it is first needed.
    """

    def __init__(
        self,
        now: Callable[[], datetime],
        embedder: Callable[[], Embedder | RemoteEmbedder | None],
    ) -> None:
        def shelf_of(scope: str) -> SharedEntryStore:
            return SharedEntryStore(scope, now)

        self._memories = SharedMemories(shelf_of, rows.still_told, embedder)
        changed.connect(self._note)

    def with_hearsay(self, script: Any, own: EpisodicIndex) -> EpisodicIndex | WithHearsay:
        """The memories of an assistant, with what those told it whom it shares with now: a tag that
        was taken away takes with it what was known by it."""
        chosen = read_scopes(script.config.share_memory)
        if not chosen:
            return own
        character = script.character
        scopes = select_scopes(chosen, self.labels_of(character))
        return WithHearsay(own, self._memories, scopes, character.dbref)

    def labels_of(self, character: Any) -> frozenset[str]:
        """The scopes that a character belongs to now, by its tags and its place."""
        return knowledge_labels(character, NOBODY)

    def told_by(self, assistant_id: int) -> list[Told]:
        """What an assistant has told, to whomever."""
        return rows.told_by(assistant_id)

    def open_among(self, assistant_id: int, seqs: Iterable[int]) -> frozenset[int]:
        """Those of some messages of an assistant's log that were for everybody."""
        return rows.open_among(assistant_id, seqs)

    def tell(self, assistant_id: int, teller: str, now: datetime, new: Sequence[Telling]) -> None:
        """Store what a teller tells, in one transaction; raises StoreUnavailable."""
        rows.tell(assistant_id, teller, now, new)

    def take_back(self, ids: Sequence[int]) -> None:
        """Take back what was told, by the rows' ids, in one transaction; raises
        StoreUnavailable."""
        rows.take_back(ids)

    def _note(self, sender: Any, scopes: Any, gone: Any, **others: Any) -> None:
        self._memories.note(scopes, gone)
