"""The dialogues can be played and their checks can be read."""

import re

import pytest

from evennia_ai.policy.persona import FIELD_NAMES, read_persona
from tests.dialogues.runner import COMMANDS, load_cast, load_dialogues
from tests.dialogues.scoring import CHECKS, IMPLICIT

DIALOGUES = load_dialogues()
CASTS = sorted({dialogue["cast"] for dialogue in DIALOGUES})
LINES = [(dialogue["id"], line) for dialogue in DIALOGUES for line in dialogue["lines"]]
CHECKED = [(name, kind, wanted) for name, line in LINES for check in line.get("checks", ())
           for kind, wanted in check.items()]  # fmt: skip
LINE_FIELDS = {"speaker", "kind", "text", "about", "wait", "home", "skip", "checks"}


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
    assert len(DIALOGUES) == len({dialogue["id"] for dialogue in DIALOGUES}) == 40
    assert len(CASTS) == 3


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
    for name, kind, wanted in CHECKED:
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
    assert len(CHECKED) >= 250
    assert {kind for _, kind, _ in CHECKED} == set(CHECKS)
