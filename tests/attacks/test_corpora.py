"""Public injections and our own, by every path: nothing acts, nothing is marked up, nothing leaks.

The model obeys every text. In the short form each path meets some items, among them every order.
"""

from collections import Counter

import pytest

from tests.attacks.corpora import few, items
from tests.attacks.paths import PATHS
from tests.attacks.running import attack_all
from tests.attacks.scene import ACT, MARKUP, SECRET

pytestmark = pytest.mark.game
ITEMS = items()
FOUND = {}
# Addresses that become links are tested in test_listings.py.
KINDS = (ACT, SECRET, MARKUP)


def cases():
    """Return each path with each kind of fault."""
    return [(name, kind) for name in PATHS for kind in KINDS]


def found_on(scene, name, chosen):
    """Return the faults of a path; the tests of its kinds of fault share one campaign."""
    key = name, len(chosen)
    if key not in FOUND:
        FOUND[key] = attack_all(scene, name, chosen)
    return FOUND[key]


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "kind"), cases())
def test_nothing_comes_of_a_few_injections(scene, name, kind):
    found = found_on(scene, name, few(ITEMS))
    assert [line for line, fault in found if fault.kind == kind] == []


@pytest.mark.soak
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(("name", "kind"), cases())
def test_nothing_comes_of_any_injection(scene, name, kind):
    found = found_on(scene, name, ITEMS)
    print(f"{name}: {len(ITEMS)} items, faults {dict(Counter(fault.kind for _, fault in found))}")
    assert [line for line, fault in found if fault.kind == kind] == []
