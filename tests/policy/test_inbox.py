"""Which words a turn takes together, and which come too late."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.messages import InboxEvent, IncomingEvent
from evennia_ai.policy.conversation.batching import (
    GAVE_UP,
    MANY,
    TOO_OLD,
    expiry_reason,
    next_batch,
    state_after_loss,
)

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ANN, BOB = "#5", "#6"


def event(number, speaker=ANN, private=False, age_s=0.0, attempts=0, audience=None):
    heard_by = frozenset(audience or {speaker})
    heard = IncomingEvent("say", speaker, "x", f"line {number}", heard_by, private, addressed=True)
    return InboxEvent(number, NOW - timedelta(seconds=age_s), heard, attempts)


def ids(batch):
    return [e.id for e in batch.events]


def test_room_talk_of_several_players_is_one_turn():
    batch = next_batch([event(1), event(2, BOB), event(3)], frozenset({ANN, BOB}))
    assert ids(batch) == [1, 2, 3]
    assert batch.audience == {ANN, BOB}
    assert not batch.private


def test_a_whisper_never_shares_a_turn_with_room_talk_or_somebody_elses_whisper():
    events = [event(1, private=True), event(2), event(3, BOB, private=True), event(4, private=True)]
    batch = next_batch(events, frozenset({ANN, BOB}))
    assert ids(batch) == [1, 4]
    assert batch.audience == {ANN}
    assert batch.private


def test_the_oldest_words_come_first():
    assert ids(next_batch([event(1), event(2, private=True)], frozenset({ANN}))) == [1]


def test_who_is_held_back_comes_after_others_and_is_not_forgotten():
    events = [event(1, private=True), event(2, BOB, private=True)]
    present = frozenset({ANN, BOB})
    assert ids(next_batch(events, present, {ANN})) == [2]
    assert ids(next_batch(events[:1], present, {ANN})) == [1]


def test_who_has_many_lines_waiting_lets_others_go_first():
    events = [*(event(number, private=True) for number in range(MANY)), event(9, BOB, private=True)]
    present = frozenset({ANN, BOB})
    assert ids(next_batch(events, present)) == [9]
    assert ids(next_batch(events[1:], present)) == [1, 2, 3, 4]


def test_who_left_is_waited_for_and_holds_up_nobody_else():
    events = [event(1, private=True), event(2, BOB)]
    assert ids(next_batch(events, frozenset({BOB}))) == [2]
    assert next_batch(events, frozenset()) is None


def test_what_was_tried_three_times_gets_an_excuse_by_itself():
    events = [event(1), event(2, attempts=3), event(3, attempts=2)]
    present = frozenset({ANN})
    fresh = next_batch(events, present)
    assert (ids(fresh), fresh.exhausted) == ([1, 3], False)
    tired = next_batch(events[1:2], present)
    assert (ids(tired), tired.exhausted) == ([2], True)


def test_words_expire_just_after_their_age_and_when_not_even_an_excuse_came_of_them():
    events = [
        event(1, age_s=300),
        event(2, age_s=300.5),
        event(3, attempts=4),
        event(4, attempts=5),
    ]
    reasons = {one.id: expiry_reason(one, NOW, 300) for one in events}
    assert reasons == {1: None, 2: TOO_OLD, 3: None, 4: GAVE_UP}


@given(st.lists(st.tuples(st.sampled_from([ANN, BOB]), st.booleans()), min_size=1, max_size=12))
def test_batches_one_after_the_other_take_every_event_exactly_once(lines):
    left = [event(n, speaker, private) for n, (speaker, private) in enumerate(lines)]
    taken = []
    while batch := next_batch(left, frozenset({ANN, BOB})):
        taken += ids(batch)
        assert len({e.heard.private for e in batch.events}) == 1
        left = [e for e in left if e.id not in taken]
    assert sorted(taken) == list(range(len(lines)))


@pytest.mark.parametrize(
    ("acts", "was_doubtful", "state"),
    [
        ([("say", "done")], False, "answered"),
        ([("say", "intended"), ("whisper", "done")], True, "answered"),
        ([("say", "intended")], False, "doubtful"),
        ([("give", "done"), ("give", "intended")], False, "waiting"),
        ([("say", "refused"), ("say", "failed")], False, "waiting"),
        ([], False, "waiting"),
        ([], True, "doubtful"),
    ],
)
def test_after_a_crash_the_words_are_in_the_state_that_the_speech_leaves_them(
    acts, was_doubtful, state
):
    assert state_after_loss(acts, was_doubtful) == state
