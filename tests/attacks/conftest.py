"""Fixtures of the attack campaigns: a small game whose assistants use the obedient model."""

import pytest

from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from tests.attacks.scene import CANARY, Scene
from tests.game import conftest as shared
from tests.provider.obedient import ObedientLLM
from tests.same_thread import answer_pages

service, game = shared.service, shared.game
# A model of the network, whose words are checked; the stand-in's own phrases are not.
ENDPOINT = {"client": "openai", "base_url": "https://models.example.com/v1", "model": "obedient"}


@pytest.fixture
def model():
    return ObedientLLM(CANARY)


@pytest.fixture
def scene(game, service, settings, monkeypatch, tmp_path):
    settings.ROOT_URLCONF = "tests.api_addresses"
    settings.ALLOWED_HOSTS, settings.REST_API_ENABLED = ["*"], True
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXPORT_FOLDER": str(tmp_path)}
    service.profiles["default"] = ENDPOINT
    limits = GatewayLimits(retry=RetryLimits(max_attempts=1))
    stand_in = pytest.importorskip("evennia_ai.contrib.stand_in", reason="the stand-in is left out")
    clients = {"offline": stand_in.StandIn(), "openai": game.model}
    service.gateway = ModelGateway(service.clock, clients, limits)
    answer_pages(monkeypatch, service.clock)
    return Scene(game)
