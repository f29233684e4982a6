"""The processor time of every regular expression on 10,000 characters of its most hostile text."""

from collections.abc import Callable

from tests.bench.figures import Sheet
from tests.expressions.found import expressions
from tests.expressions.timing import seconds_of, worst

MOST_MS = 5.0
REPEATS = 5
MOST_TEXTS = 80


def test_every_expression_reads_hostile_text_in_time(sheet: Callable[[str], Sheet]) -> None:
    paper = sheet("regular expressions, the slowest on 10,000 characters")
    times = {}
    for one in expressions():
        cost = worst(one, MOST_TEXTS)
        times[one.place, one.pattern.pattern] = (
            min(seconds_of(one, cost.text, cost.call) for _ in range(REPEATS)) * 1_000
        )
    slowest = sorted(times, key=times.__getitem__, reverse=True)
    for key in slowest[:5]:
        paper.add(key[0], times[key], "ms", at_most=MOST_MS)
