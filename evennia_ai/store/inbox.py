"""One assistant's inbox in the database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from evennia_ai import models
from evennia_ai.messages import PERCEIVED, Heard, InboxEvent
from evennia_ai.policy.records.segments import people_field
from evennia_ai.ports import OpenEvents
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.processes import SingleProcess
from evennia_ai.store.rows import COPIED, event_from_row
from evennia_ai.store.statements import insert, select

WAITING, CLAIMED, OVERHEARD, DOUBTFUL = "waiting", "claimed", "overheard", "doubtful"
OWED = (WAITING, DOUBTFUL)
ALONE = SingleProcess(0)
EXPIRED = "expired"


class TableInbox:
    """The inbox of one assistant: an event is stored before any model is called (P1)."""

    def __init__(
        self,
        assistant_id: int,
        now: Callable[[], datetime],
        process: SingleProcess = ALONE,
    ) -> None:
        self.assistant_id = assistant_id
        self.now = now
        self.process = process

    def put(self, heard: Heard) -> int:
        """Store an event; returns its id."""
        row = event_row(self.assistant_id, heard, self.now(), self.process.epoch)
        with brief_transaction():
            insert(row)
        return int(row.id)

    def open_events(self) -> OpenEvents:
        """Return the events that need an answer of this process and have none, in one query.

        Those of other processes that live are left to them: their players hear the answer.
        """
        by_state: dict[str, list[InboxEvent]] = {WAITING: [], DOUBTFUL: []}
        others = self.process.others
        rows = select(models.Event, assistant_id=self.assistant_id, state=OWED)
        for row in (row for row in rows if row.epoch not in others):
            by_state[row.state].append(event_from_row(row))
        return OpenEvents(tuple(by_state[WAITING]), tuple(by_state[DOUBTFUL]))

    def overheard(self) -> Sequence[InboxEvent]:
        """Return the events that the next turn adds to the conversation, oldest first."""
        return overheard_by(self.assistant_id)

    def close(self, event_ids: Sequence[int], state: str, reason: str = "") -> None:
        """Close events as answered, excused, noted or expired, with a reason."""
        with brief_transaction():
            models.Event.objects.filter(id__in=event_ids).update(state=state, reason=reason)

    def is_owed(self, event_ids: Iterable[int]) -> bool:
        """Return True if one of some events still needs an answer."""
        return bool(self._in_states(WAITING, CLAIMED, DOUBTFUL).filter(id__in=event_ids).exists())

    def recent_partners(self, seconds: float) -> dict[str, datetime]:
        """Return the last time of an answered event by speaker, for the last seconds."""
        since = self.now() - timedelta(seconds=seconds)
        rows = self._in_states("answered").filter(at__gte=since).order_by("at")
        return dict(rows.values_list("speaker", "at"))

    def times_of_assistants(self, since: datetime) -> list[datetime]:
        """Return the times since which assistants said what needed an answer and got or gets it."""
        rows = self._in_states(WAITING, CLAIMED, DOUBTFUL, "answered", "excused")
        return list(rows.filter(hops__gt=0, at__gte=since).values_list("at", flat=True))

    def has_perceived(
        self, kind: str, actor: str, item: str = "", name: str = "", since: datetime | None = None
    ) -> bool:
        """Return True if the game itself told of such an event by an actor since a time.

        ``item`` is the dbref of the thing that it was about, and ``name`` its name in any case;
        both may be empty.
        """
        rows = models.Event.objects.filter(
            assistant_id=self.assistant_id, nature=PERCEIVED, kind=kind, speaker=actor
        )
        if item:
            rows = rows.filter(item=item)
        if name:
            rows = rows.filter(text__iexact=name)
        if since is not None:
            rows = rows.filter(at__gte=since)
        return bool(rows.exists())

    def _in_states(self, *states: str) -> Any:
        return models.Event.objects.filter(assistant_id=self.assistant_id, state__in=states)


def overheard_by(assistant_id: int) -> list[InboxEvent]:
    """Return what an assistant overheard and no turn has taken yet, oldest first."""
    rows = select(models.Event, assistant_id=assistant_id, state=OVERHEARD)
    return [event_from_row(row) for row in rows]


def not_of(others: Collection[int], rows: Any) -> Any:
    """Return the events that no other live process heard."""
    return rows.exclude(epoch__in=others) if others else rows


def event_row(
    assistant_id: int, heard: Heard, at: datetime, epoch: int | None = None
) -> models.Event:
    """Return something heard as an unsaved row."""
    return models.Event(
        assistant_id=assistant_id,
        at=at,
        epoch=epoch,
        audience=sorted(heard.audience),
        authors=people_field(heard.authors) if heard.authors else "",
        state=WAITING if heard.addressed else OVERHEARD,
        **{name: getattr(heard, name) for name in COPIED},
    )
