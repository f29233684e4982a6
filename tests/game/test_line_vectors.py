"""Vectors of lines: made once, loaded again, and deleted with the lines."""

import numpy as np
import pytest
from twisted.internet.defer import Deferred, succeed

from evennia_ai.memory.remote_vectors import BATCH
from evennia_ai.models import LineVector, Message
from evennia_ai.services.memory_services import WORTH_TELLING
from evennia_ai.store.forget import erase_chunk
from tests.forgetting import forget_chunk
from tests.game import purge_scene
from tests.game import recalled_lines_scene as scene
from tests.game.recalled_lines_scene import ANN, BOB, Recalling, heard

pytestmark = pytest.mark.engine

mind, log = scene.mind, purge_scene.log


def test_vectors_are_made_once_and_loaded_afterwards(mind):
    mind.log(*(heard(f"goose number {n}") for n in range(45)))
    mind.prepare()
    mind.index.close()
    assert LineVector.objects.count() == 45
    mind.embedder.texts.clear()
    mind.restart()
    assert len(mind.found("goose number 7")) == 5
    assert mind.embedder.texts == ["goose number 7"]


@pytest.fixture
def known(game, mira):
    """Mira's own index with forty lines, their vectors stored."""
    mind = Recalling(game, mira)
    mind.index.close()
    game.service.memory.embedder = mind.embedder
    mind.seqs = mind.log(*(heard(f"goose {n}", (ANN, BOB)[n % 2]) for n in range(40)))
    mind.index = mira.assistant.mind.memories()
    mind.prepare()
    assert LineVector.objects.count() == len(mind.index) == 40
    return mind


def rest(mind):
    """How many of the forty lines are left: in the log, as vectors, in memory."""
    return Message.objects.count(), LineVector.objects.count(), len(mind.index)


def test_forgetting_a_speaker_takes_their_vectors_along(known):
    while forget_chunk(ANN):
        pass
    assert rest(known) == (20, 20, 20)
    assert "Ann" not in str(known.found("goose"))


def test_erasing_takes_all_vectors_along(known):
    while erase_chunk(known.script.id):
        pass
    assert rest(known) == (0, 0, 0)


class Endpoint:
    """An embedder elsewhere; it answers the first calls at once and the others on demand."""

    dimensions = 3

    def __init__(self, at_once=1_000, name="far"):
        self.at_once, self.name, self.asked = at_once, name, []

    def embed_later(self, texts, query=False):
        self.asked.append(list(texts))
        if len(self.asked) > self.at_once:
            return Deferred()
        return succeed(np.array([[1.0, "mare" in t, 0.0] for t in texts], dtype=np.float32))


def test_an_endpoint_makes_the_vectors_of_lines_batch_by_batch_behind_the_search(mind):
    mind.embedder = Endpoint(at_once=2)
    mind.index.close()
    mind.restart()
    mind.log(*(heard(f"goose {n}") for n in range(BATCH + 20)))
    mind.prepare("how is the mare?")  # fires although the second batch never comes
    assert [len(texts) for texts in mind.embedder.asked] == [1, BATCH, 20]
    assert f"goose {BATCH + 19}" in mind.embedder.asked[1]  # the newest lines come first
    assert LineVector.objects.count() == BATCH
    assert len(mind.search("goose")) == 5


def test_the_vectors_of_another_embedder_are_made_anew_also_over_a_restart(game, mind, admin):
    mind.log(*(heard(f"goose {n}") for n in range(BATCH + 20)))
    mind.prepare()
    mind.index.close()
    name = f"{mind.embedder.dimensions}:bag of words"
    assert {row.embedder for row in LineVector.objects.all()} == {name}
    seen = []
    for at_once in (1, 1_000):
        mind.embedder = Endpoint(at_once, "near")
        mind.restart()
        mind.prepare()
        seen.append(mind.index.waiting)
        assert len(mind.search("goose")) == 5
        mind.index.close()
    assert seen == [0, 0]
    made = [text for texts in mind.embedder.asked for text in texts]
    assert len(made) == 20
    assert {row.embedder for row in LineVector.objects.all()} == {"3:near"}


def test_the_status_says_how_many_vectors_are_missing(game, mira, admin):
    game.service.memory.embedder = Endpoint(at_once=0)
    mira.assistant.conversation.append([heard(f"goose {n}") for n in range(2 * WORTH_TELLING)])
    mira.assistant.mind.memories().prepare(game.service)
    game.run(1)
    count = 2 * WORTH_TELLING - BATCH
    assert f"Recall: {count} memories are ranked by words alone" in admin.told("aistatus")


def test_a_line_deleted_while_an_endpoint_works_leaves_no_vector(mind):
    endpoint = mind.embedder = Endpoint()
    answers = []

    def later(texts, query=False):
        answers.append((Deferred(), texts))
        return answers[-1][0]

    endpoint.embed_later = later
    mind.index.close()
    mind.restart()
    seqs = mind.log(*(heard(f"goose {n}") for n in range(20)))
    done = mind.index.prepare(mind.script.services)
    mind.game.run(1)
    Message.objects.filter(id=seqs[0]).delete()
    deferred, texts = answers[0]
    deferred.callback(np.ones((len(texts), 3), dtype=np.float32))
    mind.game.run()
    assert done.called
    mind.index.close()
    assert LineVector.objects.count() == 19
