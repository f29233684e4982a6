"""The simulation finds planted bugs, each by the promise that it breaks."""

import pytest

from tests.simulation.plants import PLANTS
from tests.simulation.schedule import Simulation

MOST_GAMES = 2_000


def first_game_that_tells(promise):
    """Return the number of games until one breaks the promise, or None."""
    for seed in range(MOST_GAMES):
        if any(found.promise == promise for found in Simulation(seed).run()):
            return seed + 1
    return None


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_caught(name):
    with PLANTS[name].planted():
        games = first_game_that_tells(PLANTS[name].promise)
    assert games is not None, f"{MOST_GAMES} games did not notice that {name}"
