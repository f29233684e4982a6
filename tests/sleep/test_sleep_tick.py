"""The order of a pass of sleep: no step for ever, and not long where somebody waits."""

from types import SimpleNamespace

import pytest
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.task import Clock
from twisted.logger import capturedLogs, formatEvent

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.extension import Extension, SleepStep
from evennia_ai.sleep import (
    BROKEN_OFF,
    STEP_TIME_S,
    STEPS,
    WOKEN,
    SleepPassRunner,
    SleepPassTimer,
    step_texts,
)
from evennia_ai.testing.minds import ImmediateSlices, MemoryLife, StandInServices
from tests.minds import MemoryMind

GOOD = {"success": True}


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def hanging():
    """A step that never ends, unless it is cancelled."""
    return Deferred()


@pytest.fixture
def steps(hanging):
    return {"first": GOOD, "second": hanging, "third": GOOD}


def start(clock, results, time=None, status=None):
    """A pass of steps that come to these results, as far as it goes by itself.

    Returns a list that its own results come into.
    """
    came = []
    work = {name: lambda result=result: result for name, result in results.items()}
    mind = SimpleNamespace(
        name="Mira", status=status or MemoryLife(), clock=clock, slices=ImmediateSlices()
    )
    sleep = SleepPassRunner(mind, work)
    sleep.run(time).addBoth(came.append)
    return came


def test_a_step_that_never_ends_is_given_up_and_the_next_one_is_done(clock, steps):
    came = start(clock, steps)
    clock.advance(STEP_TIME_S - 1)
    assert came == []
    clock.advance(1)
    assert came[0] == {
        "first": GOOD,
        "second": {"success": False, "error": "given up after 600 s"},
        "third": GOOD,
    }
    assert clock.getDelayedCalls() == []


def test_a_step_that_will_not_be_cancelled_is_left_behind(clock, steps, hanging):
    hanging.addErrback(lambda failure: Deferred())
    came = start(clock, steps)
    clock.advance(STEP_TIME_S)
    assert came[0]["third"] == GOOD


def test_where_somebody_waits_a_pass_is_broken_off_in_time(clock, steps):
    time = SleepPassTimer(clock)
    came = start(clock, steps, time)
    time.end_within(30)
    clock.advance(10)
    time.end_within(30)  # another one waits: the first has waited for ten seconds already
    clock.advance(19)
    assert came == []
    clock.advance(1)
    assert came[0] == {"first": GOOD, "second": BROKEN_OFF, "third": WOKEN}
    assert time.is_over
    assert clock.getDelayedCalls() == []


def test_who_is_in_more_of_a_hurry_counts(clock, steps):
    time = SleepPassTimer(clock)
    came = start(clock, steps, time)
    time.end_within(30)
    time.end_within(0)
    clock.advance(0)
    assert came[0]["second"] == BROKEN_OFF


def test_a_pass_that_ends_soon_enough_is_not_broken_off(clock, steps, hanging):
    time = SleepPassTimer(clock)
    came = start(clock, steps, time)
    time.end_within(30)
    hanging.callback(GOOD)
    time.close()
    assert came[0] == {"first": GOOD, "second": GOOD, "third": GOOD}
    assert not time.is_over
    assert clock.getDelayedCalls() == []


@pytest.mark.parametrize("result", [None, 3, [1]])
def test_a_step_that_does_not_come_to_a_dict_has_failed(clock, result):
    [results] = start(clock, {"odd": succeed(result)})
    assert not results["odd"]["success"]
    assert "must return a dict" in results["odd"]["error"]


def test_a_step_that_fails_keeps_no_other_from_being_done(clock):
    broken = fail(KeyError("a mistake of ours"))
    assert start(clock, {"first": broken, "second": GOOD}) == [
        {"first": {"success": False, "error": "KeyError: 'a mistake of ours'"}, "second": GOOD}
    ]


def test_a_database_that_refuses_fails_a_step_in_one_line_of_the_log(clock):
    refused = fail(StoreUnavailable("The database is locked."))
    with capturedLogs() as lines:
        [results] = start(clock, {"busy": refused, "next": GOOD})
    assert results["busy"]["error"] == "StoreUnavailable: The database is locked."
    assert results["next"] == GOOD
    told = [line for line in lines if "sleep step busy" in formatEvent(line)]
    assert [formatEvent(line).partition(": ")[2] for line in told] == [
        "sleep step busy failed: The database is locked."
    ]
    assert not any("log_failure" in line for line in lines)


def test_who_may_not_think_any_more_does_nothing_more(clock, steps):
    status = MemoryLife()
    status.thinks = False
    [failure] = start(clock, steps, status=status)
    assert failure.check(TurnAborted)


class Humming(Extension):
    """Adds a step, and one with the name of the core's own."""

    def sleep_steps(self):
        taken = SleepStep("memory_links", "Taken", lambda mind: GOOD)
        return [SleepStep("humming", "What it hums", lambda mind: {"by": mind.who.name}), taken]


class Broken(Extension):
    name = "broken"

    def sleep_steps(self):
        raise RuntimeError("no")


def test_an_extensions_step_comes_last_and_replaces_none():
    services = StandInServices(None)
    services.extensions = [Broken(), Humming()]
    with capturedLogs() as told:
        mind = MemoryMind(None, services=services)
    came = []
    mind.sleep_pass.run().addBoth(came.append)
    assert list(came[0])[: len(STEPS)] == list(STEPS)
    assert list(came[0])[-1] == "humming"
    assert came[0]["humming"] == {"by": "Mira"}
    assert came[0]["memory_links"] != GOOD
    assert step_texts(services.extensions)["humming"] == ("What it hums", "")
    assert [event for event in told if "the extension broken failed" in (formatEvent(event) or "")]
