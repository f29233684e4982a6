"""What the database cannot take waits in order, and each outage has all its time (P1)."""

import pytest
from twisted.internet.task import Clock

from evennia_ai.errors import StoreUnavailable
from evennia_ai.store.write_retry_queue import PAUSES_S, WriteRetryQueue


class Scene:
    """A backlog of a database that may be busy."""

    def __init__(self):
        self.clock, self.busy, self.asked = Clock(), False, 0
        self.stored, self.lost = [], []
        self.backlog = WriteRetryQueue(
            self.clock,
            self.store,
            lambda line, _id: self.stored.append(line),
            lambda line, _error: self.lost.append(line),
        )

    def store(self, line):
        self.asked += 1
        if self.busy:
            raise StoreUnavailable("locked")
        return self.asked

    def outage(self, seconds, *lines):
        """Let the database be busy for some seconds while lines come, and then go on."""
        self.busy = True
        for line in lines:
            self.backlog.put(line)
        self.clock.pump([0.05] * int(seconds / 0.05))
        self.busy = False
        self.clock.pump([0.5] * 20)


@pytest.fixture
def scene():
    return Scene()


def test_lines_wait_in_their_order_and_those_behind_the_first_ask_nothing(scene):
    scene.outage(1, *range(40))
    assert scene.stored == list(range(40)) and not scene.lost
    assert scene.asked < 40 + len(PAUSES_S)


def test_an_outage_has_all_its_time_though_there_was_one_before(scene):
    scene.outage(5, "one")
    scene.outage(14, "two")
    assert scene.stored == ["one", "two"] and not scene.lost


def test_after_lines_were_given_up_the_next_one_waits_anew(scene):
    scene.outage(sum(PAUSES_S) + 1, "one", "two")
    assert scene.lost == ["one", "two"]
    scene.outage(1, "three")
    assert scene.stored == ["three"]
