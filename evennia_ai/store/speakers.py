"""Whom the logs know by a name or a number, whether he is still there or not."""

from __future__ import annotations

from collections.abc import Iterable

from evennia_ai import models


def speakers_named(name: str) -> frozenset[str]:
    """Dbrefs of everybody who was heard under a name, in any case."""
    rows = models.Event.objects.filter(speaker_name__iexact=name).exclude(speaker="")
    return frozenset(rows.values_list("speaker", flat=True).distinct())


def speakers_among(dbrefs: Iterable[str]) -> frozenset[str]:
    """Those of some dbrefs of whom anything was heard."""
    rows = models.Event.objects.filter(speaker__in=dbrefs)
    return frozenset(rows.values_list("speaker", flat=True).distinct())


def last_name_of(dbref: str) -> str:
    """The name somebody was last heard under; empty where he never was."""
    names = models.Event.objects.filter(speaker=dbref).order_by("-id")
    return str(names.values_list("speaker_name", flat=True).first() or "")
