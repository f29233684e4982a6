"""Forgetting a player: their words, and every answer that may quote them."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.store.archive import JournalArchive
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.deleted_characters import mark_for_deletion
from evennia_ai.store.goal_records import Goals
from evennia_ai.store.journal import Journal
from evennia_ai.store.memory_editor import UndoSteps
from evennia_ai.store.plans import DayPlan
from evennia_ai.store.profiles import EntityProfiles
from evennia_ai.store.rows import delete_rows
from evennia_ai.store.segments import rows_about
from evennia_ai.store.shared_entries import delete_entries

CHUNK = 500
KNOWLEDGE = (Journal, JournalArchive, EntityProfiles, UndoSteps, Goals, DayPlan)
STORES = {store.kind: store for store in KNOWLEDGE}


def traces(dbref: str) -> list[Any]:
    """Return the rows that may hold what somebody said or was told.

    The querysets come children first. A turn that several players caused is forgotten for all of
    them, since its answer may quote each of them. For the same reason all compactions of an
    assistant that heard the player are deleted; the messages that are left are summarised again
    when needed. A sleep pass with errors is deleted too, since an error may quote somebody.
    """
    words = models.Message.objects.filter(speaker=dbref).values("assistant_id")
    # Retention may have deleted the words, but it keeps the last event of each speaker.
    events = models.Event.objects.filter(speaker=dbref).values("assistant_id")
    heard_by = ScriptDB.objects.filter(Q(id__in=words) | Q(id__in=events)).values("id")
    turns = models.Turn.objects.filter(events__speaker=dbref).values("id")
    answers = Q(turn__in=turns) & ~Q(role="user")
    return [
        models.Compaction.objects.filter(assistant_id__in=heard_by),
        models.SleepPass.objects.filter(assistant_id__in=heard_by).exclude(errors={}),
        models.Message.objects.filter(Q(speaker=dbref) | answers),
        models.ToolCall.objects.filter(turn__in=turns),
        models.Event.objects.filter(speaker=dbref),
        models.SpeakerUse.objects.filter(speaker=dbref),
        models.SharedEntry.objects.filter(people__contains=f" {dbref} "),
    ]


def count_traces(dbref: str) -> int:
    """Return how many messages "forget me" would delete."""
    messages = (rows for rows in traces(dbref) if rows.model is models.Message)
    return sum(rows.count() for rows in messages)


def assistants_who_know(dbref: str) -> list[int]:
    """Return the ids of the assistants whose logs or records concern somebody."""
    rows = models.Event.objects.filter(speaker=dbref).values_list("assistant_id", flat=True)
    who_know = ObjectDB.objects.filter(db_attributes__in=rows_about(dbref, STORES))
    assistants = ScriptDB.objects.filter(db_key=SCRIPT_KEY, db_obj__in=who_know)
    return sorted({*rows.distinct(), *assistants.values_list("id", flat=True)})


def forget_chunk(dbref: str) -> int:
    """Delete up to 500 rows about somebody; returns how many, 0 when none is left."""
    for rows in traces(dbref):
        if deleted := delete_newest(rows):
            return deleted
    return forget_knowledge(dbref)


def delete_newest(rows: Any) -> int:
    """Delete the newest 500 of some rows; returns how many."""
    # Newest first, since a compaction refers to the one before it.
    ids = list(rows.order_by("-id").values_list("id", flat=True)[:CHUNK])
    if rows.model is models.SharedEntry:
        delete_entries(ids)
    else:
        delete_rows(rows.model, ids)
    return len(ids)


def forget_knowledge(dbref: str) -> int:
    """Remove the records about somebody from one Attribute; 0 when none is left."""
    found = rows_about(dbref, STORES).values_list("id", "db_key", "db_attrtype").first()
    if found is None:
        return 0
    row_id, key, kind = found
    for character in ObjectDB.objects.filter(db_attributes=row_id):
        mark_for_deletion(character.id)
        return STORES[kind].of(character).segments.forget_row(key, dbref)
    Attribute.objects.filter(id=row_id).delete()
    return 1
