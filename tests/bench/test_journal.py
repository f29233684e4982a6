"""Writing into a journal costs the same at any length, and loading one never takes long at once.

On a database file, in write-ahead mode, with the settings that a game's server has.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from statistics import median
from typing import Any

import pytest

from tests.bench.figures import Sheet, percentile

LENGTHS = (10, 1_000, 10_000)
TIMED = 200
ADD_AT_MOST_MS = 2.0
STEP_AT_MOST_MS = 10.0
SEARCH_AT_MOST_MS = 50.0
MOST_TIMES = 2.0
AUDIENCE = frozenset({"#5"})


@pytest.fixture
def character(db: None) -> Any:
    """A character with nothing in its journal."""
    from evennia.utils.create import create_object

    from evennia_ai.assistant_character import AssistantCharacter

    return create_object(AssistantCharacter, key="Mira")


def line(number: int) -> str:
    """An entry as a game has them."""
    return f"Guest {number} told me that the toll at the north bridge is {number} pennies again."


def write(journal: Any, numbers: Iterable[int]) -> list[float]:
    """Write entries; returns the milliseconds each took."""
    return timed(
        lambda number: journal.add(
            line(number),
            source_entity="#5",
            speakers=["#5"],
            source_seqs=[number],
            audience=["#5"] if number % 5 == 0 else None,
        ),
        numbers,
    )


def timed(work: Callable[[int], Any], numbers: Iterable[int]) -> list[float]:
    """Milliseconds of each call."""
    took = []
    for number in numbers:
        began = time.perf_counter()
        work(number)
        took.append((time.perf_counter() - began) * 1000)
    return took


def steps_of(loading: Iterator[None]) -> list[float]:
    """Milliseconds of each step of a load."""
    took, began = [], time.perf_counter()
    for _ in loading:
        took.append((time.perf_counter() - began) * 1000)
        began = time.perf_counter()
    return took


def test_a_journal_of_10_000_entries(character: Any, sheet: Callable[[str], Sheet]) -> None:
    paper = sheet("Journal")
    journal, written, medians = character.journal, 0, []
    for length in LENGTHS:
        write(journal, range(written, length))
        took = write(journal, range(length, length + TIMED))
        written = length + TIMED
        medians.append(median(took))
        paper.add(f"add at {length:,}, median of {TIMED}", medians[-1], "ms", ADD_AT_MOST_MS)
        paper.add("  p99", percentile(took, 99), "ms")
    paper.add("add at 10,000, times that at 10", medians[-1] / medians[0], "", MOST_TIMES)
    took = timed(lambda _: journal.search("toll bridge 777", AUDIENCE), range(20))
    paper.add("search among 10,200, median of 20", median(took), "ms", SEARCH_AT_MOST_MS)
    took = timed(lambda number: journal.update(f"j{number + 1}", pinned=True), range(TIMED))
    paper.add(f"update, median of {TIMED}", median(took), "ms", ADD_AT_MOST_MS)
    type(journal).drop(character)
    took = steps_of(character.journal.load_steps())
    paper.add("cold load of 10,200, in all", sum(took), "ms")
    paper.add("  a step (one segment of 32), median", median(took), "ms", STEP_AT_MOST_MS)
    paper.add("  p99", percentile(took, 99), "ms")
    type(journal).drop(character)
    took = timed(lambda number: character.journal.get("j5000"), range(1))
    paper.add("cold load of one entry", took[0], "ms")
    paper.check()
