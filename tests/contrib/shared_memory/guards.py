"""Guards of a faction who share what they learn."""

import pytest

from tests.scripted import call

BRIDGE = "The bridge at the mill is down."


@pytest.fixture
def guard(game, tavern):
    """Return a function that makes a guard who shares with its faction without delay."""

    def guard(name, room=None, faction="guards", share="faction", delay=0.0):
        made = game.assistant(name, room or game.room(f"{name}'s post"))
        made.tags.add(faction, category="faction")
        made.assistant.attributes.add("share_memory", share)
        made.assistant.attributes.add("share_delay", delay)
        return made

    return guard


@pytest.fixture
def bruno(guard):
    return guard("Bruno")


@pytest.fixture
def vera(guard):
    return guard("Vera")


@pytest.fixture
def sleep(game):
    """Return a function that runs the sharing step; it returns the step's result."""

    def sleep(character):
        character.assistant.mind.settings.resolve()
        return game.result(character.assistant.mind.sleep_pass.steps["shared_memory"](), 0.01)

    return sleep


@pytest.fixture
def knows(game):
    """Return a function that searches an assistant's memory."""

    def knows(character, words="the bridge at the mill", audience=None, limit=5):
        script = character.assistant
        memories = script.mind.memories()
        assert game.result(memories.prepare(script.services, [words]), 0.01) is None
        found = memories.search(words, limit, audience, script.services.now())
        return [hit.record["content"] for hit in found]

    return knows


def learn(character, content=BRIDGE, **fields):
    return character.journal.add(content, **{"importance": 7, **fields})


def asked_for(game, player, name, words):
    """Return the task part of the prompt for a player's words."""
    game.model.add(call("say", text="Well."))
    player.do(f"say {name}, {words}")
    game.run(1)
    return game.tail()
