"""The names of objects as people read them, and those of speakers in the tables."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from evennia.objects.models import ObjectDB
from evennia.utils.ansi import strip_ansi

from evennia_ai import models
from evennia_ai.policy.audience import people_among
from evennia_ai.policy.call_record import lock_sentence, read_locks
from evennia_ai.policy.records.memory_listing import NamesByDbref, named
from evennia_ai.policy.records.record import Record, people_in
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.store.attributes import numbers_of

NAME_CHARS = 200


@lru_cache(maxsize=1_024)
def plain_name(name: str) -> str:
    """Return a name as people read it: without Evennia's markup and links; "" if nothing is left.

    It has no colons: in a prompt, what follows one would read as the words of that person. Every
    name of an object or account comes from here, or from `names_of`.
    """
    return clean_heard(strip_ansi(name), NAME_CHARS).replace(":", " ").strip()


def own_name(obj: Any) -> str:
    """Return the key of an object or account as people read it, else its number."""
    return plain_name(str(obj.key)) or str(obj.dbref)


def names_of(dbrefs: Iterable[str]) -> dict[str, str]:
    """Return the names of objects by dbref, without those that are deleted. One query."""
    rows = ObjectDB._base_manager.filter(id__in=numbers_of(people_among(dbrefs)))  # all shards
    names = rows.values_list("id", "db_key")
    return {f"#{number}": plain_name(key) or f"#{number}" for number, key in names}


def list_names(dbrefs: Sequence[str]) -> str:
    """Return the names of objects with commas; a deleted one keeps its number."""
    return named(dbrefs, names_of(dbrefs))


def locks_of(stored: str) -> list[str]:
    """Return the locks that a tool call asked, with their answers, as sentences. One query."""
    locks = read_locks(stored)
    names = names_of({who for lock in locks for who in (lock.of, *lock.passed)})
    return [lock_sentence(lock, names) for lock in locks]


def names_in(*records: Record, besides: Iterable[str] = ()) -> NamesByDbref:
    """Return the names of everybody in some records, by dbref. One query."""
    return names_of(frozenset(besides).union(*map(people_in, records)))


def dbrefs_named(name: str) -> list[str]:
    """Return the objects with a name, in upper or lower case, oldest first."""
    rows = ObjectDB._base_manager.filter(db_key__iexact=name).order_by("id")
    return [f"#{number}" for number in rows.values_list("id", flat=True)]


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
