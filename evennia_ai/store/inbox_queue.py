"""The queue between hearing and the inbox: what assistants hear, until the database holds it."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import uuid4

from twisted.logger import Logger

from evennia_ai.errors import Moved, StoreUnavailable
from evennia_ai.messages import IncomingEvent
from evennia_ai.scheduling import Clock, DelayedCall

log = Logger()

PAUSES_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


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
            event = replace(event, token=uuid4().hex)
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
