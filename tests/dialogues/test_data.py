"""The dialogues can be played and their checks can be read."""

import re

import pytest

from evennia_ai.policy.conversation.persona import FIELD_NAMES, read_persona
from tests.dialogues.runner import COMMANDS, LATER, load_cast, load_dialogues
from tests.dialogues.scoring import CHECKS, IMPLICIT

FIRST = load_dialogues()
HELD_OUT = load_dialogues(folder=LATER)
DIALOGUES = [*FIRST, *HELD_OUT]
CASTS = sorted({dialogue["cast"] for dialogue in DIALOGUES})
LINES = [(dialogue["id"], line) for dialogue in DIALOGUES for line in dialogue["lines"]]
LINE_FIELDS = {"speaker", "kind", "text", "about", "wait", "home", "skip", "checks"}


def checks_of(dialogues):
    return [
        (dialogue["id"], kind, wanted)
        for dialogue in dialogues
        for line in dialogue["lines"]
        for check in line.get("checks", ())
        for kind, wanted in check.items()
    ]


def casts_of(dialogues):
    return {dialogue["cast"] for dialogue in dialogues}


def patterns_of(kind, wanted):
    if kind in {"contains_any", "contains_none"}:
        return wanted
    return wanted.get("args", ()) if kind == "tool" else ()


def things_of(dialogue):
    cast = load_cast(dialogue["cast"])
    groups = [cast["carries"], *(room["things"] for room in cast["rooms"])]
    groups += [player.get("carries", ()) for player in dialogue["players"]]
    return [thing["name"] for group in groups for thing in group]


def test_there_are_forty_over_three_personas():
    assert len(FIRST) == len({dialogue["id"] for dialogue in FIRST}) == 40
    assert len(casts_of(FIRST)) == 3


def test_there_are_twenty_held_out_over_three_other_personas():
    assert len(HELD_OUT) == 20
    assert len({dialogue["id"] for dialogue in DIALOGUES}) == 60
    assert len(casts_of(HELD_OUT)) == 3
    assert not casts_of(HELD_OUT) & casts_of(FIRST)


@pytest.mark.parametrize("dialogue", HELD_OUT, ids=lambda dialogue: dialogue["id"])
def test_a_held_out_dialogue_has_six_to_nine_checks_of_its_own(dialogue):
    assert 6 <= len(checks_of([dialogue])) <= 9


def test_nothing_is_asked_twice_over_in_the_two_sets():
    texts = {line["text"].lower() for dialogue in FIRST for line in dialogue["lines"]}
    again = {line["text"] for dialogue in HELD_OUT for line in dialogue["lines"]
             if line.get("checks") and line["text"].lower() in texts}  # fmt: skip
    assert not again


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue["id"])
def test_players_stand_in_rooms_and_go_through_exits_that_exist(dialogue):
    rooms = load_cast(dialogue["cast"])["rooms"]
    exits = {way["name"] for room in rooms for way in room["exits"]}
    assert {line["text"] for line in dialogue["lines"] if line["kind"] == "go"} <= exits
    starts = {player["starts"] for player in dialogue["players"] if "starts" in player}
    assert starts <= {room["name"] for room in rooms}


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue["id"])
def test_a_dialogue_has_six_to_fifteen_lines_by_its_players(dialogue):
    assert 6 <= len(dialogue["lines"]) <= 15
    players = {player["name"] for player in dialogue["players"]}
    assert {line["speaker"] for line in dialogue["lines"]} == players


def test_lines_hold_nothing_unknown():
    for name, line in LINES:
        assert set(line) <= LINE_FIELDS, name
        assert line["kind"] in COMMANDS, name
        assert set(line.get("skip", ())) <= set(IMPLICIT), name
        assert line["text"] and "\n" not in line["text"], name


def test_checks_are_known_and_their_patterns_compile_in_lower_case():
    for name, kind, wanted in checks_of(DIALOGUES):
        assert kind in CHECKS, name
        for pattern in patterns_of(kind, wanted):
            re.compile(pattern)
            assert re.sub(r"\\[A-Z]", "", pattern) == re.sub(r"\\[A-Z]", "", pattern).lower(), name


@pytest.mark.parametrize("dialogue", DIALOGUES, ids=lambda dialogue: dialogue["id"])
def test_things_and_places_of_the_checks_exist(dialogue):
    cast = load_cast(dialogue["cast"])
    things = things_of(dialogue)
    rooms = {room["name"] for room in cast["rooms"]}
    people = {cast["name"], *(player["name"] for player in dialogue["players"])}
    assert len(things) == len(set(things))
    given = {line["text"] for line in dialogue["lines"] if line["kind"] == "give"}
    assert given <= set(things)
    worlds = [check["world"] for line in dialogue["lines"] for check in line.get("checks", ())
              if "world" in check]  # fmt: skip
    for world in worlds:
        assert world.get("thing", things[0]) in things
        assert world.get("held_by", cast["name"]) in people
        assert {world.get("lies_in"), world.get("assistant_in")} <= {None, *rooms}


@pytest.mark.parametrize("name", CASTS)
def test_a_cast_is_whole(name):
    cast = load_cast(name)
    persona = read_persona(cast["persona"])
    assert all(getattr(persona, field) for field in FIELD_NAMES)
    rooms = {room["name"] for room in cast["rooms"]}
    assert cast["start"] in rooms
    assert {way["to"] for room in cast["rooms"] for way in room["exits"]} <= rooms
    assert all(1 <= len(re.findall(r"[.!?](?:\s|$)", piece["text"])) <= 3 for piece in cast["lore"])


def test_most_lines_that_matter_have_checks_of_their_own():
    assert len(checks_of(FIRST)) >= 250
    for dialogues in (FIRST, HELD_OUT):
        assert {kind for _, kind, _ in checks_of(dialogues)} == set(CHECKS)
