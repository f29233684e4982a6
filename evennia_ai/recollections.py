"""The searchable memories of the assistants in use: made when one first thinks, and dropped again
where others need the room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

from evennia_ai.memory.episodic_index import EpisodicIndex
from evennia_ai.ports import Embedder, RemoteEmbedder

# A thousand memories take about 2 MB with their vectors (measured).
MOST_IN_USE = 200


class Recollections:
    """`EpisodicIndex`es by assistant; the one that was used longest ago goes first.

    Args:
        embedder: gives what turns texts into vectors, asked with the first index.
    """

    def __init__(self, embedder: Callable[[], Embedder | RemoteEmbedder | None]) -> None:
        self._embedder = embedder
        self._in_use: OrderedDict[int, EpisodicIndex] = OrderedDict()

    def of(self, script: Any) -> EpisodicIndex:
        """The memories of an assistant's character, the same at every call while its records are
        the same."""
        character = script.character
        journal, profiles = character.journal, character.ai_profiles
        index = self._in_use.get(script.id)
        if index is None or not index.is_of(journal, profiles):
            name_of = partial(script.services.world.name_of, character)
            index = EpisodicIndex(journal, profiles, self._embedder(), name_of)
            self._in_use[script.id] = index
        self._in_use.move_to_end(script.id)
        while len(self._in_use) > MOST_IN_USE:
            _script_id, oldest = self._in_use.popitem(last=False)
            oldest.close()
        return index

    def drop(self, script: Any) -> None:
        """Let the memories of an assistant be made anew when they are needed next."""
        index = self._in_use.pop(script.id, None)
        if index is not None:
            index.close()
