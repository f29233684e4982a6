"""Budgets of tokens a day."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.policy.limits.money import ASSISTANT, PLAYER, TOKENS, WHOLE_GAME, Ledger, add_call

TODAY, TOMORROW = date(2026, 1, 1), date(2026, 1, 2)
MIRA, ANN, BOB = (ASSISTANT, "1"), (PLAYER, "#5"), (PLAYER, "#6")
ALL = [MIRA, ANN, WHOLE_GAME]


def ledger(spent=None, **limits):
    kept = Ledger(TOKENS, lambda _day: {}, **limits)
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
