"""Logged turns become a scene that the recorded answers pass."""

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from evennia_ai.policy.replies.artefacts import Surroundings
from evennia_ai.policy.scenes.checks import Act, Answer, Spoken, judge_answer
from evennia_ai.policy.scenes.reading import read_scenes
from evennia_ai.policy.scenes.recorded import LoggedLine, LoggedTurn, scene_text

HELLO = LoggedLine("Ann", "say", "Hello, Mira. When does the ferry leave?")
FERRY = Spoken("say", "At dawn, Ann. Bring four coins to Rolf Dunn.")
GIVE = Act("give", {"item": "mug", "to": "Ann", "count": None}, "done")


def turn(number=12, heard=(HELLO,), spoken=(FERRY,), acts=()):
    return LoggedTurn(number, tuple(heard), tuple(spoken), tuple(acts))


def scene_of(*turns, earlier=()):
    text = scene_text("Mira", earlier, turns)
    return read_scenes(yaml.safe_load(text), "x.yaml")[0], text


def test_lines_are_steps_and_answers_are_comments():
    scene, text = scene_of(turn())
    assert (scene.character, scene.scene) == ("Mira", "Mira, turns 12-12")
    assert [(s.who, s.says) for s in scene.steps] == [("Ann", HELLO.text)]
    assert "# Mira says: At dawn, Ann. Bring four coins to Rolf Dunn." in text


def test_names_numbers_and_times_of_the_answer_are_proposed_but_not_those_who_speak():
    scene, _ = scene_of(turn())
    assert scene.steps[0].answer.must_mention == (("dawn",), ("four coins",), ("Rolf Dunn",))


def test_acts_and_whispers_and_silence_are_proposed():
    whispered = Spoken("whisper", "Hush.", private=True)
    scene, _ = scene_of(
        turn(acts=[GIVE]), turn(13, spoken=[whispered]), turn(14, spoken=[], acts=[])
    )
    first, second, third = (step.answer for step in scene.steps)
    assert [(c.tool, c.arguments) for c in first.must_do] == [
        ("give", {"item": "mug", "to": "Ann"})
    ]
    assert second.private is True
    assert third.answered is False


def test_only_the_last_line_of_a_turn_is_answered():
    rolf = LoggedLine("Rolf", "pose", "nods")
    scene, text = scene_of(turn(heard=[LoggedLine("Rolf", "emote", "nods."), rolf, HELLO]))
    assert [(s.who, s.kind, s.overheard) for s in scene.steps] == [
        ("Rolf", "emote", True),
        ("Ann", "say", False),
    ]
    assert "# Rolf: pose nods" in text


def test_what_came_before_is_earlier_talk():
    scene, _ = scene_of(turn(), earlier=[turn(11)])
    assert [(line.who, line.kind) for line in scene.earlier] == [("Ann", "say"), ("Mira", "say")]


def test_a_turn_without_words_is_a_comment_only():
    arrived = turn(13, heard=[LoggedLine("Rolf", "arrive", "")], spoken=[])
    scene, text = scene_of(turn(), arrived)
    assert len(scene.steps) == 1
    assert "# Rolf: arrive" in text


NAMES = st.text(min_size=1, max_size=12).filter(lambda name: name.strip().isalnum())
TEXTS = st.text(min_size=1, max_size=120).filter(lambda text: any(map(str.isalnum, text)))
SENTENCES = st.lists(
    st.sampled_from(
        "Ann Rolf Dunn Harl four forty 1,200 three at dawn noon coins the and ferry's Zoë on "
        'Tuesday "Hush" # - : {x} [a] | /x/ *'.split()
    ),
    min_size=1,
    max_size=25,
).map(" ".join)


@settings(deadline=None)
@given(st.lists(st.tuples(NAMES, TEXTS, SENTENCES | TEXTS), min_size=1, max_size=3))
def test_any_talk_is_a_valid_scene_whose_answers_pass(talk):
    turns = [
        turn(n, [LoggedLine(who, "say", text)], [Spoken("say", answer)])
        for n, (who, text, answer) in enumerate(talk, 1)
        if who != "Mira"
    ]
    if not turns:
        return
    scene, _ = scene_of(*turns)
    for step, logged in zip(scene.steps, turns, strict=True):
        expected = step.answer.model_copy(update={"in_persona": step.answer.in_persona})
        verdicts = judge_answer(expected, Answer(logged.spoken), Surroundings("Mira"))
        assert [v for v in verdicts if not v.holds and v.check != "in_persona"] == []
