"""What model calls cost together."""

from evennia_ai.policy.limits.budgets import NOTHING, add_call


def test_calls_are_added_up_from_nothing():
    cost = add_call(add_call({}, 900, 80, 1_500), 100, 0, 20_000)
    assert cost == {"calls": 2, "tokens_in": 1_000, "tokens_out": 80, "ms": 21_500}
    assert set(cost) == set(NOTHING)
