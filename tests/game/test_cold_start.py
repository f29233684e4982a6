"""A local model that has just been started gets more time."""

import pytest
from twisted.internet.defer import CancelledError, Deferred, fail
from twisted.logger import formatEvent, globalLogPublisher

from evennia_ai.errors import ProviderUnavailable
from evennia_ai.policy.limits.endpoints import FIRST_DEADLINE_S
from evennia_ai.policy.limits.retry import LOADING_CODE
from tests.scripted import call

pytestmark = pytest.mark.engine

HOME = {"client": "openai", "model": "ours", "base_url": "http://127.0.0.1:8080/v1"}
LOADING = ProviderUnavailable("loading", status=503, code=LOADING_CODE)


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


def test_a_deadline_of_its_own_is_obeyed(home):
    home.assistant.db.turn_deadline = 3.0
    home.assistant.mind.settings.resolve()
    assert home.assistant.config.turn_deadline == 3.0


def test_a_deadline_counts_the_talk_also_after_a_line_was_hidden(game, home, ann):
    game.model.add(call("say", text="Hello."))
    ann.do("say hello Mira, " + "the mare stands lame behind the mill " * 20)
    game.run(2)
    settings = home.assistant.mind.settings
    before = settings.prompt_tokens(settings.config)
    home.assistant.conversation.forget_view()
    assert settings.prompt_tokens(settings.config) == before > 150


@pytest.mark.parametrize(("error", "lines"), [(CancelledError(), 0), (ImportError("no SDK"), 1)])
def test_a_server_that_stops_while_the_sdk_loads_has_no_fault(error, lines, service, monkeypatch):
    models, told = service.models, []
    monkeypatch.setattr(models.loop_thread, "start", lambda: None)
    monkeypatch.setattr(models.client, "warm_up", lambda: fail(error))
    service.profiles["default"] = HOME
    globalLogPublisher.addObserver(told.append)
    try:
        models.start()
    finally:
        globalLogPublisher.removeObserver(told.append)
    assert len([event for event in told if "calls will fail" in formatEvent(event)]) == lines
