"""Two endpoints behind one profile over real HTTP: one dies, and no call is lost."""

import contextlib
import socket
from types import SimpleNamespace

import pytest
from twisted.internet.task import Clock

from evennia_ai.config import resolve_profile
from evennia_ai.llm.endpoint_facts import EndpointRegistry, LearningClient
from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.llm.probe import Prober
from evennia_ai.policy.limits.breaker import BreakerLimits
from evennia_ai.policy.limits.fair_queue import GatewayLimits
from evennia_ai.ports import Caller, LLMRequest, Scene
from tests.llm.test_endpoint_facts import MemoryFacts
from tests.provider import FaultyProvider

PAUSE_S = 10.0
DEADLINE_S = 30.0


@pytest.fixture
def providers(tmp_path):
    """Two providers of the test's own, since it kills them."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(FaultyProvider(tmp_path / f"requests-{n}.jsonl")) for n in (1, 2)
        ]


@pytest.fixture
def hall(pump, loop_thread, providers):
    """A gateway with a real client, and a profile of both providers."""
    clock = Clock()
    client = OpenAIClient(loop_thread, {})
    registry = EndpointRegistry(Prober(clock, client).window, MemoryFacts())
    limits = GatewayLimits(breaker=BreakerLimits(failures=1, pause_s=PAUSE_S))
    clients = {"openai": LearningClient(client, registry, clock)}
    gateway = ModelGateway(clock, clients, limits, jitter=lambda: 0.0)
    raw = {"client": "openai", "model": "stub", "endpoints": [one.base_url for one in providers]}

    def ask(*names):
        """Ask for each of some characters at once."""
        profile = registry.told(resolve_profile("hall", {"hall": raw}))
        return [gateway.complete(request_of(name), profile, DEADLINE_S) for name in names]

    def run_until(done):
        """Run what the client hands over, until ``done()``."""
        while not done():
            function, args = pump.jobs.get(timeout=20)
            function(*args)
            clock.advance(0)  # a call that moves to the other endpoint

    def replies(deferreds):
        """Return what came, when all calls have ended."""
        ended = []
        for deferred in deferreds:
            deferred.addBoth(ended.append)
        run_until(lambda: len(ended) == len(deferreds))
        return ended

    return SimpleNamespace(
        clock=clock, gateway=gateway, raw=raw, ask=ask, replies=replies, run_until=run_until
    )


def request_of(name):
    messages = [{"role": "user", "content": f"{name} says: hello"}]
    return LLMRequest(messages, Scene("", "", ()), caller=Caller(assistant=name, turn_id=1))


def counts(providers):
    return [len([one for one in provider.requests() if "body" in one]) for provider in providers]


def listens(provider):
    with contextlib.suppress(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", provider.port)).close()
        return True
    return False


def all_answered(replies):
    return all(reply.content or reply.tool_calls for reply in replies)


def test_an_endpoint_that_dies_under_calls_loses_none_of_them(hall, providers, eventually):
    for provider in providers:
        provider.control(latency=0.5)
    calls = hall.ask("Ann", "Bo", "Cy", "Di")
    eventually(lambda: counts(providers) == [2, 2])
    providers[0].stop()
    assert all_answered(hall.replies(calls))
    assert counts(providers) == [2, 4]
    assert all_answered(hall.replies(hall.ask("Ann", "Bo", "Cy", "Di", "Ed")))
    assert counts(providers) == [2, 9]


def test_an_endpoint_that_is_down_gets_no_calls_until_a_trial_says_that_it_is_back(
    hall, providers, eventually
):
    assert all_answered(hall.replies(hall.ask("Ann", "Bo")))
    assert counts(providers) == [1, 1]
    providers[0].control(refuse=0.5)
    assert all_answered(hall.replies(hall.ask("Ann", "Bo")))
    assert counts(providers) == [1, 3]
    eventually(lambda: listens(providers[0]))
    hall.clock.advance(PAUSE_S)
    assert all_answered(hall.replies(hall.ask("Ann")))
    eventually(lambda: counts(providers) == [2, 4])
    assert providers[0].requests()[-1]["body"]["max_tokens"] == 1
    hall.run_until(lambda: not hall.gateway.health()[0].error)
    assert all_answered(hall.replies(hall.ask("Ann", "Cy")))
    assert counts(providers) == [3, 5]


def test_each_slot_of_a_server_belongs_to_a_character(hall, providers):
    providers[0].control(speed={"slots": 4})
    hall.raw["endpoints"] = [{"base_url": providers[0].base_url, "slots": 4}]
    for _ in range(2):
        for name in ("Ann", "Bo", "Cy"):
            hall.replies(hall.ask(name))
    bodies = [one["body"] for one in providers[0].requests()]
    assert [body["id_slot"] for body in bodies] == [0, 1, 2, 0, 1, 2]
    assert {body["cache_prompt"] for body in bodies} == {True}
