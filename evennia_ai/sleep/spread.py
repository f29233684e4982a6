"""Long work in small pieces, so that others have their turn in between (P6)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from twisted.internet.defer import Deferred, inlineCallbacks

T = TypeVar("T")
R = TypeVar("R")

PIECE = 20


def pause(put: Callable[..., None]) -> Deferred[None]:
    """Let others have their turn. Fires when it is ours again."""
    turn: Deferred[None] = Deferred()
    put(turn.callback, None)
    return turn


@inlineCallbacks
def spread(
    put: Callable[..., None], items: Sequence[T], work: Callable[[T], R]
) -> Generator[Deferred[Any], Any, list[R]]:
    """Do some work on each of many items, `PIECE` items at a time.

    Args:
        put: calls what it is given soon, as `Services.slices.put` does.
        items: what to work on.
        work: done on each; what it raises ends the whole.

    Fires with the results in their order.
    """
    results: list[R] = []
    for start in range(0, len(items), PIECE):
        yield pause(put)
        results += [work(item) for item in items[start : start + PIECE]]
    return results
