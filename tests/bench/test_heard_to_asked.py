"""The time from a line that is heard to the model call, by the length of the log."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import scaling_runs, stores
from tests.bench.figures import Sheet

MOST_MS = 5.0
MOST_TIMES = {2_000: 1.3, 10_000: 1.6}  # that with a hundred messages


@pytest.mark.parametrize("database", stores.DATABASES)
def test_from_hearing_to_asking(
    database: str, tmp_path: Path, sheet: Callable[[str], Sheet]
) -> None:
    """A long log is compacted as in a game: 100 lines of it are in view."""
    paper = sheet(f"heard to asked, {database}")
    with stores.games_on(database, tmp_path) as games:
        rows = list(scaling_runs.of_histories(games, [100, *MOST_TIMES]))
    took = {row.size: row.value for row in rows if row.figure == "heard_to_asked_ms"}
    first = {row.size: row.value for row in rows if row.figure == "first_heard_to_asked_ms"}
    paper.add("100 messages, median", took[100], "ms", MOST_MS)
    for size, most in MOST_TIMES.items():
        paper.add(f"{size:,} messages, median", took[size], "ms")
        paper.add("  times that of 100", took[size] / took[100], "", most)
    for size, ms in first.items():
        paper.add(f"{size:,} messages, the first time after a start", ms, "ms")
    paper.check()
