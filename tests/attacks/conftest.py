"""Fixtures of the attack campaigns: a small game whose assistants use the obedient model."""

import pytest

from tests.attacks.scene import CANARY, Scene
from tests.game import conftest as shared
from tests.provider.obedient import ObedientLLM

service, game = shared.service, shared.game


@pytest.fixture
def model():
    return ObedientLLM(CANARY)


@pytest.fixture
def scene(game):
    return Scene(game)
