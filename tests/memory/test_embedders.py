"""Embedders: what a game may choose, and what happens where it does not work."""

import json
import queue
import threading

import numpy as np
import pytest
from twisted.internet.defer import fail, succeed
from twisted.internet.task import Clock

from evennia_ai.errors import ConfigError, MemoryUnavailable, ProviderRejected, ProviderUnavailable
from evennia_ai.llm.openai_client import RawResponse
from evennia_ai.memory import embedders
from evennia_ai.memory.index import MemoryIndex
from evennia_ai.memory.worker import Worker

ENDPOINT = {"base_url": "http://localhost:1/v1", "model": "small", "dimensions": 2}


class Client:
    """Answers every exchange alike, and notes what was sent."""

    def __init__(self, outcome):
        self.outcome = outcome
        self.sent = []

    def exchange(self, profile, method, path, body=None):
        self.sent.append((profile.base_url, method, path, body))
        return self.outcome


def reply(vectors, status=200):
    rows = [{"index": number, "embedding": vector} for number, vector in vectors]
    return succeed(RawResponse(status, json.dumps({"data": rows}).encode()))


def outcome_of(deferred):
    found = []
    deferred.addBoth(found.append)
    return found[0]


def test_an_embedder_that_was_turned_off_leaves_it_to_the_words():
    assert embedders.make("none") is None
    index = MemoryIndex(embedders.make("none"))
    index.add("a", "a dragon")
    assert [name for name, *_ in index.find("the dragon", 1)] == ["a"]


@pytest.mark.parametrize(
    "setting",
    [
        "word2vec",
        3,
        {},
        {"sentence_transformers": "/some/folder"},
        {"folder": "/no/such/folder"},
        {"folder": "/no/such/folder", "query_prefix": 5},
        {**ENDPOINT, "dimensions": 0},
        {**ENDPOINT, "dimensions": True},
        {**ENDPOINT, "model": ""},
        {**ENDPOINT, "base_url": 5},
        {**ENDPOINT, "query_prefix": 5},
    ],
    ids=str,
)
def test_a_setting_that_cannot_work_is_explained(setting):
    with pytest.raises(ConfigError, match="EMBEDDER"):
        embedders.make(setting, Client(None))


def test_a_refused_setting_is_shown_without_its_secrets():
    for setting in (
        "http://me:open-sesame@host/v1",
        {"api_key": "open-sesame", "base_url": "http://me:open-sesame@host"},
    ):
        with pytest.raises(ConfigError, match="EMBEDDER must be") as caught:
            embedders.make(setting)
        assert "open-sesame" not in str(caught.value)


def test_an_endpoint_is_asked_for_all_texts_at_once_and_answers_in_any_order():
    client = Client(reply([(1, [0.0, 2.0]), (0, [3.0, 4.0])]))
    embedder = embedders.make(ENDPOINT, client)
    vectors = outcome_of(embedder.embed_later(["one", "two"]))
    assert np.allclose(vectors, [[0.6, 0.8], [0.0, 1.0]])
    body = {"model": "small", "input": ["one", "two"]}
    assert client.sent == [("http://localhost:1/v1", "POST", "embeddings", body)]


def test_an_endpoint_is_told_queries_from_passages():
    client = Client(reply([(0, [3.0, 4.0])]))
    embedder = embedders.make(
        {**ENDPOINT, "query_prefix": "query: ", "passage_prefix": "passage: "}, client
    )
    embedder.embed_later(["one"])
    client.outcome = reply([(0, [3.0, 4.0])])
    embedder.embed_later(["one"], query=True)
    assert [body["input"] for *_, body in client.sent] == [["passage: one"], ["query: one"]]


class Model:
    """A model that notes its texts, and the threads that called it."""

    name, dimensions = "slow", 2

    def __init__(self, error=None):
        self.error, self.loads, self.texts, self.threads = error, 0, [], set()

    def load(self):
        self.loads += 1
        if self.error:
            raise self.error

    def embed(self, texts):
        self.load()
        self.texts.append(list(texts))
        self.threads.add(threading.current_thread())
        return np.array([[len(text), 0.0] for text in texts], dtype=np.float32)


class Threaded:
    """An embedder in a thread, and the calls that it has made of the reactor's thread."""

    def __init__(self, model):
        self.calls = queue.Queue()
        self.worker = Worker(Clock(), lambda *call: self.calls.put(call), "test")
        self.embedder = embedders.ThreadEmbedder(model, self.worker)

    def wait_for(self, *deferreds):
        """Run what the thread hands over until all have fired; return their results."""
        results = []
        for deferred in deferreds:
            deferred.addBoth(results.append)
        while len(results) < len(deferreds):
            function, *given = self.calls.get(timeout=120)
            function(*given)
        return results


@pytest.fixture
def threaded():
    made = []
    yield lambda model: made.append(Threaded(model)) or made[-1]
    for thread in made:
        thread.worker.stop(int)


def test_a_model_never_runs_in_the_reactors_thread(threaded):
    model = Model()
    thread = threaded(model)
    assert not hasattr(thread.embedder, "embed") and thread.embedder.dimensions == 2
    (vectors,) = thread.wait_for(thread.embedder.embed_later(["one"], query=True))
    assert vectors.tolist() == [[3.0, 0.0]]
    assert threading.current_thread() not in model.threads


def test_a_question_comes_between_the_texts_of_memories(threaded):
    model = Model()
    thread = threaded(model)
    many = [str(number) for number in range(3 * embedders.AT_A_TIME)]
    waits = [thread.embedder.embed_later(many), thread.embedder.embed_later(many)]
    waits.append(thread.embedder.embed_later(["who?"], query=True))
    results = {len(vectors) for vectors in thread.wait_for(*waits)}
    assert results == {len(many), 1}
    assert model.texts.index(["who?"]) <= 1
    assert [text for texts in model.texts for text in texts if text != "who?"] == many * 2


@pytest.mark.parametrize("error", [ConfigError("no model"), RuntimeError("out of memory")], ids=str)
def test_a_model_that_fails_says_so_and_words_rank(threaded, error):
    thread = threaded(Model(error))
    (failure,) = thread.wait_for(thread.embedder.embed_later(["one"]))
    failure.trap(MemoryUnavailable)
    assert str(error) in thread.embedder.trouble


def test_the_former_default_is_read_as_the_new_one(monkeypatch):
    monkeypatch.setattr(embedders, "default", Model)
    assert isinstance(embedders.make("wordllama"), Model)
    assert embedders.missing("wordllama") == embedders.missing("minilm")


def test_an_index_does_not_wait_for_an_endpoint():
    index = MemoryIndex(embedders.make(ENDPOINT, Client(None)))
    index.add("a", "a dragon")
    index.add("b", "bread", vector=[1.0, 0.0])
    assert [name for name, *_ in index.find("the dragon", 1)] == ["a"]
    assert [name for name, *_ in index.find("?", 1, vector=[1.0, 0.1])] == ["b"]


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (reply([], 503), ProviderUnavailable),
        (reply([], 429), ProviderUnavailable),
        (reply([], 404), ProviderRejected),
        (reply([(0, [1.0, 2.0])]), ProviderRejected),
        (reply([(0, [1.0]), (1, [1.0])]), ProviderRejected),
        (reply([(0, [1.0, float("nan")]), (1, [1.0, 1.0])]), ProviderRejected),
        (succeed(RawResponse(200, b"<html>")), ProviderRejected),
        (succeed(RawResponse(200, b"[]")), ProviderRejected),
        (fail(ConnectionError("no")), ProviderUnavailable),
        (fail(ProviderRejected("no key")), ProviderRejected),
    ],
    ids=range(10),
)
def test_whatever_an_endpoint_does_it_is_one_of_our_errors(outcome, error):
    embedder = embedders.make(ENDPOINT, Client(outcome))
    outcome_of(embedder.embed_later(["one", "two"])).trap(error)
