"""Marks on characters whose long-term memory may hold what their journals no longer do."""

from __future__ import annotations

from collections.abc import Mapping

from django.dispatch import Signal
from evennia.server.models import ServerConfig

from evennia_ai.store.brief_transaction import brief_transaction

# The key of the marks in Evennia's table of server settings.
KEY = "evennia_ai_deletion_marks"

# Sent after a character was marked.
marked = Signal()


def mark_for_deletion(character_id: int) -> None:
    """Note that long-term memory must be cleaned, too; raises StoreUnavailable."""
    with brief_transaction():
        marks = deletion_marks()
        number = marks.get(character_id, 0) + 1
        ServerConfig.objects.conf(KEY, {**marks, character_id: number})
    marked.send_robust(None)


def deletion_marks() -> dict[int, int]:
    """Return how often each character is marked, by its id."""
    stored = ServerConfig.objects.conf(KEY)
    return dict(stored) if isinstance(stored, Mapping) else {}


def note_deleted(character_id: int, number: int) -> None:
    """Remove a character's mark, unless it was marked again; raises StoreUnavailable."""
    with brief_transaction():
        marks = deletion_marks()
        if marks.get(character_id) == number:
            del marks[character_id]
            if marks:
                ServerConfig.objects.conf(KEY, marks)
            else:
                ServerConfig.objects.conf(KEY, delete=True)
