"""The fair waiting line."""

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.limits.fair_queue import FairQueue


def take(queue):
    item = next(queue.in_turn())
    queue.remove(item)
    return item


def drain(queue):
    return [take(queue) for _ in range(len(queue))]


def test_one_owner_is_served_in_order():
    queue = FairQueue()
    for item in range(3):
        queue.put(item, "a")
    assert drain(queue) == [0, 1, 2]


def test_a_flood_of_one_owner_holds_nobody_else_up():
    queue = FairQueue()
    for item in range(100):
        queue.put(f"a{item}", "a")
    queue.put("b0", "b")
    queue.put("c0", "c")
    assert [take(queue) for _ in range(4)] == ["a0", "b0", "c0", "a1"]


def test_background_work_comes_last():
    queue = FairQueue()
    queue.put("habit", "a", background=True)
    queue.put("answer", "a")
    assert drain(queue) == ["answer", "habit"]


def test_an_item_can_leave_the_line():
    queue = FairQueue()
    for item in range(3):
        queue.put(item, "a")
    queue.remove(1)
    queue.remove(1)
    assert 1 not in queue
    assert drain(queue) == [0, 2]


def test_the_turns_are_told_in_advance():
    queue = FairQueue()
    for item, owner in (("a0", "a"), ("a1", "a"), ("b0", "b"), ("a2", "a"), ("c0", "c")):
        queue.put(item, owner)
    queue.put("habit", "b", background=True)
    expected = ["a0", "b0", "c0", "a1", "a2", "habit"]
    assert list(queue.in_turn()) == expected
    assert drain(queue) == expected
    assert list(queue.in_turn()) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.booleans())))
def test_everything_put_is_taken_once_or_removed(steps):
    queue = FairQueue()
    left = []
    for item, (owner, background, then_remove) in enumerate(steps):
        queue.put(item, owner, background)
        if then_remove:
            queue.remove(item)
        else:
            left.append(item)
    assert len(queue) == len(left)
    assert sorted(queue) == left
    assert sorted(drain(queue)) == left
