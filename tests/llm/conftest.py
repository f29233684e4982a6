"""A stand-in for the reactor's thread, and a stub provider on loopback."""

import importlib
import time
from queue import Queue
from unittest.mock import Mock

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.ports import LLMRequest
from tests.llm.endpoint_cases import Server
from tests.policy.replies.test_reply_reader import tool
from tests.provider import one_provider

provider_process, provider = one_provider.provider_process, one_provider.provider

LONGEST_WAIT_S = 120.0
TOOLS = [tool("say", "text"), tool("look", target="")]


class Pump:
    """Runs what other threads hand over, in the test's thread, as the reactor would."""

    def __init__(self):
        self.jobs = Queue()

    def call_from_thread(self, function, *args):
        self.jobs.put((function, args))

    def wait(self, deferred):
        """Return the outcome of a Deferred: its result or its Failure."""
        outcome = []
        deferred.addBoth(outcome.append)
        while not outcome:
            function, args = self.jobs.get(timeout=LONGEST_WAIT_S)
            function(*args)
        return outcome[0]

    def error(self, deferred):
        """Return the exception that a Deferred fails with."""
        return self.wait(deferred).value


@pytest.fixture
def pump():
    return Pump()


@pytest.fixture
def loop_thread(pump):
    loop_thread = LoopThread(pump.call_from_thread)
    loop_thread.start()
    yield loop_thread
    loop_thread.stop()


@pytest.fixture(params=["aiohttp", "httpx"])
def transport(request, monkeypatch):
    """Send over aiohttp, and over httpx as if aiohttp were not installed."""
    importlib.import_module("aiohttp")
    if request.param == "httpx":
        openai, missing = importlib.import_module("openai"), Mock(side_effect=RuntimeError)
        monkeypatch.setattr(openai, "DefaultAioHttpClient", missing)


@pytest.fixture
def eventually():
    """Wait for a condition that another process or thread fulfils."""

    def wait(condition):
        end = time.monotonic() + LONGEST_WAIT_S
        while not condition():
            assert time.monotonic() < end, "it never happened"
            time.sleep(0.005)

    return wait


@pytest.fixture
def ask(pump, loop_thread):
    """Return what becomes of an answer: the reply and the calls that ran early, or the error."""

    def ask(body, status=200, headers=(), form="tools", streamed=False):
        early = []
        client = OpenAIClient(loop_thread, {})
        server = Server((status, body, headers))
        profile = ModelProfile("p", "openai", "m", server.base_url, stream=streamed)
        request = LLMRequest(
            [{"role": "user", "content": "Ann says: hello"}],
            TOOLS,
            form=form,
            on_call=early.append if streamed else None,
        )
        try:
            return pump.wait(client.complete(request, profile)), early
        finally:
            server.close()

    return ask
