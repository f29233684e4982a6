"""A stand-in for the way from a web thread to the reactor's."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from twisted.internet.defer import maybeDeferred
from twisted.internet.task import Clock
from twisted.python.failure import Failure

PAGES = "evennia_ai.contrib.staff_pages"
HAS_PAGES = find_spec(PAGES) is not None  # they may be deleted
STEP_S = 0.01
MOST_STEPS = 5_000


class SameThread:
    """Stands in for the staff pages' `GameThread` where one thread and a `Clock` do it all."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def ask(self, work: Callable[..., Any], *args: Any, wait_s: float = 0.0) -> Any:
        """Return what a function returns, or its Deferred fires with once time has passed."""
        found: list[Any] = []
        maybeDeferred(work, *args).addBoth(found.append)
        for _ in range(MOST_STEPS):
            if found:
                break
            self._clock.advance(STEP_S)
        result = found.pop()
        if isinstance(result, Failure):
            result.raiseException()
        return result

    def tell(self, work: Callable[..., Any], *args: Any) -> None:
        """Call a function at once."""
        work(*args)


def answer_pages(monkeypatch: Any, clock: Clock) -> SameThread:
    """Let the staff pages, if there are any, ask the game in the thread of the test."""
    thread = SameThread(clock)
    for name in ("access", "overview", "knowledge", "editing", "trial") if HAS_PAGES else ():
        monkeypatch.setattr(import_module(f"{PAGES}.{name}"), "game", thread)
    return thread
