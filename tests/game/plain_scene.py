"""A tavern whose Mira thinks with a small model, and what its tests read."""

import sys
import types

import numpy as np
import pytest

from evennia_ai.llm.gateway import ModelGateway
from evennia_ai.llm.openai_client import build_body
from evennia_ai.memory import embedders
from evennia_ai.models import ToolCall
from evennia_ai.policy.conversation.requested_acts import ANSWERS, GRANTING
from evennia_ai.policy.limits.retry import GatewayLimits
from evennia_ai.store.lore_records import LoreRecords

NEVER = "You never open the cellar."
SECRET = "You buried a chest of gold under the old willow by the mill."


class Kinds:
    """An embedder that answers at once, with the kind of a text for its meaning."""

    name, dimensions = "kinds", 4

    def __init__(self):
        self.trouble = ""

    def embed(self, texts):
        return np.array([self.direction(text) for text in texts], dtype=np.float32)

    def direction(self, text):
        """Return the way of what is forbidden, of what grants, of what refuses, or of the rest."""
        if "cellar" in text:
            return (0.8, 0.6, 0, 0) if "Of course" in text else (1, 0, 0, 0)
        if text in ANSWERS:
            return (0, 1, 0, 0) if text in GRANTING else (0, 0, 1, 0)
        if "Of course" in text:
            return (0, 1, 0, 0)
        return (0, 0, 1, 0) if "Never" in text else (0, 0, 0, 1)


@pytest.fixture
def mira(mira, service):
    service.profiles["small"] = {
        "client": "openai", "model": "qwen-1.5b", "form": "plain", "base_url": "http://x/v1",
    }  # fmt: skip
    mira.assistant.db.profile = "small"
    mira.assistant.mind.settings.resolve()
    return mira


@pytest.fixture
def forbidding(mira, service):
    """Mira, who never opens the cellar, with an embedder that knows what that is about."""
    mira.db.ai_persona = {"text": "You are Mira.", "never": [NEVER]}
    mira.assistant.mind.settings.resolve()
    service.memory.embedder = Kinds()
    return mira


def says(game, player, line, *replies):
    """Let a player say a line and the model reply; return the requests of that."""
    before = len(game.model.requests)
    game.model.add(*replies)
    player.do(f"say {line}")
    game.run(1)
    return game.model.requests[before:]


def acts():
    return [(row.name, row.state) for row in ToolCall.objects.order_by("id")]


def sent(request, mira):
    """Return the messages of a request as a server gets them."""
    return build_body(request, mira.assistant.mind.settings.profile)["messages"]


def text_of(request):
    return "\n".join(str(message["content"]) for message in request.messages)


@pytest.fixture
def with_meaning(mira, service):
    """Mira with the game's own embedder."""
    pytest.importorskip("onnxruntime", reason="its extra is left out")
    service.memory.embedder = embedders.default()
    return mira


@pytest.fixture
def knowing(with_meaning, game, service):
    """Mira with the stand-in beside her model."""
    missing = "the stand-in is left out"
    brain = pytest.importorskip("evennia_ai.contrib.stand_in.brain", reason=missing)
    clients = {"offline": brain.StandIn(), "openai": game.model}
    service.gateway = ModelGateway(service.clock, clients, GatewayLimits())
    text = "You are Mira, who keeps the inn. You were born in Saltmere."
    with_meaning.db.ai_persona = {"text": text, "knows": [SECRET]}
    with_meaning.assistant.mind.settings.resolve()
    return with_meaning


def lore_of(service, *texts):
    module = types.ModuleType("plain_lore")
    module.LORE = [
        {"title": f"Entry {n}", "scopes": "all", "text": text} for n, text in enumerate(texts)
    ]
    sys.modules["plain_lore"] = module
    service.lore.fixed = LoreRecords(["plain_lore"]).fixed
