"""A dead process loses no promise and no letter, and tells nothing twice."""

import pytest

from evennia_ai import signals
from evennia_ai.contrib.promises import keeper, promise_records
from evennia_ai.store import segments
from tests.contrib.promises import promises_scene

asked_for, town = promises_scene.asked_for, promises_scene.town


class Killed(BaseException):
    pass


def test_a_new_process_goes_on_with_what_the_old_one_left(town, game, mira, ann, bob):
    town.go(bob.character, town.square)
    town.use("promise", ann, what="meet", when="in 1 hour", where="gate")
    town.use("leave_message", ann, to="Bob", text="The boat is ready.")
    game.service.quiesce()
    promise_records.Promises.of(mira).unload()
    service = game.next_process(mira.assistant)
    game.service = service
    town.go(ann.character, town.gate)
    town.wait(3_600, 60)
    assert mira.location is town.gate and "here I am" in ann.last()
    town.go(bob.character, town.gate)
    town.go(bob.character, town.square)
    town.go(bob.character, town.gate)
    assert len([line for line in bob.heard() if "The boat is ready." in line]) == 1
    assert {item["state"] for item in town.records()} == {"kept"}


@pytest.mark.parametrize("place", ["write", "speak"])
def test_a_letter_is_told_once_whenever_the_process_dies(
    town, game, mira, ann, bob, monkeypatch, place
):
    town.go(bob.character, town.square)
    town.use("leave_message", ann, to="Bob", text="The boat is ready.")
    owner = (segments.AttributeSegments, "write") if place == "write" else (keeper, "speak_to")

    def dies(*args, **kwargs):
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(*owner, dies)
        with pytest.raises(Killed):
            town.go(bob.character, town.tavern)
    assert [item["state"] for item in town.records()] == ["open"]
    town.go(bob.character, town.square)
    town.go(bob.character, town.tavern)
    assert len([line for line in bob.heard() if "The boat is ready." in line]) == 1


def test_a_deed_is_told_although_the_process_dies_meanwhile(town, mira, ann, monkeypatch):
    deeds = []

    def note(key, **deed):
        deeds.append(key)

    def dies(*args):
        raise Killed

    signals.deed_done.connect(note)
    town.use("promise", ann, what="meet", when="in 10 minutes", where="here")
    with monkeypatch.context() as broken:
        broken.setattr(keeper, "speak_to", dies)
        with pytest.raises(Killed):
            town.wait(400)
    assert deeds == ["promise p1"] and [item["state"] for item in town.records()] == ["open"]
    town.wait(60)
    assert deeds == ["promise p1"] * 2 and [item["state"] for item in town.records()] == ["kept"]
