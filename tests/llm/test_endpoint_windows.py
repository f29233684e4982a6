"""An endpoint tells the size of its model's context window, if it is asked in its own way."""

import json
from functools import partial

import pytest
from twisted.internet.defer import CancelledError
from twisted.internet.task import Clock

from evennia_ai.llm.endpoint_facts import LOCAL_ASK_S, ask_window
from tests.llm import openai_scene as scene

client, profile = scene.client, scene.profile

PROPS = {"raw": json.dumps({"default_generation_settings": {"n_ctx": 4096}})}
LOADED = {"raw": json.dumps({"models": [{"name": "stub:latest", "context_length": 8192}]})}
REFUSED = {"raw": json.dumps({"error": {"message": "no"}}), "status": 500}


def listing(**entry):
    """A page with a list of models, one of them ours."""
    entries = [{"id": "other"}, {"id": "stub", **entry}]
    return {"raw": json.dumps({"object": "list", "data": entries})}


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def window(clock, client, profile):
    return partial(ask_window, clock, client, profile)


@pytest.mark.parametrize(
    ("pages", "tokens"),
    [
        ({"GET /v1/models": listing(max_model_len=32768)}, 32_768),
        ({"GET /v1/models": listing(owned_by="llamacpp"), "GET /props": PROPS}, 4_096),
        ({"GET /v1/models": listing(owned_by="library"), "GET /api/ps": LOADED}, 8_192),
        ({"GET /v1/models": listing(owned_by="library"), "GET /api/ps": REFUSED}, None),
        ({"GET /v1/models": {"raw": "<html>", "status": 200}}, None),
        ({"GET /v1/models": REFUSED}, None),
        ({}, None),
    ],
)
def test_an_endpoint_is_asked_for_its_window_and_nothing_else(
    pages, tokens, window, pump, provider
):
    provider.control(pages=pages)
    assert pump.wait(window()) == tokens
    assert not [ask for ask in provider.requests() if "completions" in ask["path"]]


def test_a_silent_server_tells_no_window(window, clock, pump, provider):
    provider.control(latency=60, pages={"GET /v1/models": {**listing(), "latency": 60}})
    running = window()
    clock.advance(LOCAL_ASK_S)
    assert pump.wait(running) is None
    assert not clock.getDelayedCalls()


def test_a_server_that_stops_ends_it_without_an_answer(window, clock, loop_thread, provider):
    provider.control(latency=60, pages={"GET /v1/models": {**listing(), "latency": 60}})
    failures = []
    window().addErrback(failures.append)
    loop_thread.stop()
    assert failures[0].check(CancelledError)
    assert not clock.getDelayedCalls()
