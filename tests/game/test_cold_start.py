"""A local model that has just been started: more time, and the shared prompt read beforehand."""

import pytest
from twisted.internet.defer import CancelledError, Deferred, fail
from twisted.logger import formatEvent, globalLogPublisher

from evennia_ai.errors import ProviderUnavailable
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.messages import LLMReply, Usage
from evennia_ai.policy.limits.endpoints import FIRST_DEADLINE_S
from evennia_ai.policy.limits.money import ASSISTANT, GAME
from evennia_ai.policy.limits.retry import LOADING_CODE, LOADING_PAUSE_S
from evennia_ai.policy.request_forms.form import FORMS, SCHEMA
from evennia_ai.services import assistant_service
from evennia_ai.services.model_access import local_models
from tests.scripted import ScriptedLLM, call, spent_today

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


# --- the warm-up ---


def test_only_local_models_that_assistants_use_are_warmed_up(service, mira, game, tavern):
    far = {**HOME, "base_url": "https://api.example.com/v1"}
    service.profiles.update(home=HOME, far=far, unused={**HOME, "model": "unused"})
    assert models(service) == []
    for name, profile in (("Gus", "home"), ("Ida", "home"), ("Tom", "far"), ("Eve", "gone")):
        game.assistant(name, tavern).assistant.db.profile = profile
    assert models(service) == ["ours"]
    mira.assistant.db.profile = "home"
    mira.assistant.db.llm_model = "own"
    assert models(service) == ["ours", "own"]


def models(service):
    return sorted(one.model for one in local_models(service.profiles, service.endpoints.told))


def test_the_games_own_profile_counts(service, settings):
    service.profiles["home"] = HOME
    settings.AI_ASSISTANT = {"profile": "home", "llm_model": "big"}
    assert models(service) == ["big"]


@pytest.fixture
def log():
    """Return what is logged of the warm-up."""
    lines = []

    def keep(event):
        if event.get("purpose") == "warm_up":
            lines.append(formatEvent(event))

    globalLogPublisher.addObserver(keep)
    yield lines
    globalLogPublisher.removeObserver(keep)


@pytest.fixture
def started(service, home, game):
    """Start the server cold, with these answers of the model; return the requests to it."""

    def start(*answers):
        model = ScriptedLLM(answers)
        service.gateway = ModelGateway(game.clock, {"openai": model}, jitter=lambda: 1.0)
        assistant_service.at_server_cold_start()
        return model.requests

    return start


@pytest.mark.parametrize("form", FORMS)
def test_it_sends_one_token_of_what_all_prompts_begin_with(form, started, service, ann, game):
    service.profiles["home"] = {**HOME, "form": form}
    requests = started("R", call("noop"))
    ann.do("say hello Mira")
    game.run()
    warmed, asked = requests
    assert (warmed.form, asked.form, warmed.max_tokens) == (form, form, 1)
    assert warmed.caller.background and not warmed.caller.speakers
    assert warmed.tools and list(asked.tools)[: len(warmed.tools)] == list(warmed.tools)
    rules = warmed.messages[0]["content"]
    assert asked.messages[0]["content"].startswith(rules)
    assert ("{" in rules) == (form == SCHEMA)


def test_while_the_server_loads_the_model_it_is_asked_again(started, game, log):
    requests = started(LOADING, LOADING, LLMReply("R", usage=Usage(900, 1)))
    for _ in range(5):
        game.clock.advance(2 * LOADING_PAUSE_S)
    assert len(requests) == 3
    assert log == [
        "evennia_ai: warm_up: ours read the beginning of all prompts (900 tokens) in 4.0 s"
    ]


def test_if_nothing_listens_it_gives_up_with_one_line(started, game, log):
    started(*[ProviderUnavailable("nothing listens there")] * 4)
    for _ in range(5):
        game.clock.advance(FIRST_DEADLINE_S)
    (line,) = log
    assert line.endswith("not done for ours, its first answer takes longer: nothing listens there")


def test_it_does_not_wait_for_ever(started, game, log):
    cancelled = []
    started(Deferred(cancelled.append))
    game.clock.advance(FIRST_DEADLINE_S)
    assert len(cancelled) == len(log) == 1


def test_a_server_that_stops_says_nothing_of_it(started, service, log):
    started(Deferred())
    service.quiesce()
    assert log == []


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


def test_no_player_pays_for_it(started, service):
    started(LLMReply("R", usage=Usage(900, 1)))
    assert {kind for kind, _ in spent_today(service.gateway)} <= {GAME, ASSISTANT}


def test_a_reload_does_not_warm_up(started):
    requests = started("R")
    assistant_service.at_server_start()
    assert len(requests) == 1
    assert {tool["function"]["name"] for tool in requests[0].tools} >= {"say", "noop"}


def test_a_game_may_do_without(started, settings):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "WARM_UP": False}
    assert started("R") == []


def test_while_all_assistants_are_stopped_nothing_is_sent(started, service):
    service.switched_off = "stopped"
    assert started("R") == []
