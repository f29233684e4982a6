"""Full garbage collections come when nobody waits, unless the game chose otherwise."""

import gc
import weakref

import pytest
from twisted.internet.task import Clock

from evennia_ai.services.timer import (
    GARBAGE_ROUND_S,
    LONGEST_S,
    LOOK_S,
    LOOKS,
    NEVER,
    NEW_SHARE,
    PYTHONS_OWN,
    GarbageTimer,
)


class Node:
    """An object that only a full collection finds once it is old."""

    def __init__(self):
        self.me = self


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def waiting():
    """Return a list of who waits for an answer."""
    return []


@pytest.fixture
def timer(clock, waiting):
    before = gc.get_threshold()
    gc.set_threshold(*before[:2], PYTHONS_OWN)
    timer = GarbageTimer(clock, lambda: not waiting)
    timer.start()
    yield timer
    timer.stop()
    gc.set_threshold(*before)
    gc.unfreeze()
    gc.freeze()  # as `tests/conftest.py` has it


def age():
    """Let what lives grow old: all younger generations are collected."""
    for _ in range(PYTHONS_OWN + 1):
        gc.collect(1)


def old_garbage():
    """Leave a cycle behind that survived the younger generations; return a reference to it."""
    node = Node()
    seen = weakref.ref(node)
    age()
    del node
    return seen


def look_on(clock, looks=LOOKS):
    clock.pump([LOOK_S] * looks)


def collect_when_quiet(clock):
    age()
    clock.advance(GARBAGE_ROUND_S)
    look_on(clock)


def test_what_lives_at_the_start_is_frozen(timer):
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold()[2] == NEVER


def test_what_survived_is_looked_at_again_once_a_quarter_came(timer, clock):
    node = Node()
    seen = weakref.ref(node)
    collect_when_quiet(clock)
    del node
    collect_when_quiet(clock)
    assert seen() is not None  # a look at all would have found it
    crowd = [[] for _ in range(int(NEW_SHARE * gc.get_freeze_count()))]
    collect_when_quiet(clock)
    assert seen() is None
    assert gc.get_freeze_count() > len(crowd)


def test_a_quarter_that_came_in_small_parts_counts_as_well(timer, clock):
    node = Node()
    seen = weakref.ref(node)
    collect_when_quiet(clock)
    del node
    part = int(NEW_SHARE * gc.get_freeze_count() / 4)
    crowd = []
    for parts in range(1, 6):
        crowd.append([[] for _ in range(part)])
        collect_when_quiet(clock)
        assert (seen() is None) == (parts >= 4)


def test_garbage_is_collected_while_nobody_waits(timer, clock):
    seen = old_garbage()
    assert seen() is not None
    clock.advance(GARBAGE_ROUND_S)
    look_on(clock)
    assert seen() is None


def test_it_waits_while_somebody_does(timer, clock, waiting):
    waiting.append("Ann")
    seen = old_garbage()
    clock.advance(GARBAGE_ROUND_S)
    assert seen() is not None
    waiting.clear()
    clock.advance(GARBAGE_ROUND_S)
    look_on(clock)
    assert seen() is None


def test_a_moment_between_two_answers_is_not_quiet(timer, clock, waiting):
    seen = old_garbage()
    clock.advance(GARBAGE_ROUND_S)
    look_on(clock, LOOKS - 1)
    waiting.append("Ann")
    look_on(clock)
    waiting.clear()
    look_on(clock, 2 * LOOKS)
    assert seen() is not None


def test_nothing_is_planned_after_the_end(timer, clock):
    old_garbage()
    clock.advance(GARBAGE_ROUND_S)
    timer.stop()
    assert not clock.getDelayedCalls()


def test_however_busy_the_game_is_memory_does_not_grow_for_ever(timer, clock, waiting):
    waiting.append("Ann")
    seen = old_garbage()
    clock.pump([GARBAGE_ROUND_S] * int(LONGEST_S / GARBAGE_ROUND_S))
    assert seen() is None


def test_at_the_end_python_collects_as_before(timer):
    timer.stop()
    assert gc.get_threshold()[2] == PYTHONS_OWN


def test_a_game_that_set_its_own_thresholds_keeps_them(clock, waiting):
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 50)
    try:
        timer = GarbageTimer(clock, lambda: True)
        timer.start()
        assert gc.get_threshold() == (700, 10, 50)
        timer.stop()
        assert gc.get_threshold() == (700, 10, 50)
    finally:
        gc.set_threshold(*before)
