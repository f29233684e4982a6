"""A budget of a day: what is reserved, spent and shared."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.contrib.costs.budgets import (
    ASSISTANT,
    PLAYER,
    ROOMY,
    TIGHT,
    TOKENS,
    USED_UP,
    WHOLE_GAME,
    Budget,
    BudgetUse,
    paid_by_players,
)
from evennia_ai.messages import Usage

TODAY, TOMORROW = date(2026, 1, 1), date(2026, 1, 2)
MIRA, ANN, BOB = (ASSISTANT, "1"), (PLAYER, "#5"), (PLAYER, "#6")


@pytest.mark.parametrize(
    ("spent", "level"), [(0, ROOMY), (79, ROOMY), (80, TIGHT), (99, TIGHT), (100, USED_UP)]
)
def test_a_budget_is_tight_from_four_fifths_on(spent, level):
    assert BudgetUse(WHOLE_GAME, TOKENS, spent, 100).level == level
    assert BudgetUse(WHOLE_GAME, TOKENS, spent, 100, refused=True).level == USED_UP


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


@settings(deadline=None)  # the machine may be busy
@given(st.lists(st.tuples(st.integers(0, 1_000), st.integers(0, 1_000))))
def test_nothing_stays_reserved_when_all_calls_have_ended(calls):
    kept = ledger()
    open_calls = [(kept.reserve(ALL, asked), used) for asked, used in calls]
    for reservation, used in open_calls:
        kept.settle(reservation, used)
    assert kept.reserved == {}
    assert kept.spent.get(WHOLE_GAME, 0) == sum(used for _, used in calls)
