"""One LRU cache for search indices, one index a character or sharing scope."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from evennia_ai.memory.old_lines import OldLines
from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.ports import Embedder, RemoteEmbedder, Script

MOST_BYTES = 16_000_000  # of all indices; a thousand lines take 0.6 MB (measured)


class IndexCache:
    """Makes an index when it is first needed and drops the least recently used ones.

    ``embedder`` is called when an index is made; ``entries_of`` returns what a scope was told, by
    the scope's name; ``old_lines`` makes what finds the older lines of long logs. The index in use
    stays, however large it is.
    """

    def __init__(
        self,
        embedder: Callable[[], Embedder | RemoteEmbedder | None],
        entries_of: Callable[[str], Any],
        old_lines: Callable[..., OldLines] | None = None,
    ) -> None:
        self._embedder = embedder
        self._entries_of = entries_of
        self._old_lines = old_lines
        self._indices: OrderedDict[int | str, RecallIndex] = OrderedDict()
        self._sizes: dict[int | str, int] = {}  # in bytes, as of the latest use
        self._nbytes = 0  # their sum

    def of_character(self, script: Script) -> RecallIndex:
        """Return an assistant's index, the same until it or the character's records are dropped."""
        who, index = script.character, self._indices.get(script.id)
        sources = who.journal, who.ai_profiles, script.conversation.lines
        if index is not None and not index.reads(*sources):
            self._drop(script.id)
        return self._get(script.id, partial(self._make, script))

    def _make(self, script: Script) -> RecallIndex:
        character, embedder = script.character, self._embedder()
        log = script.conversation.lines, script.character_name
        old = None
        if self._old_lines is not None and embedder is not None:
            old = self._old_lines(script.id, *log, embedder)
        name_of = partial(script.services.world.name_of, character)
        return RecallIndex(
            character.journal, character.ai_profiles, embedder, name_of, *log, old=old
        )

    def of_scope(self, scope: str) -> RecallIndex:
        """Return the index over what one scope was told, for all who belong to it."""
        return self._get(
            scope,
            # Shared entries contain the names already, so `name_of` returns nothing.
            lambda: RecallIndex(self._entries_of(scope), None, self._embedder(), lambda _id: ""),
        )

    def drop(self, script: Script) -> None:
        """Free the memory of an assistant's index and view; the next use loads them again."""
        self._drop(script.id)
        script.conversation.unload_view()

    def renew(self, script: Script, seqs: Sequence[int]) -> None:
        """Let an index in memory read some lines again."""
        index = self._indices.get(script.id)
        if index is not None:
            index.renew(seqs)

    def note(self, scopes: frozenset[str] | None, gone: Sequence[int], **_signal: Any) -> None:
        """Update scopes (None: all) after rows came; ``gone`` has the ids of deleted rows."""
        for key, index in self._indices.items():
            if isinstance(key, str) and (scopes is None or key in scopes):
                index.journal.note(gone)

    def forget_lines(self, seqs: Sequence[int], **_signal: Any) -> None:
        """Remove the lines of deleted messages."""
        for index in self._indices.values():
            index.forget(seqs)

    def _get(self, key: int | str, make: Callable[[], RecallIndex]) -> RecallIndex:
        index = self._indices.get(key)
        if index is None:
            index = self._indices[key] = make()
        self._indices.move_to_end(key)
        self._nbytes += index.nbytes - self._sizes.get(key, 0)
        self._sizes[key] = index.nbytes
        while len(self._indices) > 1 and self._nbytes >= MOST_BYTES:
            self._drop(next(iter(self._indices)))
        return index

    def _drop(self, key: int | str) -> None:
        index = self._indices.pop(key, None)
        if index is not None:
            self._nbytes -= self._sizes.pop(key)
            index.close()
