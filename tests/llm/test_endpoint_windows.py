"""An endpoint is asked for its model's window once, when it has answered well."""

import pytest
from twisted.internet.defer import CancelledError, Deferred, fail, succeed

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ProviderUnavailable
from evennia_ai.llm.endpoint_windows import EndpointWindows, LearningClient
from evennia_ai.ports import LLMRequest
from evennia_ai.testing.scripted import ScriptedLLM

HOME = ModelProfile("home", client="openai", model="ours", base_url="http://localhost:8000/v1")


@pytest.fixture
def asked():
    return []


@pytest.fixture
def windows(asked):
    def ask(profile):
        asked.append(profile.model)
        return succeed(16_000)

    return EndpointWindows(ask)


def complete(client, profile=HOME):
    came = []
    client.complete(LLMRequest([], None), profile).addBoth(came.append)
    return came[0]


def test_after_its_first_good_reply_an_endpoint_is_asked_and_never_again(windows, asked):
    client = LearningClient(ScriptedLLM(["one", "two"]), windows)
    assert windows.told(HOME.base_url, "ours") is None
    assert [complete(client).content, complete(client).content] == ["one", "two"]
    assert asked == ["ours"]
    assert windows.told(HOME.base_url, "ours") == 16_000
    assert windows.told("http://elsewhere/v1", "ours") is None


def test_an_endpoint_that_does_not_answer_is_not_asked(windows, asked):
    client = LearningClient(ScriptedLLM([ProviderUnavailable("gone")]), windows)
    assert complete(client).check(ProviderUnavailable)
    assert asked == []


def test_where_the_profile_says_the_window_nobody_is_asked(windows, asked):
    told = ModelProfile("told", client="openai", model="ours", context_window=8_000)
    complete(LearningClient(ScriptedLLM(["one"]), windows), told)
    assert asked == []


@pytest.mark.parametrize("error", [ProviderUnavailable("no list"), CancelledError(), ValueError()])
def test_a_failure_is_nothing_told(error):
    windows = EndpointWindows(lambda _profile: fail(error))
    windows.learn(HOME)
    assert windows.told(HOME.base_url, "ours") is None


def test_the_reply_does_not_wait_for_what_the_endpoint_tells():
    client = LearningClient(ScriptedLLM(["one"]), EndpointWindows(lambda _profile: Deferred()))
    assert complete(client).content == "one"
