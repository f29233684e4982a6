"""One LRU cache for what is loaded of memories: an index a character or sharing scope.

With a character's index goes its view of the conversation, which is as large.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.ports import Conversation, Embedder, RemoteEmbedder, Script

# Of everything loaded; a thousand lines take 1.3 MB in an index or in a view (measured).
MOST_BYTES = 48_000_000


@dataclass
class Loaded:
    """An index, and the conversation of its character; a scope has none."""

    index: RecallIndex
    conversation: Conversation | None = None
    nbytes: int = 0  # at the latest use

    def measure(self) -> int:
        """Note how much memory they take now; return how much that has grown."""
        before, self.nbytes = self.nbytes, self.index.nbytes
        if self.conversation is not None:
            self.nbytes += self.conversation.nbytes
        return self.nbytes - before

    def unload(self) -> None:
        """Free their memory."""
        self.index.close()
        if self.conversation is not None:
            self.conversation.forget_view()


class IndexCache:
    """Makes an index when it is first needed and drops the least recently used ones.

    ``embedder`` is called when an index is made; ``entries_of`` returns what a scope was told, by
    the scope's name. The index in use stays, however large it is.
    """

    def __init__(
        self,
        embedder: Callable[[], Embedder | RemoteEmbedder | None],
        entries_of: Callable[[str], Any],
    ) -> None:
        self._embedder = embedder
        self._entries_of = entries_of
        self._loaded: OrderedDict[int | str, Loaded] = OrderedDict()
        self._nbytes = 0

    def of_character(self, script: Script) -> RecallIndex:
        """Return an assistant's index, the same until it or the character's records are dropped."""
        who, loaded = script.character, self._loaded.get(script.id)
        sources = who.journal, who.ai_profiles, script.conversation.lines
        if loaded is not None and not loaded.index.reads(*sources):
            self.drop(script)
        return self._get(script.id, partial(self._make, script))

    def _make(self, script: Script) -> Loaded:
        character = script.character
        index = RecallIndex(
            character.journal,
            character.ai_profiles,
            self._embedder(),
            partial(script.services.world.name_of, character),
            script.conversation.lines,
            script.character_name,
        )
        return Loaded(index, script.conversation)

    def of_scope(self, scope: str) -> RecallIndex:
        """Return the index over what one scope was told, for all who belong to it."""

        def make() -> Loaded:
            # Shared entries contain the names already, so `name_of` returns nothing.
            entries = self._entries_of(scope)
            return Loaded(RecallIndex(entries, None, self._embedder(), lambda _id: ""))

        return self._get(scope, make)

    def drop(self, script: Script) -> None:
        """Drop an assistant's index and view; the next use loads them again."""
        self._drop(script.id)

    def note(self, scopes: frozenset[str] | None, gone: Sequence[int], **_signal: Any) -> None:
        """Update scopes (None: all) after rows came; ``gone`` has the ids of deleted rows."""
        for key, loaded in self._loaded.items():
            if isinstance(key, str) and (scopes is None or key in scopes):
                loaded.index.journal.note(gone)

    def forget_lines(self, seqs: Sequence[int], **_signal: Any) -> None:
        """Remove the lines of deleted messages."""
        for loaded in self._loaded.values():
            loaded.index.forget(seqs)

    def _get(self, key: int | str, make: Callable[[], Loaded]) -> RecallIndex:
        loaded = self._loaded.get(key)
        if loaded is None:
            loaded = self._loaded[key] = make()
        self._loaded.move_to_end(key)
        self._nbytes += loaded.measure()
        while len(self._loaded) > 1 and self._nbytes >= MOST_BYTES:
            self._drop(next(iter(self._loaded)))
        return loaded.index

    def _drop(self, key: int | str) -> None:
        loaded = self._loaded.pop(key, None)
        if loaded is not None:
            self._nbytes -= loaded.nbytes
            loaded.unload()
