"""Removing an assistant's rows without holding the reactor."""

from __future__ import annotations

from evennia.objects.models import ObjectDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.store.deleted_characters import mark_for_deletion
from evennia_ai.store.forget import STORES, delete_newest
from evennia_ai.store.segments import attributes_of

SEGMENTS_A_CHUNK = 50
LOGS = (
    models.Message,
    models.ToolCall,
    models.ModelCall,
    models.Event,
    models.Turn,
    models.Compaction,
    models.SleepPass,
    models.SharedEntry,
    models.DailyUse,
)


def count_rows(assistant_id: int) -> dict[str, int]:
    """How many rows an assistant has in each log, by the log's name."""
    return {
        model.__name__: model.objects.filter(assistant_id=assistant_id).count() for model in LOGS
    }


def erase_chunk(assistant_id: int) -> int:
    """Delete up to 500 rows, children first, then what the character knows; returns how many were
    deleted, 0 when done.

    ``_raw_delete``, because Evennia's signal receivers turn Django's fast deletes off: 100,000 rows
    in one go hold the reactor 1.84 s, a chunk 5 ms (measured).
    """
    for model in LOGS:
        if deleted := delete_newest(model.objects.filter(assistant_id=assistant_id)):
            return deleted
    return erase_knowledge(assistant_id)


def erase_knowledge(assistant_id: int) -> int:
    """Delete a part of an assistant's journal and profiles; returns how many Attributes."""
    for character in ObjectDB.objects.filter(scriptdb=assistant_id):
        for store in STORES.values():
            store.drop(character)
        ids = attributes_of(character, *STORES).values_list("id", flat=True)[:SEGMENTS_A_CHUNK]
        mark_for_deletion(character.id)
        return int(Attribute.objects.filter(id__in=list(ids)).delete()[0])
    return 0
