"""Forgetting a player: his words, and every answer that may hold them, in all logs."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from evennia_ai import models

CHUNK = 500


def traces(dbref: str) -> list[Any]:
    """The rows that hold what somebody said or what was said to him, children first.

    A turn set off by several players is forgotten for all of them: its answer may quote each.
    """
    turns = models.Turn.objects.filter(events__speaker=dbref).values("id")
    answers = Q(turn__in=turns) & ~Q(role="user")
    return [
        models.Message.objects.filter(Q(speaker=dbref) | answers),
        models.ToolCall.objects.filter(turn__in=turns),
        models.Event.objects.filter(speaker=dbref),
        models.SpeakerUse.objects.filter(speaker=dbref),
    ]


def count_traces(dbref: str) -> int:
    """How many messages would be forgotten."""
    return int(traces(dbref)[0].count())


def assistants_who_know(dbref: str) -> list[int]:
    """Ids of the assistants whose logs hold something of somebody."""
    rows = models.Event.objects.filter(speaker=dbref).values_list("assistant_id", flat=True)
    return list(rows.distinct())


def forget_chunk(dbref: str) -> int:
    """Delete up to 500 rows; returns how many, 0 when nothing is left.

    In chunks, since one large deletion would hold the reactor (measured).
    """
    for rows in traces(dbref):
        ids = list(rows.values_list("id", flat=True)[:CHUNK])
        if ids:
            chosen = rows.model.objects.filter(id__in=ids)
            chosen._raw_delete(chosen.db)
            return len(ids)
    return 0
