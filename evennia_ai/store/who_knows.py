"""Which characters know somebody."""

from __future__ import annotations

from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB

from evennia_ai import models
from evennia_ai.ports.goal_records import DayPlan, Goals
from evennia_ai.ports.journal import Journal, JournalArchive
from evennia_ai.ports.profiles import EntityProfiles
from evennia_ai.store.attributes import SCRIPT_KEY, rows_about
from evennia_ai.store.forget_words import rows_of
from evennia_ai.store.memory_editor import UndoSteps

# The journal comes before what is made of it.
KNOWLEDGE = (Journal, JournalArchive, EntityProfiles, UndoSteps, Goals, DayPlan)
STORES = {store.kind: store for store in KNOWLEDGE}


def count_traces(dbref: str, assistant: int | None = None) -> int:
    """Return how many messages of somebody, and answers to them, one or all logs have."""
    turns = models.Turn.objects.filter(events__speaker=dbref).values("id")
    rows = rows_of(models.Message, assistant)
    # Two queries: for an OR of both, PostgreSQL reads the whole table.
    answers = rows.filter(turn__in=turns).exclude(role="user").exclude(speaker=dbref)
    return int(rows.filter(speaker=dbref).count() + answers.count())


def assistants_who_know(dbref: str) -> list[int]:
    """Return the ids of the assistants whose logs or records concern somebody."""
    rows = models.Event.objects.filter(speaker=dbref).values_list("assistant_id", flat=True)
    who_know = ObjectDB.objects.filter(db_attributes__in=rows_about(dbref, STORES))
    assistants = ScriptDB.objects.filter(db_key=SCRIPT_KEY, db_obj__in=who_know)
    return sorted({*rows.distinct(), *assistants.values_list("id", flat=True)})


def is_known(dbref: str, assistant: int | None = None) -> bool:
    """Return True if the tables or the characters, or one of these, hold anything of somebody."""
    if assistant is not None:
        return assistant in assistants_who_know(dbref)
    told = models.SharedEntry.objects.filter(people__contains=f" {dbref} ")
    reports = models.Report.objects.filter(reporter=dbref)
    heard = models.Event.objects.filter(speaker=dbref)
    return bool(
        heard.exists()
        or assistants_who_know(dbref)
        or count_traces(dbref)
        or told.exists()
        or reports.exists()
    )
