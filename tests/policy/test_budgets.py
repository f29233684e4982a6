"""Budgets of tokens a day."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.limits.budgets import ASSISTANT, PLAYER, WHOLE_GAME, Budgets, Charge

TODAY, TOMORROW = date(2026, 1, 1), date(2026, 1, 2)
MIRA, ANN, BOB = (ASSISTANT, "1"), (PLAYER, "#5"), (PLAYER, "#6")


def charge(mira=None, ann=None, game=None):
    return Charge({MIRA: mira, ANN: ann, WHOLE_GAME: game})


def budgets(**spent):
    kept = Budgets()
    kept.begin_day(TODAY, spent.get("spent", {}))
    return kept


def test_without_limits_nothing_is_ever_used_up():
    assert budgets(spent={MIRA: 10**9}).exhausted(charge(), 10**9) is None


def test_the_account_that_is_used_up_is_named():
    kept = budgets(spent={ANN: 90})
    assert kept.exhausted(charge(mira=1_000, ann=100), 10) is None
    assert kept.exhausted(charge(mira=1_000, ann=100), 11) == ANN


def test_what_is_reserved_cannot_be_spent_twice():
    kept = budgets()
    kept.reserve(charge(game=100), 60)
    assert kept.exhausted(charge(game=100), 60) == WHOLE_GAME


def test_what_a_call_did_not_use_is_given_back():
    kept = budgets()
    kept.settle(kept.reserve(charge(game=100), 60), 10)
    assert kept.exhausted(charge(game=100), 90) is None
    assert kept.exhausted(charge(game=100), 91) == WHOLE_GAME


def test_players_share_what_they_set_off_together():
    kept = budgets()
    both = Charge({MIRA: None, ANN: None, BOB: None, WHOLE_GAME: None})
    kept.settle(kept.reserve(both, 100), 100)
    assert kept.spent == {MIRA: 100, ANN: 50, BOB: 50, WHOLE_GAME: 100}


def test_a_new_day_begins_with_what_the_log_knows_and_forgets_yesterday():
    kept = budgets(spent={WHOLE_GAME: 100})
    late = kept.reserve(charge(), 50)
    kept.begin_day(TOMORROW, {})
    kept.settle(late, 50)
    assert kept.spent == kept.reserved == {}


def test_a_limit_of_zero_allows_nothing():
    assert budgets().exhausted(charge(ann=0), 1) == ANN


@given(st.lists(st.tuples(st.integers(0, 1_000), st.integers(0, 1_000))))
def test_nothing_stays_reserved_when_all_calls_have_ended(calls):
    kept = budgets()
    open_calls = [(kept.reserve(charge(), asked), used) for asked, used in calls]
    for reservation, used in open_calls:
        kept.settle(reservation, used)
    assert kept.reserved == {}
    assert kept.spent.get(WHOLE_GAME, 0) == sum(used for _, used in calls)
