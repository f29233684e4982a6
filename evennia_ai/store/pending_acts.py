"""The acts that wait for a person, in the database.

Each change of state names the state before it, so that an act is agreed to once and runs once,
also if two people answer or a crash comes in between (P2).
"""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

from evennia_ai import models
from evennia_ai.policy.records.record import people_field
from evennia_ai.policy.staff_controls import (
    AGREED,
    CONFIRM,
    EXPIRED,
    REFUSED,
    RUNNING,
    WAITING,
    PendingToolCall,
)
from evennia_ai.store.server_lock import of_this_shard
from evennia_ai.store.transactions import brief_transaction

UNKNOWN = "unknown"
OPEN = (WAITING, AGREED, RUNNING)
KEPT = timedelta(days=30)
RUN_WITHIN = timedelta(minutes=5)  # after a person agreed
ASSIGNED = ("id", "speakers", "authors", "audience")
COPIED = tuple(item.name for item in fields(PendingToolCall) if item.name not in ASSIGNED)


def put(act: PendingToolCall) -> int:
    """Store an act that waits; returns its id. Acts that were settled long ago are deleted."""
    expire_late(act.at)
    settled = models.PendingAct.objects.exclude(state__in=OPEN)
    with brief_transaction():
        settled.filter(at__lt=act.at - KEPT).delete()
        row = models.PendingAct.objects.create(
            speakers=list(act.speakers),
            authors=people_field(act.authors),
            audience=sorted(act.audience),
            **{name: getattr(act, name) for name in COPIED},
        )
    return int(row.id)


def expire_late(now: datetime) -> None:
    """Close the acts that nobody answered or ran in time, and those that were cut off long ago.

    Those of this server, also of an assistant that is off.
    """
    rows = of_this_shard(models.PendingAct.objects.all())
    with brief_transaction():
        rows.filter(state__in=(WAITING, AGREED), expires_at__lte=now).update(state=EXPIRED)
        cut_off = rows.filter(state=RUNNING, expires_at__lte=now - RUN_WITHIN)
        cut_off.update(state=UNKNOWN)


def find(act_id: int) -> PendingToolCall | None:
    return next(map(from_row, models.PendingAct.objects.filter(id=act_id)), None)


def waiting(now: datetime, needs: str, assistant_id: int | None = None) -> list[PendingToolCall]:
    """Return the acts that wait for a person and are not too old, oldest first."""
    rows = models.PendingAct.objects.filter(state=WAITING, needs=needs, expires_at__gt=now)
    if assistant_id is not None:
        rows = rows.filter(assistant_id=assistant_id)
    return [from_row(row) for row in rows.order_by("id")]


def asked_of(person: str, now: datetime) -> PendingToolCall | None:
    """Return the act that somebody must confirm or refuse, None if there is none."""
    return next((act for act in waiting(now, CONFIRM) if act.speakers == (person,)), None)


def decide(act_id: int, person: str, agrees: bool, now: datetime) -> bool:
    """Store a person's answer; returns False if the act does not wait any more."""
    changes: dict[str, Any] = {"state": AGREED if agrees else REFUSED, "decided_by": person}
    if agrees:
        changes["expires_at"] = now + RUN_WITHIN
    rows = models.PendingAct.objects.filter(id=act_id, state=WAITING, expires_at__gt=now)
    with brief_transaction():
        return bool(rows.update(**changes))


class TablePendingActs:
    """The acts of one assistant that wait for a person (`ports.PendingActs`)."""

    def __init__(self, assistant_id: int, now: Callable[[], datetime]) -> None:
        self.assistant_id, self.now = assistant_id, now
        self._taken: int | None = None  # by a try whose commit nobody heard of

    def take(self) -> PendingToolCall | None:
        """Return the next act to run, marked as running; None if there is none.

        One that is still marked so was cut off: its outcome is unknown, and it is not run again.
        """
        rows = models.PendingAct.objects.filter(assistant_id=self.assistant_id)
        late = rows.filter(state__in=(WAITING, AGREED), expires_at__lte=self.now())
        with brief_transaction(self.assistant_id):
            rows.filter(state=RUNNING).exclude(id=self._taken).update(state=UNKNOWN)
            late.update(state=EXPIRED)
            row = rows.filter(state__in=(AGREED, RUNNING)).order_by("-state", "id").first()
            self._taken = None if row is None else row.id
            rows.filter(id=self._taken).update(state=RUNNING)
        self._taken = None
        return None if row is None else replace(from_row(row), state=RUNNING)

    def finish(self, id: int, state: str, result: str) -> None:
        """Store the outcome of an act that ran."""
        with brief_transaction(self.assistant_id):
            rows = models.PendingAct.objects.filter(id=id, state=RUNNING)
            rows.update(state=state, result=result)


def assistants_to_act() -> list[int]:
    """Return the ids of the assistants with acts to run, or that were cut off, in one query."""
    rows = models.PendingAct.objects.filter(state__in=(AGREED, RUNNING))
    return sorted(set(of_this_shard(rows).values_list("assistant_id", flat=True)))


def people_asked(now: datetime) -> Iterable[tuple[str, int]]:
    """Return whose confirmation is waited for, each with the id of the act."""
    return [(act.speakers[0], act.id) for act in waiting(now, CONFIRM)]


def from_row(row: models.PendingAct) -> PendingToolCall:
    return PendingToolCall(
        id=row.id,
        speakers=tuple(row.speakers),
        authors=frozenset(row.authors.split()),
        audience=frozenset(row.audience),
        **{name: getattr(row, name) for name in COPIED},
    )
