"""The lines of `make real` can be played, and fewer of them still make a course."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.e2e.harness import PLAYERS
from tests.real.course import FACT, QUESTION, ROOM_NAMES, Line, Scene, choose, load_scenes, way
from tests.real.judge import holds_key
from world.prototypes import PEOPLE, PROTOTYPE_LIST, THINGS

SCENES = load_scenes()
LINES = [line for scene in SCENES for line in scene.lines]


def lines_of(scenes: Sequence[Scene]) -> list[Line]:
    return [line for scene in scenes for line in scene.lines]


def test_two_players_talk_to_three_characters_in_120_lines() -> None:
    assert len(LINES) == 120
    assert {line.by for line in LINES} == set(PLAYERS[:2])
    assert {scene.character for scene in SCENES} == {person["key"] for person in PEOPLE}
    assert all(bool(line.say) != bool(line.whisper) for line in LINES)
    assert [scene.do for scene in SCENES if scene.do] == ["compact", "sleep", "reload"]


def test_each_of_twelve_facts_is_told_before_the_compaction_and_asked_for_after() -> None:
    facts = {line.about: line for line in LINES if line.kind == FACT}
    questions = {line.about: line for line in LINES if line.kind == QUESTION}
    assert len(facts) == 12 and facts.keys() == questions.keys()
    compaction = next(scene for scene in SCENES if scene.do == "compact")
    for about, question in questions.items():
        fact = facts[about]
        assert LINES.index(fact) < LINES.index(compaction.lines[0]) <= LINES.index(question)
        assert (fact.by, fact.to, bool(fact.say)) == (question.by, question.to, bool(question.say))
        assert holds_key(fact.words, question.keys)


def test_only_the_fact_itself_holds_its_key() -> None:
    world = str(PROTOTYPE_LIST)
    for question in (line for line in LINES if line.kind == QUESTION):
        others = [line.words for line in LINES if line.about != question.about or line == question]
        assert not holds_key(" ".join([world, *others]), question.keys), question.keys


def test_what_an_errand_names_exists() -> None:
    movable = {thing["key"] for thing in THINGS} | {person["key"] for person in PEOPLE}
    places = {*ROOM_NAMES.values(), *PLAYERS, *(person["key"] for person in PEOPLE)}
    for line in (line for line in LINES if line.kind == "errand"):
        assert line.moves in movable
        assert {line.target, *line.put.values()} <= places
        assert set(line.put) <= {line.moves}
        assert line.put.get(line.moves) != line.target


@pytest.mark.parametrize("count", [5, 8, 15, 60, 119, 120])
def test_fewer_lines_keep_facts_with_their_questions_and_the_order(count: int) -> None:
    chosen = lines_of(choose(SCENES, count))
    assert len(chosen) == count
    kinds = Counter(line.kind for line in chosen)
    assert kinds[FACT] == kinds[QUESTION] == min(12, count // 5)
    assert kinds["after"] == 2
    told = {line.about for line in chosen if line.kind == FACT}
    assert told == {line.about for line in chosen if line.kind == QUESTION}
    assert [line for line in LINES if any(line is one for one in chosen)] == chosen


def test_sixty_lines_have_every_kind() -> None:
    assert {line.kind for line in lines_of(choose(SCENES, 60))} == {line.kind for line in LINES}


@pytest.mark.parametrize("count", [4, 121])
def test_another_number_of_lines_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="choose from 5 to 120"):
        choose(SCENES, count)


def test_the_shortest_way_between_two_rooms_is_found() -> None:
    assert way("The Gilded Gull", "The Gilded Gull") == []
    assert way("The Chapel of the Lost", "The Gilded Gull") == ["quay", "gull"]
