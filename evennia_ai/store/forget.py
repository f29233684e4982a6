"""Forgetting a player: his words, and every answer that may hold them, in all logs."""

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
    """The rows that hold what somebody said or what was said to him, children first.

    A turn set off by several players is forgotten for all of them: its answer may quote each. So
    may every summary of an assistant that heard him: all of its compactions go, and what is left
    of the talk is summed up anew when there is need. A pass of sleep goes where an error of it may
    quote somebody.
    """
    words = models.Message.objects.filter(speaker=dbref).values("assistant_id")
    # Retention may have deleted the words, but not the last event of anybody.
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
    """How many messages would be forgotten."""
    messages = (rows for rows in traces(dbref) if rows.model is models.Message)
    return sum(rows.count() for rows in messages)


def assistants_who_know(dbref: str) -> list[int]:
    """Ids of the assistants whose logs, journals or profiles hold something of somebody."""
    rows = models.Event.objects.filter(speaker=dbref).values_list("assistant_id", flat=True)
    who_know = ObjectDB.objects.filter(db_attributes__in=rows_about(dbref, STORES))
    minds = ScriptDB.objects.filter(db_key=SCRIPT_KEY, db_obj__in=who_know)
    return sorted({*rows.distinct(), *minds.values_list("id", flat=True)})


def forget_chunk(dbref: str) -> int:
    """Delete up to 500 rows; returns how many, 0 when nothing is left.

    In chunks, since one large deletion would hold the reactor (measured).
    """
    for rows in traces(dbref):
        if deleted := delete_newest(rows):
            return deleted
    return forget_knowledge(dbref)


def delete_newest(rows: Any) -> int:
    """Delete the newest 500 of some rows; returns how many.

    Newest first, since a compaction refers to the one before it.
    """
    ids = list(rows.order_by("-id").values_list("id", flat=True)[:CHUNK])
    if rows.model is models.SharedEntry:
        delete_entries(ids)
    else:
        delete_rows(rows.model, ids)
    return len(ids)


def forget_knowledge(dbref: str) -> int:
    """Remove what concerns somebody from one piece of a journal or of profiles; returns how many
    entries, 0 when nothing is left."""
    found = rows_about(dbref, STORES).values_list("id", "db_key", "db_attrtype").first()
    if found is None:
        return 0
    row_id, key, kind = found
    for character in ObjectDB.objects.filter(db_attributes=row_id):
        mark_for_deletion(character.id)
        return STORES[kind].of(character).segments.forget_row(key, dbref)
    Attribute.objects.filter(id=row_id).delete()
    return 1
