"""What the database cannot take waits in order, and each outage has all its time (P1)."""

import pytest
from twisted.internet.task import Clock

from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import IncomingEvent
from evennia_ai.store.inbox_queue import PAUSES_S, InboxQueue


class Scene:
    """An assistant that hears, and a database that may be busy."""

    assistant_id = 1

    def __init__(self):
        self.clock, self.busy, self.asked = Clock(), False, 0
        self.stored, self.lost = [], []
        self.queue = InboxQueue(self.clock, self.store)

    def store(self, events):
        self.asked += 1
        if self.busy:
            raise StoreUnavailable("locked")
        return range(self.asked, self.asked + len(events))

    def attend_to(self, event, _id):
        self.stored.append(event.text)

    def give_up(self, event, _error):
        self.lost.append(event.text)

    def read(self, line):
        """Read a line that several overhear."""
        if self.busy:
            raise StoreUnavailable("locked")
        return event_of(line), False

    def outage(self, seconds, *lines):
        """Let the database be busy for some seconds while lines come, and then go on."""
        self.busy = True
        for line in lines:
            self.queue.put(self, event_of(line))
        self.clock.pump([0.05] * int(seconds / 0.05))
        self.busy = False
        self.clock.pump([0.5] * 20)


def event_of(words):
    return IncomingEvent("say", "#5", "Ann", str(words), frozenset({"#5"}))


@pytest.fixture
def scene():
    return Scene()


def test_lines_wait_in_their_order_and_those_behind_the_first_ask_nothing(scene):
    scene.outage(1, *range(40))
    assert scene.stored == [*map(str, range(40))] and not scene.lost
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


def test_lines_that_several_overhear_are_stored_together_at_the_end(scene):
    others = [Scene() for _ in range(3)]
    for number, listener in enumerate(others):
        listener.assistant_id = number
        scene.queue.put(listener, "hello")
    assert scene.asked == 0
    scene.clock.advance(0)
    assert scene.asked == 1
    assert [listener.stored for listener in others] == [["hello"]] * 3


def test_what_is_overheard_is_stored_before_what_comes_behind_it(scene):
    scene.queue.put(scene, "first")
    scene.queue.put(scene, event_of("second"))
    assert scene.stored == ["first", "second"]


def test_lines_that_could_not_be_read_keep_their_order_with_events(scene):
    scene.busy = True
    scene.queue.put(scene, "first")
    scene.queue.put(scene, event_of("second"))
    scene.busy = False
    scene.queue.put(scene, "third")
    assert scene.stored == []
    scene.clock.pump([0.1] * 10)
    assert scene.stored == ["first", "second", "third"]


def test_an_event_that_no_database_takes_keeps_nothing_waiting(scene):
    other = Scene()
    real = scene.store

    def store(events):
        if any(event.text == "broken" for _id, event in events):
            raise ValueError("no text")
        return real(events)

    queue = InboxQueue(scene.clock, store)
    scene.read = other.read = lambda line: (event_of(line), False)
    for listener, words in ((scene, "broken"), (scene, "next"), (other, "hello")):
        queue.put(listener, words)
    queue.flush()
    assert (scene.lost, scene.stored, other.stored) == (["broken"], ["next"], ["hello"])


def test_every_try_at_an_event_has_the_same_token(scene):
    tokens = []
    real = scene.store

    def store(events):
        tokens.extend(event.token for _id, event in events)
        return real(events)

    scene.queue = InboxQueue(scene.clock, store)
    scene.outage(1, "one")
    assert len(tokens) > 1 and len(set(tokens)) == 1 and tokens[0]
