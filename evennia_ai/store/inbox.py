"""What assistants hear, stored before any model is asked (P1): at once, or together."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from twisted.logger import Logger

from evennia_ai import models
from evennia_ai.messages import PERCEIVED, InboxEvent, IncomingEvent
from evennia_ai.models.fields import new_token
from evennia_ai.policy.records.record import people_field
from evennia_ai.ports import OpenEvents
from evennia_ai.store.rows import COPIED, event_from_row, insert_rows
from evennia_ai.store.transactions import brief_transaction, store_errors

log = Logger()

WAITING, CLAIMED, OVERHEARD, DOUBTFUL = "waiting", "claimed", "overheard", "doubtful"
OWED = (WAITING, DOUBTFUL)
EXPIRED = "expired"


class TableInbox:
    """The inbox of one assistant."""

    def __init__(self, assistant_id: int, now: Callable[[], datetime]) -> None:
        self.assistant_id = assistant_id
        self.now = now

    def put(self, event: IncomingEvent) -> int:
        """Store an event, once if it has a token; returns its id."""
        return store_events([(self.assistant_id, event)], self.now())[0]

    def open_events(self) -> OpenEvents:
        """Return the events that need an answer and have none, in one query."""
        by_state: dict[str, list[InboxEvent]] = {WAITING: [], DOUBTFUL: []}
        for row in _oldest_first(self._in_states(*OWED)):
            by_state[row.state].append(event_from_row(row))
        return OpenEvents(tuple(by_state[WAITING]), tuple(by_state[DOUBTFUL]))

    def overheard(self) -> Sequence[InboxEvent]:
        """Return the events that the next turn adds to the conversation, oldest first."""
        return overheard_by(self.assistant_id)

    def close(self, event_ids: Sequence[int], state: str, reason: str = "") -> None:
        """Close events as answered, excused, noted or expired, with a reason."""
        with brief_transaction(self.assistant_id, is_one_statement=True):
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
        """Return when assistants said what got an answer or needs one; raises StoreUnavailable."""
        rows = self._in_states(WAITING, CLAIMED, DOUBTFUL, "answered", "excused")
        with store_errors():
            return list(rows.filter(hops__gt=0, at__gte=since).values_list("at", flat=True))

    def has_perceived(
        self, kind: str, actor: str, item: str = "", name: str = "", since: datetime | None = None
    ) -> bool:
        """Return True if the game itself told of such an event; ``item`` is a dbref, or ""."""
        wanted = {"item": item, "text__iexact": name, "at__gte": since}
        rows = models.Event.objects.filter(
            assistant_id=self.assistant_id,
            evidence=PERCEIVED,
            kind=kind,
            speaker=actor,
            **{field: value for field, value in wanted.items() if value},
        )
        return bool(rows.exists())

    def _in_states(self, *states: str) -> Any:
        return models.Event.objects.filter(assistant_id=self.assistant_id, state__in=states)


def store_events(events: Sequence[tuple[int, IncomingEvent]], at: datetime) -> list[int]:
    """Store events for assistants, each once if it has a token, in one transaction.

    Returns their ids; raises StoreUnavailable, and Moved if one of the assistants is elsewhere.
    """
    rows = [event_row(assistant_id, event, at) for assistant_id, event in events]
    alone = len(rows) == 1
    with brief_transaction(*{row.assistant_id for row in rows}, is_one_statement=alone):
        return [int(row.id) for row in insert_rows(rows, "token")]


def overheard_by(assistant_id: int) -> list[InboxEvent]:
    """Return what an assistant overheard and no turn has taken yet, oldest first."""
    rows = models.Event.objects.filter(assistant_id=assistant_id, state=OVERHEARD)
    return [event_from_row(row) for row in _oldest_first(rows)]


def _oldest_first(rows: Any) -> list[models.Event]:
    # Sorted here: with ORDER BY, SQLite would read all events of an assistant by their ids.
    return sorted(rows, key=lambda row: row.id)


def event_row(assistant_id: int, event: IncomingEvent, at: datetime) -> models.Event:
    return models.Event(
        assistant_id=assistant_id,
        at=at,
        audience=sorted(event.audience),
        authors=people_field(event.authors) if event.authors else "",
        state=WAITING if event.addressed else OVERHEARD,
        token=event.token or new_token(),
        **{name: getattr(event, name) for name in COPIED},
    )
