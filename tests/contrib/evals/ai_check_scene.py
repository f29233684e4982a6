"""Scenes for `evennia ai_check`, played in a process without a game or in one with it."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from django.apps import apps
from twisted.internet.task import Clock

from evennia_ai.contrib.evals.format import read_scenes
from evennia_ai.contrib.evals.play import CheckModels, EvalPlayer
from evennia_ai.contrib.evals.stage import cast_of
from evennia_ai.tools.registry import load_registry
from tests.game.conftest import gateway_to
from tests.scripted import ScriptedLLM

ROOT = Path(__file__).parents[3]
PROFILES = {
    "scripted": {"client": "openai", "model": "m", "form": "tools", "base_url": "http://x/v1"},
    "offline": {"client": "offline", "model": "offline"},
}
MIRA = {"name": "Mira", "persona": "You are Mira.", "people": ["Ann", "Rolf"]}
HELLO = {"who": "Ann", "says": "Hello, Mira"}


@pytest.fixture
def stage(db, settings):
    """Return a function that plays one scene with a scripted model."""
    settings.AI_ASSISTANT = {}

    def play(*replies, profile="scripted", modules=(), **scene):
        model = ScriptedLLM(replies)
        clock, ended = Clock(), []
        data = {**MIRA, "steps": [HELLO], "scene": "One", **scene}
        (read,) = read_scenes({"scenes": [data]}, "x.yaml")
        models = CheckModels(
            gateway_to(model, clock), PROFILES, SimpleNamespace(told=lambda profile: profile)
        )
        tools, cast = load_registry(modules).tools.values(), cast_of(read)
        player = EvalPlayer(tools, models, clock, profile)
        player.ensure_playable(read, cast)
        player.play_scene(read, cast).addBoth(ended.append)
        while not ended:
            clock.advance(1)
        if isinstance(ended[0], Exception) or hasattr(ended[0], "raiseException"):
            ended[0].raiseException()
        return ended[0], model

    return play


def rows():
    """How many rows all tables of the game hold."""
    return {model.__name__: model.objects.count() for model in apps.get_models()}


def a_file(tmp_path, **scene):
    file = tmp_path / "mira.yaml"
    scenes = [{"scene": "One", "steps": [HELLO], **scene}, {"scene": "Two", "steps": [HELLO]}]
    file.write_text(yaml.safe_dump({**MIRA, "scenes": scenes}), encoding="utf-8")
    return file
