"""What assistants hear, stored before any model is asked (P1): at once, or together."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from twisted.logger import Logger

from evennia_ai import models
from evennia_ai.errors import Moved, StoreUnavailable
from evennia_ai.messages import PERCEIVED, InboxEvent, IncomingEvent
from evennia_ai.models.fields import new_token
from evennia_ai.policy.records.record import people_field
from evennia_ai.ports import OpenEvents
from evennia_ai.scheduling import Clock, DelayedCall
from evennia_ai.store.rows import COPIED, event_from_row, insert_rows
from evennia_ai.store.transactions import brief_transaction, store_errors

log = Logger()

WAITING, CLAIMED, OVERHEARD, DOUBTFUL = "waiting", "claimed", "overheard", "doubtful"
OWED = (WAITING, DOUBTFUL)
EXPIRED = "expired"
PAUSES_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


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


class HearingAssistant(Protocol):
    """An assistant that hears: `game.hearing.Hearing`."""

    @property
    def assistant_id(self) -> int: ...
    # Returns a line as an event and whether to store it at once, None for neither; raises
    # StoreUnavailable.
    def read(self, line: Any) -> tuple[IncomingEvent, bool] | None: ...
    def attend_to(self, event: IncomingEvent, event_id: int) -> None: ...  # it is stored
    def give_up(self, item: Any, error: StoreUnavailable) -> None: ...  # it cannot be stored


@dataclass
class WaitingLines:
    """What one assistant heard and the database does not hold yet, oldest first."""

    items: deque[Any] = field(default_factory=deque)  # events, and lines not read yet
    is_late: bool = False  # True once the database refused the first of them
    tries: int = 0  # of the first
    retry: DelayedCall | None = None


class InboxQueue:
    """Stores what assistants hear, each assistant's in order and each event once (P1).

    An event is stored at once, with all that waits; what several overhear at the end of this
    stretch, in one query for all of them: forty inserts took 16 ms, one 2 ms (measured). What the
    database refuses is tried again after each of `PAUSES_S`, with what the same assistant hears
    behind it; then all of that is given up. Nothing waits for what another assistant heard.

    ``store`` stores events for assistants and returns their ids: all of them or none, an event with
    the token of a stored one not again. It raises StoreUnavailable to be called again.
    """

    def __init__(
        self, clock: Clock, store: Callable[[Sequence[tuple[int, IncomingEvent]]], Sequence[int]]
    ) -> None:
        self._clock, self._store = clock, store
        self._waiting: dict[HearingAssistant, WaitingLines] = {}
        self._is_planned = False  # a flush at the end of this stretch

    def put(self, listener: HearingAssistant, item: Any) -> None:
        """Store an event, or a line once it is read, after all that this assistant heard before."""
        lines = self._waiting.get(listener)
        if lines and lines.is_late:
            lines.items.append(item)
            return
        try:
            event, at_once = self._read(listener, item)
        except StoreUnavailable as error:
            self._waiting.setdefault(listener, WaitingLines()).items.append(item)
            self._put_off(listener, error)
            return
        if event is None:
            return
        lines = self._waiting.setdefault(listener, WaitingLines())
        lines.items.append(event)
        if lines.is_late:  # since a hook that heard this line said another
            return
        if at_once:
            self.flush()
        elif not self._is_planned:
            self._is_planned = True
            self._clock.callLater(0, self.flush)

    def flush(self) -> None:
        """Store now what waits for the end of this stretch, but not what was refused before."""
        self._is_planned = False
        ready = [
            (listener, event)
            for listener, lines in self._waiting.items()
            if not lines.is_late
            for event in lines.items
        ]
        listeners = dict.fromkeys(listener for listener, _event in ready)
        ids: Sequence[int] = ()
        if len(ready) > 1:
            try:
                ids = self._store([(owner.assistant_id, event) for owner, event in ready])
            except Exception as error:  # noqa: BLE001  # one by one it shows which of them it is
                log.info("evennia_ai: {count} events apart: {error}", count=len(ready), error=error)
        if not ids:
            for listener in listeners:
                if listener in self._waiting:
                    self._store_waiting(listener)
            return
        for listener in listeners:
            del self._waiting[listener]
        for (listener, event), event_id in zip(ready, ids, strict=True):
            attend_to(listener, event, event_id)

    def give_up(self, listener: HearingAssistant, error: StoreUnavailable | None = None) -> None:
        """Give up what waits for an assistant; with an error, it tells the speakers."""
        lines = self._waiting.pop(listener, WaitingLines())
        if lines.retry and lines.retry.active():
            lines.retry.cancel()
        while lines.items:
            item = lines.items.popleft()
            if error:
                give_up(listener, item, error)

    def close(self, error: StoreUnavailable) -> None:
        """Store what can be stored now, and give up the rest."""
        self.flush()
        for listener in list(self._waiting):
            self.give_up(listener, error)

    def _store_waiting(self, listener: HearingAssistant) -> None:
        """Store what an assistant heard, one by one, until the database refuses one."""
        lines = self._waiting[listener]
        while lines.items:
            try:
                event, _at_once = self._read(listener, lines.items[0])
                lines.items[0] = event
                ids = self._store([(listener.assistant_id, event)]) if event else ()
            except StoreUnavailable as error:
                self._put_off(listener, error)
                return
            except Exception as error:  # noqa: BLE001  # another server has it, or no database can
                if not isinstance(error, Moved):
                    log.failure("an event cannot be stored; its speaker is told")
                problem = StoreUnavailable(f"It cannot be stored ({error}).")
                give_up(listener, lines.items.popleft(), problem)
                continue
            lines.tries = 0
            lines.items.popleft()
            for event_id in ids:
                attend_to(listener, event, event_id)
        if self._waiting.get(listener) is lines:
            del self._waiting[listener]

    def _put_off(self, listener: HearingAssistant, error: StoreUnavailable) -> None:
        """Plan the next try, or give up after the last one."""
        lines = self._waiting[listener]
        if lines.tries == len(PAUSES_S):
            self.give_up(listener, error)
            return
        pause_s = PAUSES_S[lines.tries]
        lines.is_late, lines.tries = True, lines.tries + 1
        lines.retry = self._clock.callLater(pause_s, self._store_waiting, listener)

    def _read(self, listener: HearingAssistant, item: Any) -> tuple[Any, bool]:
        """Return an event with a token, or None, and whether to store it at once.

        Raises StoreUnavailable.
        """
        event, at_once = item, True
        if not isinstance(item, IncomingEvent):
            event, at_once = listener.read(item) or (None, False)
        if event and not event.token:
            event = replace(event, token=new_token())
        return event, at_once


def attend_to(listener: HearingAssistant, event: IncomingEvent, event_id: int) -> None:
    """Let an assistant attend to a stored event; an error of a game's hook is only logged."""
    try:
        listener.attend_to(event, event_id)
    except Exception:  # noqa: BLE001  # it must not stop the next event
        log.failure(
            "{speaker} spoke: event {id} is stored, but waking the assistant failed; its next turn "
            "answers the event",
            speaker=event.speaker_name,
            id=event_id,
        )


def give_up(listener: HearingAssistant, item: Any, error: StoreUnavailable) -> None:
    """Tell an assistant of what is lost; an error is only logged."""
    try:
        listener.give_up(item, error)
    except Exception:  # noqa: BLE001  # the database may refuse to find the speaker, too
        log.failure("{speaker} cannot be told of a lost line", speaker=item.speaker_name)


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
