"""A probe against a real HTTP server on loopback, and what that server is told to answer."""

import json

import pytest
from twisted.internet.task import Clock

from evennia_ai.config import ModelProfile
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.llm.probe import Prober, target_of
from evennia_ai.policy.probe.cases import sum_up
from evennia_ai.policy.probe.grading import TOOL, WORD

KEY = "4f1c9e77-a2b8-tavern"
TWO_CALLS = {
    "tool_calls": [
        {"name": TOOL, "arguments": {"colour": "red"}},
        {"name": TOOL, "arguments": {"colour": "blue"}},
    ]
}
IN_SCHEMA = {"text": json.dumps({"act": "give", "target": "mug", "say": "Here you are."})}
GOOD_ANSWERS = ({"text": WORD}, TWO_CALLS, {"text": "Both are noted."}, IN_SCHEMA)


class Probe:
    """Runs a probe to its end."""

    def __init__(self, pump, client):
        self.pump = pump
        self.clock = Clock()
        self.prober = Prober(self.clock, client)
        self.lines = []

    def start(self, profile):
        return self.prober.probe(profile, self.lines.append)

    def run(self, profile):
        return self.finish(self.start(profile), profile)

    def finish(self, started, profile):
        self.findings = self.pump.wait(started)
        self.verdict = sum_up(self.findings, target_of(profile))
        return self.findings

    def of(self, *states):
        return [(f.text, f.advice) for f in self.findings if f.state in states]


@pytest.fixture
def client(loop_thread):
    return OpenAIClient(loop_thread, {"STUB_KEY": KEY})


@pytest.fixture
def probe(pump, client):
    return Probe(pump, client)


@pytest.fixture
def profile(provider):
    return ModelProfile("tavern", "openai", "stub", provider.base_url, "STUB_KEY", 8_000)


def changed(profile, **changes):
    return ModelProfile(**{**vars(profile), **changes})


def listing(*models):
    """A page with a list of models; each is a name or a whole entry."""
    entries = [{"id": model} if isinstance(model, str) else model for model in models]
    return {"raw": json.dumps({"object": "list", "data": entries})}


def error(status, message):
    return {"raw": json.dumps({"error": {"message": message}}), "status": status}


NO_SCHEMA = error(400, "no response_format")
