"""The endpoint of `make real`, the game that is played, and the files of its results."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.conftest import game_template
from tests.e2e.harness import GameServer
from tests.real.report import Run, play_course

__all__ = ["game_template"]

ADDRESS, KEY, MODEL = "OPENAI_BASE_URL", "OPENAI_API_KEY", "EVENNIA_AI_MODEL"
LINES, SETTINGS = "EVENNIA_AI_REAL_LINES", "EVENNIA_AI_REAL_SETTINGS"
USUAL_LINES = 60
RESULTS = Path(__file__).parent / "results"
NO_ENDPOINT = (
    f"no endpoint: set {ADDRESS} and {MODEL}, and {KEY} if it needs one; docs/models.md "
    "says how to serve a model on your own machine"
)


@dataclass(frozen=True)
class Endpoint:
    """The endpoint of the environment; the variables are passed on to the game."""

    address: str
    environ: Mapping[str, str]


@pytest.fixture(scope="session")
def endpoint() -> Endpoint:
    """Return the endpoint of the environment; skip the test if there is none."""
    given = {name: os.environ[name] for name in (ADDRESS, KEY, MODEL) if os.environ.get(name)}
    if not {ADDRESS, MODEL} <= given.keys():
        pytest.skip(NO_ENDPOINT)
    return Endpoint(given[ADDRESS], given)


@pytest.fixture(scope="session")
def run(endpoint: Endpoint, game_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Play the course once for all tests; write and print the table."""
    count = int(os.environ.get(LINES) or USUAL_LINES)
    folder = tmp_path_factory.mktemp("real") / "game"
    settings = json.loads(os.environ.get(SETTINGS) or "{}")
    game = GameServer.copy_of(game_template, folder, env=endpoint.environ, assistant=settings)
    try:
        played = play_course(game, endpoint.address, RESULTS, count)
    finally:
        game.discard()
    print(f"\n\n{played.page()}\nAlso in {RESULTS}/")
    return played
