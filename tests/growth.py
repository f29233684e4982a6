"""Whether the time for a text, or a list, grows with its length or with its square."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

TIMES_LONGER = 10
TOO_MUCH = 40  # times as long; a square takes a hundred times, what is linear about ten
ROUNDS = 5


def grows_like_a_square(work: Callable[[T], object], few: T, many: T) -> bool:
    """Return True if ``work(many)`` always takes far more than ten times as long as ``work(few)``.

    ``many`` is `TIMES_LONGER` times as long as ``few``. What is measured is the processor time of
    this thread; the fastest run counts, since what else goes on slows some runs down. A timer of
    `signal.ITIMER_PROF` makes that of the process too coarse.
    """
    work(few)  # compiles expressions and fills caches
    least_s = min(_seconds(work, few) for _ in range(ROUNDS))
    return all(_seconds(work, many) > TOO_MUCH * least_s for _ in range(ROUNDS))


def text_grows_like_a_square(
    work: Callable[[str], object], piece: str, most_chars: int = 20_000
) -> bool:
    """Return True if a text made of one piece takes far more time at ``most_chars`` characters."""
    many = (piece * (most_chars // len(piece) + 1))[:most_chars]
    return grows_like_a_square(work, many[: most_chars // TIMES_LONGER], many)


def _seconds(work: Callable[[T], object], given: T) -> float:
    began = time.thread_time()
    work(given)
    return time.thread_time() - began
