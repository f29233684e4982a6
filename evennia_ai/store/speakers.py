"""Finding speakers in the logs by name or dbref, whether they still exist or not."""

from __future__ import annotations

from collections.abc import Iterable

from evennia_ai import models


def speakers_named(name: str) -> frozenset[str]:
    """Return the dbrefs of all speakers with a name, in upper or lower case."""
    rows = models.Event.objects.filter(speaker_name__iexact=name).exclude(speaker="")
    return frozenset(rows.values_list("speaker", flat=True).distinct())


def speakers_among(dbrefs: Iterable[str]) -> frozenset[str]:
    """Return those of some dbrefs that have an event in the logs."""
    rows = models.Event.objects.filter(speaker__in=dbrefs)
    return frozenset(rows.values_list("speaker", flat=True).distinct())


def last_name_of(dbref: str) -> str:
    """Return the name in somebody's last event, empty if they have none."""
    names = models.Event.objects.filter(speaker=dbref).order_by("-id")
    return str(names.values_list("speaker_name", flat=True).first() or "")
