"""How near texts are by the game's embedder, which may be none, fail, or be far away."""

import numpy as np
import pytest
from twisted.internet.defer import Deferred, fail

from evennia_ai.errors import ProviderUnavailable
from evennia_ai.memory import remote_vectors
from evennia_ai.memory.remote_vectors import PAUSE_S, TIME_S, TextNearness
from evennia_ai.testing.minds import StandInServices

DIRECTIONS = {"mug": (1.0, 0.0), "cup": (0.8, 0.6), "war": (0.0, 1.0)}


class AtOnce:
    name, dimensions = "at once", 2

    def __init__(self):
        self.batches = []

    def embed(self, texts):
        self.batches.append(list(texts))
        return np.array([DIRECTIONS.get(text, (1.0, 0.0)) for text in texts], dtype=np.float32)


class Far:
    name, dimensions = "far", 2

    def __init__(self):
        self.asked, self.queries, self.answer = [], [], Deferred()

    def embed_later(self, texts, query=False):
        self.asked.append(list(texts))
        self.queries.append(query)
        return self.answer


@pytest.fixture
def services():
    return StandInServices(None)


def prepared(nearness, services, *texts):
    """Return True if it was prepared at once; a failure fails the test."""
    fired = []
    nearness.prepare(services, texts).addBoth(fired.append)
    assert fired in ([], [None]), fired
    return bool(fired)


def test_texts_are_compared_by_their_vectors(services):
    nearness = TextNearness(AtOnce)
    assert prepared(nearness, services, "mug", "cup", "war")
    assert nearness.cosines("mug", ["cup", "war", "mug"]) == pytest.approx([0.8, 0.0, 1.0])


def test_without_an_embedder_nothing_is_near(services):
    nearness = TextNearness(lambda: None)
    assert prepared(nearness, services, "mug", "cup")
    assert nearness.cosines("mug", ["cup"]) == []


def test_what_was_not_prepared_is_not_compared(services):
    nearness = TextNearness(AtOnce)
    prepared(nearness, services, "mug", "cup")
    assert nearness.cosines("mug", ["cup", "war"]) == nearness.cosines("war", ["mug"]) == []
    assert nearness.cosines("mug", []) == []


def test_a_text_is_embedded_once_and_an_empty_one_never(services):
    embedder = AtOnce()
    nearness = TextNearness(lambda: embedder)
    prepared(nearness, services, "mug", "mug", "  ", "")
    prepared(nearness, services, "mug", "cup")
    prepared(nearness, services, "mug", "cup")
    assert embedder.batches == [["mug"], ["cup"]]


def test_a_far_embedder_answers_later(services):
    far = Far()
    nearness = TextNearness(lambda: far)
    assert not prepared(nearness, services, "mug", "cup")
    far.answer.callback([np.array(DIRECTIONS[text]) for text in ("mug", "cup")])
    assert nearness.cosines("mug", ["cup"]) == pytest.approx([0.8])
    assert far.queries == [True]


@pytest.mark.parametrize("how", ["fails", "is silent"])
def test_an_embedder_that_does_not_answer_is_left_alone_for_a_while(services, how):
    far = Far()
    nearness = TextNearness(lambda: far)
    if how == "fails":
        far.answer = fail(ProviderUnavailable("down"))
    done = prepared(nearness, services, "mug", "cup")
    services.clock.advance(TIME_S)
    assert done is (how == "fails")
    assert nearness.cosines("mug", ["cup"]) == []
    assert prepared(nearness, services, "mug", "cup") and len(far.asked) == 1
    services.clock.advance(PAUSE_S)
    far.answer = Deferred()
    assert not prepared(nearness, services, "mug") and len(far.asked) == 2


def test_those_that_were_used_last_are_kept(services, monkeypatch):
    monkeypatch.setattr(remote_vectors, "MOST_TEXTS", 3)
    nearness = TextNearness(AtOnce)
    prepared(nearness, services, "mug", "cup", "war")
    prepared(nearness, services, "mug")
    prepared(nearness, services, "new")
    assert nearness.cosines("mug", ["war", "new"]) and nearness.cosines("mug", ["cup"]) == []


def test_all_texts_of_one_question_are_kept_however_many(services, monkeypatch):
    monkeypatch.setattr(remote_vectors, "MOST_TEXTS", 2)
    nearness = TextNearness(AtOnce)
    prepared(nearness, services, "mug", "cup", "war")
    assert len(nearness.cosines("mug", ["cup", "war"])) == 2


def test_texts_of_the_forgotten_are_dropped_and_others_stay(services):
    nearness = TextNearness(AtOnce)
    prepared(nearness, services, "mug", "cup", "war")
    nearness.forget(lambda work: work(), lambda text: text == "cup")
    assert nearness.cosines("mug", ["war"]) and nearness.cosines("mug", ["cup"]) == []
