"""Money: prices of calls in whole micros."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.errors import ConfigError
from evennia_ai.policy.limits.money import (
    FREE,
    Prices,
    add_call,
    money_words,
    read_prices,
    to_micros,
)

COUNTS = st.integers(0, 10_000_000)
MONEY = st.decimals(0, 1_000, places=4)
CALLS = st.lists(st.tuples(COUNTS, COUNTS, COUNTS), max_size=50)
ASKED = {"input": 0.2, "cached": 0.05, "output": 0.8}


@given(st.tuples(MONEY, MONEY, MONEY), CALLS)
def test_the_sum_of_calls_is_off_by_at_most_half_a_micro_a_call(price, calls):
    kinds = ("input", "cached", "output")
    prices = Prices(**{kind: to_micros(one) for kind, one in zip(kinds, price, strict=True)})
    exact = Fraction(0)
    for prompt, reply, cached in calls:
        read = min(cached, prompt)
        exact += (prompt - read) * Fraction(price[0]) + read * Fraction(price[1])
        exact += reply * Fraction(price[2])
    total = sum(prices.cost(*call) for call in calls)
    assert isinstance(total, int)
    assert abs(total - exact) <= Fraction(len(calls), 2)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_more_tokens_never_cost_less(prompt, reply, cached, more):
    prices = read_prices(ASKED, "m")["m"]
    assert prices.cost(prompt + more, reply, cached) >= prices.cost(prompt, reply, cached)
    assert prices.cost(prompt, reply + more, cached) >= prices.cost(prompt, reply, cached)
    assert FREE.cost(prompt, reply, cached) == 0


def test_a_price_is_for_a_million_tokens_and_cached_ones_are_of_the_prompt():
    prices = read_prices(ASKED, "m")["m"]
    assert prices.cost(1_000_000, 0) == 200_000
    assert prices.cost(1_000_000, 0, 1_000_000) == 50_000
    assert prices.cost(1_000_000, 1_000_000, 400_000) == 940_000
    assert prices.cost(10, 0, 99) == prices.cost(10, 0, 10)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (0.2, "it must be a dictionary such as"),
        ({"input": 1}, "prices need input and output"),
        ({"input": 1, "output": 1, "hourly": 3}, "'hourly' is no price. Use input, cached and"),
        ({"input": "1", "output": 1}, "money must be a number from 0, such as 0.15, not '1'."),
        ({"input": True, "output": 1}, "not True."),
        ({"input": -1, "output": 1}, "money must be from 0 to 1,000,000,000, not -1."),
        ({"input": float("nan"), "output": 1}, "not nan."),
        ({"input": 1, "output": float("inf")}, "not inf."),
        ({"small": {"input": 1, "output": 1}, "large": 3}, "prices need input and output"),
    ],
)
def test_a_wrong_price_is_explained(value, problem):
    with pytest.raises(ConfigError) as caught:
        read_prices(value, "m")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("micros", "words"),
    [
        (0, "0.00"), (1, "<0.0001"), (99, "<0.0001"), (100, "0.0001"), (9_999, "0.0100"),
        (10_000, "0.01"), (420_000, "0.42"), (1_234_567_890, "1,234.57"),
    ],
)  # fmt: skip
def test_money_is_shown_with_as_many_digits_as_it_needs(micros, words):
    assert money_words(micros) == words


def test_calls_are_added_up_from_nothing():
    cost = add_call(add_call({}, 900, 80, 1_500), 100, 0, 20_000)
    assert cost == {"calls": 2, "tokens_in": 1_000, "tokens_out": 80, "ms": 21_500}
