"""Deleting all data of an assistant without holding the reactor."""

from __future__ import annotations

from evennia.objects.models import ObjectDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai.store.attributes import attributes_of
from evennia_ai.store.forget import delete_newest
from evennia_ai.store.server_settings import mark_for_deletion
from evennia_ai.store.who_knows import LOGS, STORES

SEGMENTS_A_CHUNK = 50


def count_rows(assistant_id: int) -> dict[str, int]:
    """Return how many rows an assistant has in each table, by the table's model name."""
    return {
        model.__name__: model.objects.filter(assistant_id=assistant_id).count() for model in LOGS
    }


def erase_chunk(assistant_id: int) -> int:
    """Delete up to 100 rows, children first, then records; returns how many, 0 at the end."""
    for model in LOGS:
        if deleted := delete_newest(model.objects.filter(assistant_id=assistant_id)):
            return deleted
    for character in ObjectDB.objects.filter(scriptdb=assistant_id):
        for store in STORES.values():
            store.drop(character)
        ids = attributes_of(character, *STORES).values_list("id", flat=True)[:SEGMENTS_A_CHUNK]
        mark_for_deletion(character.id)
        return int(Attribute.objects.filter(id__in=list(ids)).delete()[0])
    return 0
