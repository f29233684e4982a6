"""Three weeks of a game, in short: tests/bench/test_mud_world.py is the whole of it."""

from functools import partial

import pytest

from evennia_ai.config.resolve import EMBEDDINGS
from evennia_ai.memory import embedders
from evennia_ai.models import Message
from tests.bench.mud_world import FACT, PROMISED, WHISPER, Size, make_world
from tests.bench.mud_world_lived import NEWEST, WORDS, Lived

pytestmark = pytest.mark.campaign

WORLD = make_world(Size(assistants=3, players=8, days=20, regulars=6, kinds=5, idle=5), 3)


@pytest.fixture
def lived(game):
    if EMBEDDINGS.advice:
        pytest.skip(EMBEDDINGS.advice)
    game.service.memory.embedder = embedders.default()
    found = Lived(WORLD, game.service)
    found.live()
    return found


def test_the_newest_word_and_a_promise_are_told_and_no_secret_is(lived):
    # Old and new words of a thing stand in the order of time, each with its age.
    ours = lived.missed(lived.search, lived.is_shown, FACT)
    assert ours <= 10
    for name in (WORDS, NEWEST):
        simple = lived.missed(partial(lived.baseline, name), lived.is_shown, FACT)
        assert simple >= ours + 20, name
    assert lived.missed(lived.search, lived.is_shown, PROMISED) == 0
    assert lived.unprompted(PROMISED) == 0
    assert lived.unprompted(WHISPER) <= 20  # its owner is told, so that a leak could be
    leaks, looked_at = lived.leaks()
    assert leaks == [] and looked_at > 200


def test_a_leak_would_be_seen(lived):
    for mind in lived.minds.values():
        script = mind.assistant
        Message.objects.filter(assistant_id=script.id).update(private=False)
        for records in (mind.journal, mind.ai_profiles):
            records.update_all({one["id"]: {"audience": None} for one in records.all()})
        script.conversation.forget_view()
        script.services.memory_indices.drop(script.id)
    leaks, _ = lived.leaks()
    assert {leak.where for leak in leaks} == {"search", "prompt"}
