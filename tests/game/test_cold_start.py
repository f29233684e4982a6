"""A local model that has just been started gets more time."""

import pytest
from twisted.internet.defer import Deferred

from evennia_ai.policy.limits.endpoints import FIRST_DEADLINE_S
from tests.scripted import call

pytestmark = pytest.mark.engine

HOME = {"client": "openai", "model": "ours", "base_url": "http://127.0.0.1:8080/v1"}


@pytest.fixture
def home(service, mira):
    service.profiles["home"] = HOME
    mira.assistant.db.profile = "home"
    return mira


@pytest.mark.parametrize("seconds", [25.0, FIRST_DEADLINE_S - 1])
def test_the_first_line_is_answered_by_the_model(seconds, game, home, ann):
    slow = Deferred()
    game.model.add(slow)
    ann.do("say hello Mira")
    game.run(seconds)
    slow.callback(call("say", text="Hello, Ann!"))
    assert ann.last() == 'Mira says, "Hello, Ann!"'
    assert not [line for line in ann.heard() if "my thoughts wandered" in line]


def test_a_remote_model_still_has_the_usual_time(game, service, home, ann):
    service.profiles["home"] = {**HOME, "base_url": "https://api.example.com/v1"}
    game.model.add(Deferred())
    ann.do("say hello Mira")
    game.run(25.0)
    assert ann.last().startswith("Mira says")
