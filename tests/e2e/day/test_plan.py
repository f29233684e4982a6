"""The plan of a day and the sorting of its evidence, without a server."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.e2e.day.evidence import Gone, without
from tests.e2e.day.plan import (
    CLOCK,
    DAY_S,
    FORGET,
    KINDS,
    LOCK,
    LOOK,
    POSTGRESQL_ONLY,
    TYPE,
    UNLOCK,
    WAYS,
    Size,
    cast_for,
    plan_day,
)
from tests.invariants import EventRow, Evidence, MessageRow, Put

SIZE = Size(rooms=4, lonely=2, minds=3, players=5, play_s=120.0, lines_per_s=3.0, faults=2, looks=3)


def test_a_seed_decides_everything() -> None:
    assert plan_day(SIZE, 1, False) == plan_day(SIZE, 1, False)
    assert plan_day(SIZE, 1, False) != plan_day(SIZE, 2, False)


@pytest.mark.parametrize("on_postgresql", [True, False])
def test_each_kind_of_trouble_comes_as_often_as_asked(on_postgresql: bool) -> None:
    steps = plan_day(SIZE, 1, on_postgresql)
    counts = Counter(step.what for step in steps)
    once = set(KINDS) - {"model", "admin"} - (set() if on_postgresql else POSTGRESQL_ONLY)
    assert {kind: counts[kind] for kind in once} == dict.fromkeys(once, SIZE.faults)
    assert counts[LOOK] == SIZE.looks and counts[LOCK] == counts[UNLOCK] and counts["model"] == 4
    assert on_postgresql or POSTGRESQL_ONLY.isdisjoint(counts)
    assert sum(step.amount for step in steps if step.what == CLOCK) == DAY_S
    assert [step.at_s for step in steps] == sorted(step.at_s for step in steps)
    assert steps[-1].at_s <= SIZE.play_s


def test_players_speak_to_whoever_is_with_them_and_no_line_is_like_another() -> None:
    cast = cast_for(SIZE, 3)
    assert len(cast.minds) == 18 and len(cast.lonely) == 6 and len(cast.players) == 5
    places, marks = dict(cast.players), []
    for step in plan_day(SIZE, 3, False):
        if step.what in (TYPE, FORGET):
            assert step.who in cast.players
        if step.line in WAYS and step.what == TYPE:
            places[step.who] = (places[step.who] + WAYS[step.line]) % SIZE.rooms
        elif step.what == TYPE:
            named = [name for name in cast.minds if name in step.line]
            assert all(cast.minds[name] == places[step.who] for name in named)
        marks += [step.mark] if step.mark else []
    assert len(marks) > 100 and len(set(marks)) == len(marks)


def test_what_was_forgotten_is_judged_apart_and_nothing_else() -> None:
    evidence = Evidence(
        puts=[Put("#1", 1, "k1"), Put("#1", 2, "k2")],
        events=[EventRow("#1", 1, "k1", "answered"), EventRow("#1", 2, "k2", "answered")],
        messages=[
            MessageRow("#1", 1, "user", "k1", event_id=1),
            MessageRow("#1", 2, "assistant", "yes", turn_id=7),
            MessageRow("#1", 3, "user", "k2", event_id=2),
        ],
    )
    assert without(evidence, Gone()) is evidence
    left = without(evidence, Gone(frozenset({"k1"}), frozenset({1}), frozenset({7})))
    assert [row.text for row in left.puts] == [row.text for row in left.events] == ["k2"]
    assert [row.content for row in left.messages] == ["k2"]
    assert Gone(frozenset({"k1"})).holds("of k1.") and not Gone(frozenset({"k1"})).holds("k12")
