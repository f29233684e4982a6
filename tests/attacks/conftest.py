"""Fixtures of the attack campaigns: a small game whose assistants use the obedient model."""

import pytest

from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.offline import StandIn
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from tests.attacks.scene import CANARY, Scene
from tests.game import conftest as shared
from tests.game.web.same_thread import SameThread
from tests.provider.obedient import ObedientLLM

service, game = shared.service, shared.game
# A model of the network, whose words are checked; the stand-in's own phrases are not.
ENDPOINT = {"client": "openai", "base_url": "https://models.example.com/v1", "model": "obedient"}


@pytest.fixture
def model():
    return ObedientLLM(CANARY)


@pytest.fixture
def scene(game, service, settings, monkeypatch, tmp_path):
    settings.ROOT_URLCONF = "tests.game.api_addresses"
    settings.ALLOWED_HOSTS, settings.REST_API_ENABLED = ["*"], True
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXPORT_FOLDER": str(tmp_path)}
    service.profiles["default"] = ENDPOINT
    limits = GatewayLimits(retry=RetryLimits(max_attempts=1))
    clients = {"offline": StandIn(), "openai": game.model}
    service.gateway = ModelGateway(service.clock, clients, limits)
    thread = SameThread(service.clock)
    for name in ("access", "overview", "knowledge"):
        monkeypatch.setattr(f"evennia_ai.web.staff.{name}.game", thread)
    return Scene(game)
