"""The game of the game tier, for the dialogues, with the embedder that a game has by default."""

import pytest

from evennia_ai.memory import embedders
from tests.game import conftest as game_tier

service = game_tier.service
model = game_tier.model
game = game_tier.game
offline_game = game_tier.offline_game


@pytest.fixture
def embedder_setting(monkeypatch):
    """Return the setting EMBEDDER: the default, at once, since a thread would take real time."""
    if embedders.missing(embedders.DEFAULT):
        pytest.skip("the extra embeddings is not installed")
    monkeypatch.setattr(embedders, "make", lambda *_, **__: embedders.default())
    return embedders.DEFAULT
