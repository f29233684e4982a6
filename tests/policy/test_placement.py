"""Which endpoint and which slot a call gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.errors import (
    Busy,
    ContextOverflow,
    DeadlineExceeded,
    ProviderMisconfigured,
    ProviderRejected,
    ProviderUnavailable,
    QuotaExhausted,
)
from evennia_ai.policy.limits.endpoints import (
    Place,
    Slot,
    choose_place,
    choose_slot,
    may_go_elsewhere,
    patience_s,
)

FULL = {"in_flight": 2, "most": 2}


@pytest.mark.parametrize(
    ("places", "chosen"),
    [
        ([Place(in_flight=1, most=2), Place(most=2)], 1),
        ([Place(cost=5.0), Place(cost=2.0)], 1),
        ([Place(in_flight=3, most=4, cost=2.0), Place(in_flight=1, most=4, cost=5.0)], 1),
        ([Place(in_flight=3, most=8, cost=2.0), Place(most=8, cost=5.0)], 0),
        ([Place(calls=4, most=2), Place(calls=4, most=4)], 1),
        ([Place(cost=float("inf")), Place(cost=9.0)], 1),
        ([Place(admits=False), Place(in_flight=7)], 1),
        ([Place(tried=True), Place(in_flight=7)], 1),
        ([Place(tried=True), Place(admits=False)], 0),
        ([Place(tried=True), Place(**FULL)], None),
        ([Place(**FULL), Place(**FULL)], None),
        ([Place(admits=False), Place(admits=False)], None),
        ([], None),
    ],
)  # fmt: skip
def test_a_new_call_goes_where_there_is_room_at_the_least_cost(places, chosen):
    assert choose_place(places, 9.0) == chosen


@pytest.mark.parametrize(
    ("warm", "patience", "chosen"),
    [
        (Place(warm=True, in_flight=1, most=2, cost=9.0), 0.0, 0),
        (Place(warm=True, **FULL, free_in_s=3.0), 3.0, None),
        (Place(warm=True, **FULL, free_in_s=3.1), 3.0, 1),
        (Place(warm=True, **FULL), 0.0, 1),
        (Place(warm=True, admits=False), 9.0, 1),
        (Place(warm=True, tried=True), 9.0, 1),
    ],
)
def test_a_character_goes_to_its_last_endpoint_and_waits_there_while_that_pays(
    warm, patience, chosen
):
    assert choose_place([warm, Place(most=2)], patience) == chosen


def test_patience_is_half_of_what_reading_anew_takes_and_a_quarter_of_the_time_left():
    assert patience_s(3_000, 300.0, 100.0) == 5.0
    assert patience_s(3_000, 300.0, 8.0) == 2.0
    assert patience_s(3_000, None, 8.0) == 0.0


@pytest.mark.parametrize(
    ("error", "goes"),
    [
        (ProviderUnavailable("down"), True),
        (ProviderMisconfigured("no key"), True),
        (QuotaExhausted("used up"), True),
        (ProviderUnavailable("broke off", begun=True), False),
        (DeadlineExceeded("late"), False),
        (Busy("full"), False),
        (ProviderRejected("no"), False),
        (ContextOverflow("long"), False),
    ],
)
def test_only_what_another_endpoint_may_answer_is_asked_there(error, goes):
    assert may_go_elsewhere(error) == goes


# --- slots ----------------------------------------------------------------------------------------


def test_a_new_character_takes_an_unused_slot_before_anothers():
    assert choose_slot([Slot("1", 1), Slot()], "2") == 1
    assert choose_slot([Slot("1", 2), Slot("3", 1)], "2") == 1


def test_a_character_keeps_its_slot_unless_that_is_busy():
    slots = [Slot("1", 3), Slot("2", 1), Slot("3", 2)]
    assert choose_slot(slots, "3") == 2
    slots[2].busy = True
    assert choose_slot(slots, "3") == 1


def test_without_an_idle_slot_the_server_chooses():
    assert choose_slot([Slot("1", 1, busy=True)], "1") is None
    assert choose_slot([], "1") is None


@given(st.lists(st.integers(0, 5), max_size=60), st.integers(1, 6))
def test_the_slots_hold_those_who_spoke_last(speakers, count):
    slots = [Slot() for _ in range(count)]
    for used, speaker in enumerate(map(str, speakers), 1):
        slots[choose_slot(slots, speaker)] = Slot(speaker, used)
    latest = list(dict.fromkeys(map(str, reversed(speakers))))[:count]
    assert {slot.owner for slot in slots} - {None} == set(latest)
