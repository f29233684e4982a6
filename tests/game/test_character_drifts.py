"""Planted drifts of a model or of a persona are caught, and healthy characters pass.

The scenes in `data/drifts` and `world/scenes.yaml` were written first. A drift is caught if any
scene of the character's file fails. Run with -s to see the figures.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from twisted.internet.task import Clock

from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.offline import OfflineBrain
from evennia_ai.testing.scenes.play import CheckModels, Player, load_scenes, play_all
from evennia_ai.testing.scenes.stage import cast_of
from evennia_ai.tools.registry import load_registry
from tests.game.acted_cast import CHARACTERS
from tests.game.acted_characters import HEALTHY, ActingModel, planted_drifts
from tests.reading import ReplyClient

DATA = Path(__file__).parent / "data" / "drifts"
WORLD = Path(__file__).parents[2] / "world" / "scenes.yaml"
PROFILES = {
    "scripted": {"client": "openai", "model": "acting", "form": "tools", "base_url": "http://x/v1"},
    "offline": {"client": "offline", "model": "offline"},
}
RUNS = 20
FEW_OR_ALL = pytest.mark.parametrize(
    "every",
    [16, pytest.param(4, marks=pytest.mark.campaign), pytest.param(1, marks=pytest.mark.soak)],
)

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
    """Return a function that plays scenes with a raw model, and returns the results."""
    settings.AI_ASSISTANT = {}
    tools = load_registry(()).tools.values()

    def play(scenes, model=None, profile=""):
        clock, results, ended = Clock(), [], []
        clients = {"openai": ReplyClient(model, None), "offline": OfflineBrain()}
        models = CheckModels(ModelGateway(clock, clients), PROFILES, lambda told: told)
        player = Player(tools, models, clock)
        cast = [(scene, cast_of(scene)) for scene in scenes]
        play_all(player, cast, lambda line: None, results, profile).addBoth(ended.append)
        while not ended:
            clock.advance(0)
        if ended[0] is not None:
            ended[0].raiseException()
        return results

    return play


def scenes_of(name):
    return load_scenes(str(DATA / f"{name.lower()}.yaml"))


@FEW_OR_ALL
def test_healthy_characters_pass_in_all_their_variation(play, every):
    results = [
        (name, seed, result)
        for name in CHARACTERS
        for seed in range(0, RUNS, every)
        for result in play(scenes_of(name), ActingModel(CHARACTERS[name], HEALTHY, seed))
    ]
    alarms = [(name, seed, result) for name, seed, result in results if not result.holds]
    print(f"\nfalse alarms: {len(alarms)} of {len(results)} scenes in {RUNS // every or 1} runs")
    for name, seed, result in alarms:
        print(name, seed, result.scene.scene, [k for k, v in result.rates().items() if v[0] < v[1]])
    assert len(alarms) <= 0.02 * len(results)


@FEW_OR_ALL
def test_planted_drifts_of_a_model_are_caught(play, every):
    drifts = planted_drifts()[::every]
    missed = [
        f"{name}: {drift.label}"
        for number, (name, drift) in enumerate(drifts)
        if all(
            result.holds
            for result in play(scenes_of(name), ActingModel(CHARACTERS[name], drift, number))
        )
    ]
    print(f"\ncaught: {len(drifts) - len(missed)} of {len(drifts)} drifts of a model; {missed=}")
    assert len(missed) <= 0.05 * len(drifts)


def test_planted_drifts_of_a_persona_are_caught_with_the_offline_brain(play, tmp_path):
    text = WORLD.read_text(encoding="utf-8")
    assert all(result.holds for result in play(load_scenes(str(WORLD)), profile="offline"))
    missed = []
    for number, (old, new) in enumerate(EDITS):
        assert old in text
        file = tmp_path / f"{number}.yaml"
        file.write_text(text.replace(old, new), encoding="utf-8")
        if all(result.holds for result in play(load_scenes(str(file)), profile="offline")):
            missed.append((old, new))
    print(f"\ncaught: {len(EDITS) - len(missed)} of {len(EDITS)} drifts of a persona; {missed=}")
    assert len(missed) <= 0.05 * len(EDITS)
