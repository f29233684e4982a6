"""The searchable memories of the assistants in use: made when one first thinks, and dropped again
where others need the room."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from evennia_ai.memory.episodic_index import EpisodicIndex
from evennia_ai.memory.indices_in_use import IndicesInUse
from evennia_ai.ports import Embedder, RemoteEmbedder

# A thousand memories take about 2 MB with their vectors (measured).
MOST_IN_USE = 200


class Recollections:
    """`EpisodicIndex`es by assistant.

    Args:
        embedder: gives what turns texts into vectors, asked with the first index.
    """

    def __init__(self, embedder: Callable[[], Embedder | RemoteEmbedder | None]) -> None:
        self._embedder = embedder
        self._in_use = IndicesInUse[int](MOST_IN_USE)

    def of(self, script: Any) -> EpisodicIndex:
        """The memories of an assistant's character, the same at every call while its records are
        the same."""
        character = script.character
        records = character.journal, character.ai_profiles

        def make() -> EpisodicIndex:
            name_of = partial(script.services.world.name_of, character)
            return EpisodicIndex(*records, self._embedder(), name_of)

        return self._in_use.get(script.id, make, lambda index: index.is_of(*records))

    def drop(self, script: Any) -> None:
        """Let the memories of an assistant be made anew when they are needed next."""
        self._in_use.drop(script.id)
