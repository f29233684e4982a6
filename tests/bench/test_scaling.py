"""The scaling curves of docs/operations.md, and the same talk by Evennia's own contrib."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import scaling, scaling_runs, stores
from tests.bench.figures import Sheet


def test_beside_the_contrib_of_evennia(tmp_path: Path, sheet: Callable[[str], Sheet]) -> None:
    """Printed only."""
    with stores.games_on("sqlite", tmp_path / "games") as games:
        for row in scaling_runs.of_ways(games, tmp_path):
            sheet(f"{row.size} at once: {row.curve}").add(row.figure, row.value)


@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_the_curves_are_measured_and_drawn_anew(tmp_path: Path) -> None:
    """Changes the figures that are kept, the pictures and the tables."""
    assert scaling.main("sweep", str(tmp_path)) == 0
