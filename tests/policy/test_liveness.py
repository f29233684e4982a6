"""Which server processes count as dead."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.policy.liveness import BEAT_S, DEAD_S, Watched, dead, watch


def test_a_count_that_grows_keeps_its_process_alive():
    watched = {}
    for beats, now in enumerate(range(0, 1_000, int(BEAT_S))):
        watched = watch(watched, {7: beats}, float(now))
        assert dead(watched, float(now)) == {}


def test_a_count_that_stands_still_is_dead_after_a_while_and_not_before():
    watched = watch(watch({}, {7: 3}, 100.0), {7: 3}, 110.0)
    assert watched == {7: Watched(3, 100.0)}
    assert dead(watched, 100.0 + DEAD_S - 0.1) == {}
    assert dead(watched, 100.0 + DEAD_S) == {7: 3}


def test_who_has_left_is_watched_no_more():
    assert watch({7: Watched(3, 0.0)}, {8: 1}, 5.0) == {8: Watched(1, 5.0)}


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0.01, BEAT_S), st.booleans()), max_size=60))
def test_nobody_dies_who_counted_within_the_time(looks):
    """Whatever the times of the looks: death needs `DEAD_S` without a new count."""
    watched, beats, now, last = {}, 0, 0.0, 0.0
    for pause, beats_on in looks:
        now += pause
        if beats_on:
            beats, last = beats + 1, now
        watched = watch(watched, {7: beats}, now)
        if dead(watched, now):
            assert now - last >= DEAD_S - BEAT_S
