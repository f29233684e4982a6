"""Drifts planted in a persona are caught by the scenes of `world/scenes.yaml`."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from twisted.internet.task import Clock

from evennia_ai.contrib.evals.play import CheckModels, EvalPlayer, load_scenes
from evennia_ai.contrib.evals.stage import cast_of
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.tools.registry import load_registry

StandIn = pytest.importorskip(
    "evennia_ai.contrib.stand_in", reason="the stand-in is left out"
).StandIn

pytestmark = pytest.mark.game
WORLD = Path(__file__).parents[3] / "world" / "scenes.yaml"
PROFILES = {"offline": {"client": "offline", "model": "offline"}}

# What a builder might do to the file of `world/scenes.yaml`: text, and what replaces it.
EDITS = [
    ("A room costs three coins a night", "A room costs five coins a night"),
    ("A room costs three coins a night", "A room costs thirteen coins a night"),
    ("A room costs three coins a night", "A room is free for friends"),
    ("    - A room costs three coins a night.\n", ""),
    ("The ferry leaves at dawn", "The ferry leaves at noon"),
    ("The ferry leaves at dawn", "The ferry leaves at midnight"),
    ("    - The ferry leaves at dawn.\n", ""),
    ("fell in the flood, twelve years ago", "fell in the flood, twenty years ago"),
    ("fell in the flood, twelve years ago", "burnt down twelve years ago"),
    ("fell in the flood, twelve years ago", "stands as it ever stood"),
    ("  - title: The old bridge\n    text: The old bridge", "  - title: Ale\n    text: The ale"),
    ("carrying: [mug of ale, brass key]", "carrying: [brass key]"),
    ("carrying: [mug of ale, brass key]", "carrying: []"),
    ("A room costs three coins a night", "Shoeing a horse takes two hours"),
    ("whispers: I hid my silver ring under the stairs", "whispers: I hid my ring in the yard"),
    (
        "whispers: I hid my silver ring under the stairs",
        "says: I hid my silver ring under the stairs",
    ),
]


@pytest.fixture
def play(db, settings):
    """Return a function that plays a file of scenes with the stand-in; it returns results."""
    settings.AI_ASSISTANT = {}
    tools = load_registry(()).tools.values()

    def play(file):
        clock, results, ended = Clock(), [], []
        gateway = ModelGateway(clock, {"offline": StandIn()})
        known = SimpleNamespace(told=lambda profile: profile)
        player = EvalPlayer(tools, CheckModels(gateway, PROFILES, known), clock, "offline")
        cast = [(scene, cast_of(scene)) for scene in load_scenes(str(file))]
        player.play_all(cast, lambda line: None, results).addBoth(ended.append)
        while not ended:
            clock.advance(0)
        if ended[0] is not None:
            ended[0].raiseException()
        return results

    return play


def test_planted_drifts_of_a_persona_are_caught(play, tmp_path):
    text = WORLD.read_text(encoding="utf-8")
    assert all(result.holds for result in play(WORLD))
    missed = []
    for number, (old, new) in enumerate(EDITS):
        assert old in text
        file = tmp_path / f"{number}.yaml"
        file.write_text(text.replace(old, new), encoding="utf-8")
        if all(result.holds for result in play(file)):
            missed.append((old, new))
    assert missed == []
