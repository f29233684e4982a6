"""Writing to the log when the database is busy: again after a moment, a few times."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.internet.task import deferLater

from evennia_ai.errors import StoreUnavailable

T = TypeVar("T")

PAUSES_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.5)


@inlineCallbacks
def persist(clock: Any, write: Callable[[], T]) -> Generator[Deferred[Any], Any, T]:
    """Do one write of a store, which is done whole or not at all, so that it may be done again.

    Fires with its result; fails with StoreUnavailable where the database stays busy for longer
    than all `PAUSES_S` together.
    """
    for pause_s in PAUSES_S:
        try:
            return write()
        except StoreUnavailable:
            yield deferLater(clock, pause_s, lambda: None)
    return write()
