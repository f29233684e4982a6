"""The kinds of sentences that are learned on MiniLM's vectors."""

import numpy as np
import pytest

from evennia_ai.config.resolve import EMBEDDINGS
from evennia_ai.memory import embedders
from evennia_ai.memory.local_models import KINDS_FILE, kind_weights, kinds_of
from evennia_ai.memory.remote_vectors import TextNearness
from evennia_ai.testing.minds import StandInServices


@pytest.fixture(scope="module")
def kinds():
    if EMBEDDINGS.advice:
        pytest.skip(EMBEDDINGS.advice)
    nearness = TextNearness(embedders.default)

    def kind(text):
        nearness.prepare(StandInServices(None), [text])
        return nearness.kinds(text)

    return kind


def test_a_fact_is_told_and_a_promise_or_a_request_is_not(kinds):
    fact = kinds("The mill burned down last winter.").told
    for line in ("I'll fetch the doctor tomorrow, promise.", "Please fetch the doctor."):
        assert kinds(line).told < fact / 2


def test_a_jest_is_told_from_a_fact(kinds):
    jest, fact = kinds("I ate your sister's cow lol, jk"), kinds("My sister has a cow.")
    assert jest.jest > 0.5 > fact.jest


def test_a_deed_is_told_from_a_promise_of_one(kinds):
    done, promised = "Rolf repaired the well.", "Rolf promised to repair the well."
    assert kinds(done).deed > 0.5 > kinds(promised).deed


def test_the_weights_hold_for_no_other_embedder():
    assert kind_weights().shape == (385, 8) and KINDS_FILE.stat().st_size < 10_000
    assert kinds_of(np.ones(384, dtype=np.float32), "another") is None
    assert TextNearness(lambda: None).kinds("not prepared") is None
