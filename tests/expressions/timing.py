"""The processor time of a regular expression on its most hostile text, whatever calls it."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

from tests.expressions.found import Expression
from tests.expressions.hostile import Maker, makers
from tests.growth import TIMES_LONGER, grows_like_a_square

WHOLE_CHARS = 10_000
TOO_LONG_S = 0.1
FIRST_CHARS = 625  # sixteen times as many are the whole
NOISE_S = 0.002  # below this, a growth says nothing
# ``search`` is the beginning of what ``finditer`` does, and ``sub`` does that of ``finditer``.
CALLS: dict[str, Callable[[Expression, str], object]] = {
    "sub": lambda one, text: one.reader.sub("", text),
    "fullmatch": lambda one, text: one.reader.fullmatch(text),
}


@dataclass(frozen=True)
class Cost:
    """The worst that was found for an expression: the seconds for a text of some length."""

    expression: Expression
    seconds: float
    chars: int
    maker: Maker
    call: str

    @property
    def text(self) -> str:
        return self.maker(self.chars)


def worst(expression: Expression, most: int = 24) -> Cost:
    """Return the highest cost of hostile texts at full length, or one that took too long.

    ``most`` is the number of texts made for this expression, beside those for all.
    """
    highest: Cost | None = None
    for maker, call in product(makers(expression.pattern, most), CALLS):
        cost = _cost(expression, maker, call)
        if cost.chars < WHOLE_CHARS:
            return cost
        highest = max(highest or cost, cost, key=lambda one: one.seconds)
    assert highest
    return highest


def grows_too_fast(cost: Cost) -> bool:
    """Return True if ten times the text always takes far more than ten times the time."""
    if cost.seconds < NOISE_S:
        return False

    def work(text: str) -> None:
        with stopped_after(TIMES_LONGER * TOO_LONG_S):
            CALLS[cost.call](cost.expression, text)

    return grows_like_a_square(work, cost.maker(cost.chars // TIMES_LONGER), cost.text)


def _cost(expression: Expression, maker: Maker, call: str) -> Cost:
    """Return the cost at full length; grow towards it, so that a bad expression ends early."""
    chars = FIRST_CHARS
    while True:
        seconds = seconds_of(expression, maker(chars), call)
        if seconds > TOO_LONG_S or chars >= WHOLE_CHARS:
            return Cost(expression, seconds, chars, maker, call)
        chars = min(WHOLE_CHARS, chars * (16 if seconds < 1e-4 else 2))


def seconds_of(expression: Expression, text: str, call: str) -> float:
    """Return the processor time of one call, in seconds."""
    began = time.thread_time()
    with stopped_after(TOO_LONG_S):
        CALLS[call](expression, text)
    return time.thread_time() - began


@contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Leave the block after so much processor time; `re` lets signals in."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    except TimeoutError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
