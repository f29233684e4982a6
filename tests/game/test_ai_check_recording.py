"""`evennia ai_check --record` makes scenes of logged turns."""

import pytest
import yaml

from evennia_ai.errors import ConfigError
from evennia_ai.models import Turn
from evennia_ai.policy.scenes.reading import read_scenes
from evennia_ai.policy.scenes.results import failure_lines
from evennia_ai.testing.scenes.recording import record_scene, turn_range
from tests.game import ai_check_scene as scene
from tests.scripted import call

stage = scene.stage


def turns():
    return list(Turn.objects.order_by("id").values_list("id", flat=True))


def recorded(*numbers, whispers=False):
    text = record_scene("mira", "-".join(map(str, numbers)), whispers)
    return read_scenes(yaml.safe_load(text), "x.yaml")[0], text


@pytest.fixture
def talk(game, ann, bob):
    """Two turns aloud and a whispered one between them."""
    game.model.add(
        call("say", text="Rooms are four coins, Ann."),
        call("whisper", text="The cellar, Ann.", target="Ann"),
        (call("emote", text="nods."), call("say", text="At dawn, with Rolf Dunn.")),
    )
    for line in ("say Mira, a room?", "whisper Mira = where is the gold?", "say Mira, the ferry?"):
        ann.do(line)
        game.run(1)


def test_turns_of_the_log_become_a_scene(talk):
    scene, text = recorded(turns()[0], turns()[-1])
    assert (scene.character, [s.says for s in scene.steps]) == (
        "Mira",
        ["Mira, a room?", "Mira, the ferry?"],
    )
    assert scene.steps[0].answer.must_mention == (("four coins",),)
    assert scene.steps[1].answer.must_mention == (("dawn",), ("Rolf Dunn",))
    assert "# Mira acts out: nods." in text


def test_whispers_are_recorded_only_if_asked_for(talk):
    _, text = recorded(turns()[0], turns()[-1])
    assert "gold" not in text
    assert "cellar" not in text
    scene, text = recorded(turns()[0], turns()[-1], whispers=True)
    assert [step.kind for step in scene.steps] == ["say", "whisper", "say"]
    assert scene.steps[1].answer.private is True
    assert "# Mira whispers: The cellar, Ann." in text


def test_the_turns_before_are_earlier_talk_without_whispers(talk):
    scene, text = recorded(turns()[-1])
    assert [line.text for line in scene.earlier] == ["Mira, a room?", "Rooms are four coins, Ann."]
    assert "gold" not in text


def test_a_recorded_scene_passes_with_the_same_answers(talk, stage):
    _, text = recorded(turns()[0], turns()[-1])
    (scene,) = yaml.safe_load(text)["scenes"]
    result, _ = stage(
        call("say", text="Rooms are four coins, Ann."),
        call("say", text="At dawn, with Rolf Dunn."),
        name="", persona=None, people=[], character="Mira", **scene,
    )  # fmt: skip
    assert failure_lines(result) == []


def test_turns_that_are_not_there_are_told(talk):
    with pytest.raises(ConfigError, match="Mira answered nobody in the turns 9000"):
        record_scene("Mira", "9000", False)
    with pytest.raises(ConfigError, match="--whispers records them, too"):
        record_scene("Mira", str(turns()[1]), False)


@pytest.mark.parametrize("text", ["", "x", "15-12", "1-2-3", "-3"])
def test_a_wrong_range_is_told(text):
    with pytest.raises(ConfigError, match=r"names no turns\. Write a number or a range: 12-15"):
        turn_range(text)
