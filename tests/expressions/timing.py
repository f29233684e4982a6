"""The processor time of a regular expression on its most hostile text."""

import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.expressions.found import ALL_MATCHES, WHOLE_CHARS, Expression
from tests.expressions.hostile import Maker, makers

TOO_LONG_S = 0.1
FIRST_CHARS = 40
NOISE_S = 0.004  # below this, a growth says nothing
GROWTH = 2.6  # of the time, at twice the length
BAD_S = 0.02  # four times what an expression may take; under load the slowest took 8 ms
REPEATS = 3
TRIES = 5  # to find the growth; what else the machine does slows some of them down


@dataclass(frozen=True)
class Cost:
    """The worst that was found for an expression: the seconds for a text of some length."""

    expression: Expression
    seconds: float
    chars: int
    maker: Maker

    @property
    def text(self) -> str:
        return self.maker(self.chars)

    @property
    def is_whole(self) -> bool:
        """False if it took too long before the text had its full length."""
        return self.chars >= self.expression.most_chars


def worst(expression: Expression, most: int = 24) -> Cost:
    """Return the highest cost of hostile texts at full length, or one that took too long.

    ``most`` is the number of texts made for this expression, beside those for all.
    """
    costs = [_cost(expression, maker) for maker in makers(expression.pattern, most)]
    return max(costs, key=lambda cost: (not cost.is_whole, cost.seconds))


def grows_too_fast(cost: Cost) -> bool:
    """Return True if twice the text always takes much more than twice the time."""
    if cost.seconds < NOISE_S:
        return False
    half_text = cost.maker(cost.chars // 2)
    return all(_grows(cost.expression, half_text, cost.text) for _ in range(TRIES))


def _grows(expression: Expression, half_text: str, whole_text: str) -> bool:
    whole = seconds_of(expression, whole_text, REPEATS)
    if whole > BAD_S:
        return True
    return whole > NOISE_S and whole > GROWTH * seconds_of(expression, half_text, REPEATS)


def _cost(expression: Expression, maker: Maker) -> Cost:
    """Return the cost at full length; grow towards it, so that a bad expression ends early."""
    most = expression.most_chars
    chars = min(FIRST_CHARS, most)
    while True:
        seconds = seconds_of(expression, maker(chars), times=1)
        if seconds > TOO_LONG_S or chars >= most:
            return Cost(expression, seconds, chars, maker)
        chars = min(most, chars * (8 if seconds < 1e-4 else 2))


def seconds_of(expression: Expression, text: str, times: int) -> float:
    """Return the least processor time of several runs of the slowest method, in seconds."""
    return max(
        min(_run(expression.pattern, method, text) for _ in range(times))
        for method in sorted(expression.methods)
    )


def function_grows_too_fast(function: Callable[[str], object], piece: str) -> bool:
    """Return True if a function of a text made of one piece takes much more for twice the text."""

    def seconds(chars: int) -> float:
        text = (piece * chars)[:chars]
        times = []
        for _ in range(REPEATS):
            began = time.thread_time()
            function(text)
            times.append(time.thread_time() - began)
        return min(times)

    return all(
        (whole := seconds(WHOLE_CHARS)) > NOISE_S and whole > GROWTH * seconds(WHOLE_CHARS // 2)
        for _ in range(TRIES)
    )


def _run(pattern: re.Pattern[str], method: str, text: str) -> float:
    began = time.thread_time()
    try:
        with _stopped_after(TOO_LONG_S):
            _search(pattern, method, text)
    except TimeoutError:
        pass
    return time.thread_time() - began


def _search(pattern: re.Pattern[str], method: str, text: str) -> None:
    if method in ("sub", "subn"):
        pattern.sub("", text)
    elif method in ALL_MATCHES:
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, method)(text)


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block after so much processor time; `re` lets signals in."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
