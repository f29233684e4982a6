"""Events that the database could not store yet: kept in order and retried."""

from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from twisted.logger import Logger

from evennia_ai.errors import Moved, StoreUnavailable
from evennia_ai.scheduling import Clock, DelayedCall

log = Logger()

PAUSES_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


class QueuedWrite(Protocol):
    """What a backlog stores."""

    @property
    def speaker_name(self) -> str: ...  # for the log


T = TypeVar("T", bound=QueuedWrite)
R = TypeVar("R")  # what `store` returns


class WriteRetryQueue(Generic[T, R]):
    """A queue that stores events in order: at once, or later if the database is busy.

    ``store`` stores one event and returns its id; raises StoreUnavailable. ``stored`` is called
    with each stored event and its id; ``lost`` with each event that could not be stored after all
    `PAUSES_S`, or not at all, and the last error. No event keeps the next one waiting for good.
    """

    def __init__(
        self,
        clock: Clock,
        store: Callable[[T], R],
        stored: Callable[[T, R], None],
        lost: Callable[[T, StoreUnavailable], None],
    ) -> None:
        self._clock = clock
        self._store = store
        self._stored = stored
        self._lost = lost
        self._waiting: deque[T] = deque()
        self._retry: DelayedCall | None = None
        self._tries = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, item: T) -> None:
        """Store an event, after all that are waiting."""
        self._waiting.append(item)
        if self._retry is None or not self._retry.active():
            self._try()

    def _try(self) -> None:
        """Store the waiting events, oldest first, until one cannot be stored."""
        while self._waiting:
            try:
                event_id = self._store(self._waiting[0])
            except StoreUnavailable as error:
                self._put_off(error)
                return
            except Moved as error:
                self._lose(StoreUnavailable(str(error)))
                continue
            except Exception as error:  # noqa: BLE001  # such as text that the database cannot hold
                log.failure("an event cannot be stored; its speaker is told")
                self._lose(StoreUnavailable(f"It cannot be stored ({error})."))
                continue
            self._tries = 0
            self.note_stored(self._waiting.popleft(), event_id)

    def note_stored(self, item: T, event_id: R) -> None:
        """Call ``stored`` with a stored event; an error of a game's hook is only logged."""
        try:
            self._stored(item, event_id)
        except Exception:  # noqa: BLE001  # it must not stop the next event
            log.failure(
                "{speaker} spoke: event {id} is stored, but waking the assistant failed; its "
                "next turn answers the event",
                speaker=item.speaker_name,
                id=event_id,
            )

    def _lose(self, error: StoreUnavailable) -> None:
        """Report the oldest waiting event as lost."""
        item = self._waiting.popleft()
        try:
            self._lost(item, error)
        except Exception:  # noqa: BLE001  # the database may refuse to find the speaker, too
            log.failure("{speaker} cannot be told of a lost line", speaker=item.speaker_name)

    def clear(self) -> None:
        """Forget the waiting events, since their assistant is gone."""
        self._waiting.clear()

    def give_up(self, error: StoreUnavailable) -> None:
        """Stop the retries, and report the waiting events as lost."""
        self._tries = 0
        while self._waiting:
            self._lose(error)

    def _put_off(self, error: StoreUnavailable) -> None:
        """Plan the next retry, or give up after the last one."""
        if self._tries < len(PAUSES_S):
            self._retry = self._clock.callLater(PAUSES_S[self._tries], self._try)
            self._tries += 1
        else:
            self.give_up(error)
