"""What characters of one faction, place or world share: the stored rows and who may read them."""

from __future__ import annotations

from evennia_ai.game.perception import knowledge_labels
from evennia_ai.ports import Character
from evennia_ai.store import shared_entries


class SharedMemory:
    """The `SharedMemory` port over the shared entries of all assistants."""

    told_by = staticmethod(shared_entries.told_by)
    open_among = staticmethod(shared_entries.open_among)
    tell = staticmethod(shared_entries.tell)
    take_back = staticmethod(shared_entries.take_back)
    still_told = staticmethod(shared_entries.still_told)

    def labels_of(self, character: Character) -> frozenset[str]:
        """Return the scopes that a character belongs to now, by its tags and its place."""
        return knowledge_labels(character, frozenset())
