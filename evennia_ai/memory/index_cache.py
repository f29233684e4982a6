"""Indices that are made when they are needed, and give way to others when there are many."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, ItemsView
from functools import partial
from typing import Any, Generic, TypeVar

from evennia_ai.memory.episodic_index import EpisodicIndex
from evennia_ai.ports import Embedder, RemoteEmbedder

Key = TypeVar("Key")


class IndexCache(Generic[Key]):
    """`EpisodicIndex`es by what they are of; the one that was used longest ago goes first.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._indices: OrderedDict[Key, EpisodicIndex] = OrderedDict()

    def get(
        self,
        key: Key,
        make: Callable[[], EpisodicIndex],
        is_current: Callable[[EpisodicIndex], bool] = lambda _index: True,
    ) -> EpisodicIndex:
        """The index of a key, made anew where there is none, or where it is no longer current."""
        index = self._indices.get(key)
        if index is None or not is_current(index):
            self.drop(key)
            index = self._indices[key] = make()
        self._indices.move_to_end(key)
        while len(self._indices) > self._most:
            self.drop(next(iter(self._indices)))
        return index

    def drop(self, key: Key) -> None:
        """Let an index be made anew when it is needed next."""
        index = self._indices.pop(key, None)
        if index is not None:
            index.close()

    def items(self) -> ItemsView[Key, EpisodicIndex]:
        """Those in use now, with what they are of."""
        return self._indices.items()


# A thousand memories take about 2 MB with their vectors (measured).
MOST_IN_USE = 200


class Recollections:
    """`EpisodicIndex`es by assistant.

    Args:
        embedder: gives what turns texts into vectors, asked with the first index.
    """

    def __init__(self, embedder: Callable[[], Embedder | RemoteEmbedder | None]) -> None:
        self._embedder = embedder
        self._in_use = IndexCache[int](MOST_IN_USE)

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
