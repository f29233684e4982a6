"""Money: prices of calls in whole micros, and budgets of a day."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.errors import ConfigError
from evennia_ai.messages import Usage
from evennia_ai.policy.limits.money import (
    ASSISTANT,
    FREE,
    PLAYER,
    ROOMY,
    TIGHT,
    TOKENS,
    USED_UP,
    WHOLE_GAME,
    Budget,
    BudgetUse,
    Prices,
    add_call,
    money_words,
    paid_by_players,
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


@pytest.mark.parametrize(
    ("spent", "level"), [(0, ROOMY), (79, ROOMY), (80, TIGHT), (99, TIGHT), (100, USED_UP)]
)
def test_a_budget_is_tight_from_four_fifths_on(spent, level):
    assert BudgetUse(WHOLE_GAME, TOKENS, spent, 100).level == level
    assert BudgetUse(WHOLE_GAME, TOKENS, spent, 100, refused=True).level == USED_UP


# --- budgets of tokens a day ----------------------------------------------------------------------


TODAY, TOMORROW = date(2026, 1, 1), date(2026, 1, 2)
MIRA, ANN, BOB = (ASSISTANT, "1"), (PLAYER, "#5"), (PLAYER, "#6")
ALL = [MIRA, ANN, WHOLE_GAME]


@pytest.mark.parametrize(
    ("usage", "share", "theirs"),
    [
        (Usage(100, 7, 80), 0.0, Usage(100, 7, 80)),
        (Usage(100, 7, 80), 0.5, Usage(50, 7, 50)),
        (Usage(100, 7, 0), 1.0, Usage(0, 7, 0)),
        (Usage(101, 7), 0.5, Usage(51, 7)),
    ],
)
def test_players_pay_the_rest_of_the_prompt_and_the_reply(usage, share, theirs):
    assert paid_by_players(usage, share) == theirs


def ledger(spent=None, **limits):
    kept = Budget(TOKENS, lambda _day: {}, **limits)
    kept.begin_day(TODAY, spent or {})
    return kept


def test_without_limits_nothing_is_ever_used_up():
    assert ledger({MIRA: 10**9}).exhausted(ALL, 10**9) is None


def test_the_account_that_is_used_up_is_named():
    kept = ledger({ANN: 90}, player=100)
    kept.own[MIRA] = 1_000
    assert kept.exhausted(ALL, 10) is None
    assert kept.exhausted(ALL, 11) == ANN


def test_what_a_call_did_not_use_is_given_back_and_no_more():
    kept = ledger(game=100)
    open_call = kept.reserve(ALL, 60)
    assert kept.exhausted(ALL, 60) == WHOLE_GAME
    kept.settle(open_call, 10)
    assert kept.exhausted(ALL, 90) is None
    assert kept.exhausted(ALL, 91) == WHOLE_GAME


def test_players_share_what_they_set_off_together():
    kept = ledger()
    kept.settle(kept.reserve([*ALL, BOB], 100), 100)
    assert kept.spent == {MIRA: 100, ANN: 50, BOB: 50, WHOLE_GAME: 100}


def test_what_players_share_is_rounded_up():
    kept = ledger()
    kept.settle(kept.reserve([*ALL, BOB], 101), 101)
    assert kept.spent == {MIRA: 101, ANN: 51, BOB: 51, WHOLE_GAME: 101}


def test_a_new_day_begins_with_what_the_log_knows_and_forgets_yesterday():
    kept = ledger({WHOLE_GAME: 100})
    late = kept.reserve(ALL, 50)
    kept.begin_day(TOMORROW, {})
    kept.settle(late, 50)
    assert kept.spent == kept.reserved == {}


def test_a_limit_of_zero_allows_nothing():
    assert ledger(player=0).exhausted(ALL, 1) == ANN


@given(st.lists(st.tuples(st.integers(0, 1_000), st.integers(0, 1_000))))
def test_nothing_stays_reserved_when_all_calls_have_ended(calls):
    kept = ledger()
    open_calls = [(kept.reserve(ALL, asked), used) for asked, used in calls]
    for reservation, used in open_calls:
        kept.settle(reservation, used)
    assert kept.reserved == {}
    assert kept.spent.get(WHOLE_GAME, 0) == sum(used for _, used in calls)


def test_calls_are_added_up_from_nothing():
    cost = add_call(add_call({}, 900, 80, 1_500), 100, 0, 20_000)
    assert cost == {"calls": 2, "tokens_in": 1_000, "tokens_out": 80, "ms": 21_500}
