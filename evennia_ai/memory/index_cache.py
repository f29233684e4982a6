"""One LRU cache for search indices, one index a character or sharing scope."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from evennia_ai.memory.episodic_index import EpisodicIndex
from evennia_ai.ports import Embedder, RemoteEmbedder, Script

# A thousand memories take about 2 MB with their vectors (measured).
MOST_INDICES = 400


class IndexCache:
    """Makes an index when it is first needed and drops the least recently used one.

    ``embedder`` is called when an index is made; ``entries_of`` returns what a scope was told, by
    the scope's name.
    """

    def __init__(
        self,
        embedder: Callable[[], Embedder | RemoteEmbedder | None],
        entries_of: Callable[[str], Any],
    ) -> None:
        self._embedder = embedder
        self._entries_of = entries_of
        self._indices: OrderedDict[int | str, EpisodicIndex] = OrderedDict()

    def of_character(self, script: Script) -> EpisodicIndex:
        """Return an assistant's index, the same until it or the character's records are dropped."""
        character = script.character
        journal, profiles = character.journal, character.ai_profiles
        index = self._indices.get(script.id)
        if index is not None and not (index.journal is journal and index.profiles is profiles):
            self.drop(script)
        name_of = partial(script.services.world.name_of, character)
        return self._get(
            script.id, lambda: EpisodicIndex(journal, profiles, self._embedder(), name_of)
        )

    def of_scope(self, scope: str) -> EpisodicIndex:
        """Return the index over what one scope was told, for all who belong to it."""
        return self._get(
            scope,
            # Shared entries contain the names already, so `name_of` returns nothing.
            lambda: EpisodicIndex(self._entries_of(scope), None, self._embedder(), lambda _id: ""),
        )

    def drop(self, script: Script) -> None:
        """Drop an assistant's index; the next use makes a new one."""
        self._drop(script.id)

    def note(self, scopes: frozenset[str] | None, gone: Sequence[int]) -> None:
        """Update scopes (None: all) after rows came; ``gone`` has the ids of deleted rows."""
        for key, index in self._indices.items():
            if isinstance(key, str) and (scopes is None or key in scopes):
                index.journal.note(gone)

    def _get(self, key: int | str, make: Callable[[], EpisodicIndex]) -> EpisodicIndex:
        index = self._indices.get(key)
        if index is None:
            index = self._indices[key] = make()
        self._indices.move_to_end(key)
        while len(self._indices) > MOST_INDICES:
            self._drop(next(iter(self._indices)))
        return index

    def _drop(self, key: int | str) -> None:
        index = self._indices.pop(key, None)
        if index is not None:
            index.close()
