"""A probe against a real HTTP server on loopback, and what that server is told to answer."""

import json

import pytest
from twisted.internet.task import Clock

from evennia_ai.config import ModelProfile
from evennia_ai.contrib.probe.prober import TOOL, Prober
from evennia_ai.llm.openai_client import OpenAIClient

KEY = "4f1c9e77-a2b8-tavern"
HELLO = {"text": "Good evening, Ann."}
TWO_CALLS = {"tool_calls": [{"name": TOOL, "arguments": {"colour": c}} for c in ("red", "blue")]}
TALE = {"text": "It is old and warm. The beer is good."}
GOOD_ANSWERS = (HELLO, TWO_CALLS, TALE)


class Probe:
    """Runs a probe to its end."""

    def __init__(self, pump, client):
        self.pump = pump
        self.clock = Clock()
        self.lines = []
        self.kept = []
        self.prober = Prober(self.clock, client, lambda *found: self.kept.append(found))

    def start(self, profile):
        return self.prober.probe(profile, self.lines.append)

    def run(self, profile):
        self.findings = self.pump.wait(self.start(profile))
        return self.findings

    @property
    def told(self):
        """Every state, sentence and advice, a line each."""
        return "\n".join(f"{f.state}: {f.text} {f.advice}".strip() for f in self.findings)


@pytest.fixture
def client(loop_thread):
    return OpenAIClient(loop_thread, {"STUB_KEY": KEY})


@pytest.fixture
def probe(pump, client):
    return Probe(pump, client)


@pytest.fixture
def profile(provider):
    return ModelProfile("tavern", "openai", "stub", provider.base_url, "STUB_KEY", 8_000)


def listing(*models):
    """A page with a list of models; each is a name or a whole entry."""
    entries = [{"id": model} if isinstance(model, str) else model for model in models]
    return {"raw": json.dumps({"object": "list", "data": entries})}


def error(status, message):
    return {"raw": json.dumps({"error": {"message": message}}), "status": status}
