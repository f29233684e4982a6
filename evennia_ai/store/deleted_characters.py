"""Whose long-term memory may hold what their journals do not any more: kept until it is put right,
whatever happens in between."""

from __future__ import annotations

from collections.abc import Mapping

from django.dispatch import Signal
from evennia.server.models import ServerConfig

from evennia_ai.store.brief_transaction import brief_transaction

KEY = "evennia_ai_memories_to_tidy"

# Sent when a character was marked.
marked = Signal()


def mark_for_deletion(character_id: int) -> None:
    """Note that something was removed from a character's journal that must leave its long-term
    memory, too; raises StoreUnavailable."""
    with brief_transaction():
        marks = deletion_marks()
        number = marks.get(character_id, 0) + 1
        ServerConfig.objects.conf(KEY, {**marks, character_id: number})
    marked.send_robust(None)


def deletion_marks() -> dict[int, int]:
    """Numbers of the characters that are marked, each with how often."""
    stored = ServerConfig.objects.conf(KEY)
    return dict(stored) if isinstance(stored, Mapping) else {}


def note_deleted(character_id: int, number: int) -> None:
    """Take a character's mark away, unless it was marked again since; raises StoreUnavailable."""
    with brief_transaction():
        marks = deletion_marks()
        if marks.get(character_id) == number:
            del marks[character_id]
            if marks:
                ServerConfig.objects.conf(KEY, marks)
            else:
                ServerConfig.objects.conf(KEY, delete=True)
