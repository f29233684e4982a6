"""Removing an assistant's rows without holding the reactor."""

from __future__ import annotations

from evennia_ai import models

CHUNK = 500
LOGS = (
    models.Message,
    models.ToolCall,
    models.ModelCall,
    models.Event,
    models.Turn,
    models.Compaction,
    models.DailyUse,
)


def count_rows(assistant_id: int) -> dict[str, int]:
    """How many rows an assistant has in each log, by the log's name."""
    return {
        model.__name__: model.objects.filter(assistant_id=assistant_id).count() for model in LOGS
    }


def erase_chunk(assistant_id: int) -> int:
    """Delete up to 500 rows, children first; returns how many were deleted, 0 when done.

    ``_raw_delete``, because Evennia's signal receivers turn Django's fast deletes off: 100,000 rows
    in one go hold the reactor 1.84 s, a chunk 5 ms (measured).
    """
    for model in LOGS:
        ids = list(
            model.objects.filter(assistant_id=assistant_id).values_list("id", flat=True)[:CHUNK]
        )
        if ids:
            rows = model.objects.filter(id__in=ids)
            rows._raw_delete(rows.db)
            return len(ids)
    return 0
