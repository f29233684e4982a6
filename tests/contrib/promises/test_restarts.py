"""A dead process loses no promise, and tells nothing twice."""

import pytest

from evennia_ai import signals
from evennia_ai.contrib.promises import keeper, promise_records
from tests.contrib.promises import promises_scene

asked_for, town = promises_scene.asked_for, promises_scene.town


class Killed(BaseException):
    pass


def test_a_new_process_goes_on_with_what_the_old_one_left(town, game, mira, ann):
    town.use("promise", ann, what="meet", when="in 1 hour", where="gate")
    game.service.quiesce()
    promise_records.Promises.of(mira).unload()
    service = game.next_process(mira.assistant)
    game.service = service
    town.go(ann.character, town.gate)
    town.wait(3_600, 60)
    assert mira.location is town.gate and "here I am" in ann.last()
    assert {item["state"] for item in town.records()} == {"kept"}


def test_a_deed_is_told_although_the_process_dies_meanwhile(town, mira, ann, monkeypatch):
    deeds = []

    def note(key, **deed):
        deeds.append(key)

    def dies(*args, **changes):
        raise Killed

    signals.deed_done.connect(note)
    town.use("promise", ann, what="meet", when="in 10 minutes", where="here")
    with monkeypatch.context() as broken:
        broken.setattr(keeper, "tell_once", dies)
        with pytest.raises(Killed):
            town.wait(400)
    assert deeds == ["promise p1"] and [item["state"] for item in town.records()] == ["open"]
    town.wait(60)
    assert deeds == ["promise p1"] * 2 and [item["state"] for item in town.records()] == ["kept"]
