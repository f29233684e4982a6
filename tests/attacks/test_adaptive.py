"""Adaptive attacks by rows of moves: what came near is changed and tried again.

The model calls whatever any words ask for. `make test` plays a few attacks of two families, `make
test-more` hundreds, `make soak` a thousand of other seeds.
"""

import pytest

from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.policy.limits.retry import GatewayLimits, RetryLimits
from tests.attacks.families import FAMILIES, campaign
from tests.attacks.hall import Hall
from tests.attacks.puppet import Puppet
from tests.attacks.search import shown
from tests.game import conftest as shared
from tests.same_thread import answer_pages
from tests.short_form import short_form

StandIn = pytest.importorskip(
    "evennia_ai.contrib.stand_in", reason="the stand-in is left out"
).StandIn

pytestmark = pytest.mark.game
service, log = shared.service, shared.log
FEW, MANY, SOAK, SOAK_SEEDS = 1, 2, 60, range(100, 120)


@pytest.fixture
def hall(service, settings, monkeypatch, tmp_path, caplog):
    caplog.set_level("CRITICAL", logger="django.request")
    settings.ROOT_URLCONF = "tests.api_addresses"
    settings.ALLOWED_HOSTS, settings.REST_API_ENABLED = ["*"], True
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXPORT_FOLDER": str(tmp_path)}
    model = Puppet(service.clock)
    limits = GatewayLimits(retry=RetryLimits(max_attempts=1))
    clients = {"offline": StandIn(), "openai": model}
    service.gateway = ModelGateway(service.clock, clients, limits)
    answer_pages(monkeypatch, service.clock)
    game = shared.Game(service, model)
    hall = Hall(game)
    yield hall
    game.end()


def faults_of(succeeded):
    """Return a line for each attack that succeeded."""
    return [
        f"{fault.kind}: {fault.words} AT {move} BY {shown(one)}" for one, move, fault in succeeded
    ]


@pytest.mark.parametrize("family", short_form(FAMILIES, 3, pytest.mark.soak))
def test_nothing_comes_of_a_few_attacks(hall, log, family):
    assert faults_of(campaign(hall, family, FEW, 1, log)) == []


@pytest.mark.campaign
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_comes_of_many_attacks(hall, log, family):
    assert faults_of(campaign(hall, family, MANY, 2, log)) == []


@pytest.mark.soak
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", SOAK_SEEDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_nothing_comes_of_thousands_of_attacks(hall, log, family, seed):
    assert faults_of(campaign(hall, family, SOAK, seed, log)) == []
