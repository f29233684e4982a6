"""The search indices in memory, one a character or sharing scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from evennia_ai.memory.recall_index import RecallIndex
from evennia_ai.ports import Embedder, Identity, Lines, RemoteEmbedder
from evennia_ai.store.loaded import LoadedMinds


class ScopeIndex(RecallIndex):
    """The index over what one sharing scope was told; it can be let go at any time."""

    is_busy = False

    def __init__(
        self, entries: Any, embedder: Embedder | RemoteEmbedder | None, let_go: Callable[[], None]
    ) -> None:
        # Shared entries contain the names already, so `name_of` returns nothing.
        super().__init__(entries, None, embedder, lambda _id: "")
        self.let_go = let_go


class IndexCache:
    """Makes an index when it is first needed.

    ``embedder`` is called when an index is made; ``entries_of`` returns what a scope was told, by
    the scope's name. ``loaded`` lets indices of scopes go; assistants drop their own.
    """

    def __init__(
        self,
        embedder: Callable[[], Embedder | RemoteEmbedder | None],
        entries_of: Callable[[str], Any],
        loaded: LoadedMinds,
    ) -> None:
        self._embedder = embedder
        self._entries_of = entries_of
        self._loaded = loaded
        self._of_characters: dict[int, RecallIndex] = {}
        self._of_scopes: dict[str, ScopeIndex] = {}

    def of_character(
        self, who: Identity, lines: Lines, name_of: Callable[[str], str]
    ) -> RecallIndex:
        """Return an assistant's index, the same until it or the character's records are dropped."""
        character, index = who.character, self._of_characters.get(who.id)
        if index is None or not index.reads(character.journal, character.ai_profiles, lines):
            self.drop(who.id)
            index = self._of_characters[who.id] = self._make(who, lines, name_of)
        return index

    def _make(self, who: Identity, lines: Lines, name_of: Callable[[str], str]) -> RecallIndex:
        character = who.character
        return RecallIndex(
            character.journal,
            character.ai_profiles,
            self._embedder(),
            name_of,
            lines,
            who.name,
        )

    def of_scope(self, scope: str) -> RecallIndex:
        """Return the index over what one scope was told, for all who belong to it."""
        index = self._of_scopes.get(scope)
        if index is None:
            let_go = partial(self._drop_scope, scope)
            index = ScopeIndex(self._entries_of(scope), self._embedder(), let_go)
            self._of_scopes[scope] = index
        self._loaded.note(index)
        return index

    def bytes_of(self, assistant_id: int) -> int:
        """Return about how much memory an assistant's index takes."""
        index = self._of_characters.get(assistant_id)
        return index.nbytes if index else 0

    def drop(self, assistant_id: int) -> None:
        """Free the memory of an assistant's index; the next use makes it again."""
        index = self._of_characters.pop(assistant_id, None)
        if index is not None:
            index.close()

    def renew(self, assistant_id: int, seqs: Sequence[int]) -> None:
        """Let an index in memory read some lines again."""
        index = self._of_characters.get(assistant_id)
        if index is not None:
            index.renew(seqs)

    def note(self, scopes: frozenset[str] | None, gone: Sequence[int], **_signal: Any) -> None:
        """Update scopes (None: all) after rows came; ``gone`` has the ids of deleted rows."""
        for scope, index in self._of_scopes.items():
            if scopes is None or scope in scopes:
                index.journal.note(gone)

    def forget_lines(self, seqs: Sequence[int], **_signal: Any) -> None:
        """Remove the lines of deleted messages."""
        for index in self._of_characters.values():
            index.forget(seqs)

    def _drop_scope(self, scope: str) -> None:
        self._of_scopes.pop(scope).close()
