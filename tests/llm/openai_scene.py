"""An openai client, and a profile for the stub provider on loopback."""

import socket

import pytest

from evennia_ai.config import ModelProfile
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.policy.call_record import PromptTrace
from evennia_ai.ports import LLMRequest, RequestSource

KEY = "4f1c9e77-a2b8-tavern"
BAD_KEYS = {"EMPTY": " ", "ACCENT": "sk-\u00e9", "CONTROL": "sk-\x07x"}
REQUEST = LLMRequest(
    messages=[{"role": "user", "content": "Ann says: hello"}],
    tools=[{"type": "function", "function": {"name": "say", "parameters": {}}}],
    max_tokens=50,
    trace=PromptTrace(),
    source=RequestSource(None),
)


@pytest.fixture
def client(loop_thread):
    return OpenAIClient(loop_thread, {"STUB_KEY": KEY, **BAD_KEYS})


@pytest.fixture
def profile(provider):
    return ModelProfile("tavern", "openai", "stub", provider.base_url, "STUB_KEY")


def refusing_address():
    """An address nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
