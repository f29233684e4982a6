"""Without the optional packages a game plays, and the status says what is missing."""

import sys

import pytest

from evennia_ai.memory.semantic import LongTermMemory, read_settings

KEY = "The key to the cellar lies under the third barrel."


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """Neither mem0 nor wordllama can be imported."""
    for name in ("mem0", "wordllama"):
        monkeypatch.setitem(sys.modules, name, None)


def test_memories_are_found_by_their_words(game, mira, ann):
    mira.journal.add(KEY)
    memories = mira.assistant.mind.memories()
    memories.prepare(game.service)
    game.run(1)
    found = memories.search("cellar key", 1, None, game.service.now())
    assert [item.record["content"] for item in found] == [KEY]


def test_the_status_names_both_and_how_to_get_them(game, admin, tmp_path):
    service = game.service
    settings = read_settings({}, tmp_path)
    service.semantic = LongTermMemory(service.clock, lambda work: work(), settings, lambda: None)
    status = admin.told("aistatus")
    assert "Recall: wordllama is not installed" in status
    assert "Long-term memory: mem0ai is not installed" in status
    assert "pip install '.[memory]' in the checkout" in status
    assert "fix this" not in status
