"""Appointments are kept, and what became of a promise is told once, to whom it concerns."""

from tests.contrib.promises import promises_scene

asked_for, town = promises_scene.asked_for, promises_scene.town


def lines_of(player, words):
    return [line for line in player.heard() if words in line]


def test_an_appointment_is_kept_without_a_model(town, game, mira, ann):
    said = town.use("promise", ann, what="meet", when="in 2 hours", where="old gate")
    assert said.state == "done" and "Old Gate" in said.text, said
    town.wait(3_600, 600)
    assert mira.location is town.tavern
    mira.assistant.mind.sleep.fall_asleep("order")
    ann.character.move_to(town.gate, quiet=True)
    town.wait(3_600 - 100)
    assert mira.location is town.gate and len(lines_of(ann, "here I am")) == 1
    town.wait(3_600)
    town.go(ann.character, town.square)
    town.wait(3_600)
    assert mira.location is town.tavern and not game.model.requests
    assert [item["state"] for item in town.records()] == ["kept"]
    assert len(lines_of(ann, "here I am")) == 1


def test_who_does_not_come_is_told_once(town, mira, ann, bob):
    town.use("promise", ann, what="meet", when="in 30 minutes", where="gate")
    town.wait(1_800 + 900)
    assert mira.location is town.gate
    town.wait(1_200)
    town.wait(120)
    assert mira.location is town.tavern
    assert [item["state"] for item in town.records()] == ["missed"]
    for _ in range(2):
        town.go(ann.character, town.square)
        town.go(ann.character, town.tavern)
    assert len(lines_of(ann, "you did not come")) == 1


def test_a_closed_way_is_told_as_the_reason(town, mira, ann):
    town.use("promise", ann, what="meet", when="in 30 minutes", where="gate")
    way = next(way for way in town.square.exits if way.destination is town.gate)
    way.locks.add("traverse:false()")
    town.wait(1_800 + 1_900)
    assert mira.location is town.tavern
    town.go(ann.character, town.square)
    town.go(ann.character, town.tavern)
    assert len(lines_of(ann, "The way was closed to me.")) == 1


def test_the_promise_of_another_is_asked_about_once_when_due(town, game, mira, ann, bob):
    town.use("promise", ann, what="bring the rope", when="tomorrow", by="them")
    town.go(ann.character, town.square)
    town.go(ann.character, town.tavern)
    assert not lines_of(ann, "the rope")
    game.run(86_400)
    for _ in range(2):
        town.go(bob.character, town.square)
        town.go(bob.character, town.tavern)
        town.go(ann.character, town.square)
        town.go(ann.character, town.tavern)
    assert len(lines_of(ann, "bring the rope")) == 1


def test_a_time_or_a_place_that_is_not_sure_is_refused(town, ann):
    for arguments, expected in (
        ({"what": "meet", "when": "soon"}, "Give"),
        ({"what": "meet", "when": "tomorrow if it rains"}, "Give"),
        ({"what": "meet", "when": "18:30", "where": "moon"}, "no way"),
    ):
        assert expected in town.use("promise", ann, **arguments).text, arguments
