"""Mutations of whatever came furthest: the attacks that had the most foreign acts tried or done.

`python -m pytest -k mutation` prints the mutations of each attack that succeeds.
"""

from itertools import cycle, islice
from random import Random

import pytest

from tests.attacks.corpora import few, items, mutated
from tests.attacks.paths import FRONT, SIDE
from tests.attacks.running import attack
from tests.attacks.scene import LINK

pytestmark = pytest.mark.game
SEED = 14
STRONGEST = 20
MUTATIONS, MUTATIONS_A_SOAK = 10, 1_000
DOORS = [
    pytest.param(FRONT, id="front"),
    pytest.param(SIDE, id="side"),
]


def strongest(scene, paths):
    """Return the (path, item) pairs that came furthest: by faults, then by tried acts."""
    tried = []
    for name in paths:
        for item in few(items()):
            faults, attempts = attack(scene, name, item)
            tried.append((len(serious(faults)), attempts, name, item))
    tried.sort(key=lambda one: one[:2], reverse=True)
    return [(name, item) for _, _, name, item in tried[:STRONGEST]]


def serious(faults):
    """Return the faults other than addresses that a web client shows as links."""
    return [fault for fault in faults if fault.kind != LINK]


def campaign(scene, paths, mutations):
    """Return a line for each mutation that something came of."""
    rng = Random(SEED)
    lines = []
    for name, item in islice(cycle(strongest(scene, paths)), mutations):
        changed = mutated(item, rng)
        faults, _ = attack(scene, name, changed)
        lines += [f"{changed.name} by {name}: {f}: {changed.text!r}" for f in serious(faults)]
    return lines


@pytest.mark.campaign
def test_nothing_comes_of_a_few_mutations(scene):
    assert campaign(scene, FRONT, MUTATIONS) == []


@pytest.mark.soak
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("paths", DOORS)
def test_nothing_comes_of_a_thousand_mutations(scene, paths):
    assert campaign(scene, paths, MUTATIONS_A_SOAK) == []
