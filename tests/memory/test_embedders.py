"""Embedders: what a game may choose, and what happens where it does not work."""

import json
import queue
import subprocess
import sys
import threading

import numpy as np
import pytest
from twisted.internet.defer import fail, succeed
from twisted.internet.task import Clock

from evennia_ai.errors import ConfigError, ProviderRejected, ProviderUnavailable
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
    return succeed(RawResponse(status, "application/json", json.dumps({"data": rows}).encode()))


def outcome_of(deferred):
    found = []
    deferred.addBoth(found.append)
    return found[0]


@pytest.fixture
def unloaded(monkeypatch):
    """The default embedder as a new process has it."""
    monkeypatch.setattr(embedders, "default", embedders.WordLlamaEmbedder)


def test_the_embedded_one_knows_what_is_near():
    vectors = embedders.default().embed(["a big dog", "the large hound", "taxes are due", ""])
    assert vectors.shape == (4, 256) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors[:3], axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.4
    assert vectors[0] @ vectors[2] < 0.1


def test_a_text_has_the_same_vector_among_any_others():
    embedder = embedders.default()
    together = embedder.embed(["a dog", "a very much longer text about nothing", "a dog"])
    assert np.array_equal(together[0], together[2])
    assert np.array_equal(together[0], embedder.embed(["a dog"])[0])


def test_nothing_is_loaded_before_it_is_used():
    code = (
        "import sys, evennia_ai.memory.embedders as e; e.default(); "
        "print([n for n in ('wordllama', 'tokenizers', 'mem0', 'openai') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_where_it_is_not_installed_the_message_says_so(unloaded, monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(ConfigError, match=r"wordllama.*pip install"):
        embedders.make()


def test_an_embedder_that_was_turned_off_leaves_it_to_the_words():
    assert embedders.make("none") is None
    index = MemoryIndex(embedders.make("none"))
    index.add("a", "a dragon")
    assert [name for name, _ in index.search("the dragon", 1)] == ["a"]


@pytest.mark.parametrize(
    "setting",
    [
        "minilm",
        3,
        {},
        {"sentence_transformers": "/no/such/folder"},
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


def test_a_folder_without_a_model_is_explained(tmp_path):
    with pytest.raises(ConfigError, match="sentence-transformers"):
        embedders.make({"sentence_transformers": tmp_path})


def test_a_folder_with_a_model_is_used_without_a_download(tmp_path, monkeypatch):
    class Model:
        def __init__(self, folder, local_files_only):
            assert folder == str(tmp_path) and local_files_only

        def get_sentence_embedding_dimension(self):
            return 2

        def encode(self, texts, convert_to_numpy, show_progress_bar):
            return np.array([[3.0, 4.0]] * len(texts))

    package = type(sys)("sentence_transformers")
    package.SentenceTransformer = Model
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    embedder = embedders.make({"sentence_transformers": tmp_path})
    assert embedder.dimensions == 2
    assert np.allclose(embedder.embed(["a", "b"]), [[0.6, 0.8]] * 2)
    assert np.allclose(embedder.embed_query(["a", "b"]), [[0.6, 0.8]] * 2)


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
    """A model whose every text takes so long, by a clock of its own."""

    name, dimensions = "slow", 2

    def __init__(self, ms):
        self.ms, self.now, self.threads = ms, 0.0, []

    def seconds(self):
        return self.now

    def embed(self, texts):
        self.now += self.ms / 1000 * len(texts)
        self.threads.append(threading.current_thread())
        return np.array([[1.0, 0.0]] * len(texts), dtype=np.float32)


def test_a_fast_model_is_asked_at_once():
    model = Model(1.9)
    assert embedders.off_the_reactor(model, None, model.seconds) is model


def test_a_slow_model_never_runs_in_the_reactors_thread():
    model, calls = Model(2.1), queue.Queue()
    worker = Worker(Clock(), lambda *call: calls.put(call), "test")
    embedder = embedders.off_the_reactor(model, lambda: worker, model.seconds)
    assert not hasattr(embedder, "embed") and embedder.dimensions == 2
    model.threads.clear()
    found = []
    embedder.embed_later(["one"], query=True).addBoth(found.append)
    while not found:
        function, *given = calls.get(timeout=120)
        function(*given)
    worker.stop(int)
    assert np.array_equal(found[0], [[1.0, 0.0]])
    assert threading.current_thread() not in model.threads


def test_an_index_does_not_wait_for_an_endpoint():
    index = MemoryIndex(embedders.make(ENDPOINT, Client(None)))
    index.add("a", "a dragon")
    index.add("b", "bread", vector=[1.0, 0.0])
    assert [name for name, _ in index.search("the dragon", 1)] == ["a"]
    assert [name for name, _ in index.search("?", 1, vector=[1.0, 0.1])] == ["b"]


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (reply([], 503), ProviderUnavailable),
        (reply([], 429), ProviderUnavailable),
        (reply([], 404), ProviderRejected),
        (reply([(0, [1.0, 2.0])]), ProviderRejected),
        (reply([(0, [1.0]), (1, [1.0])]), ProviderRejected),
        (reply([(0, [1.0, float("nan")]), (1, [1.0, 1.0])]), ProviderRejected),
        (succeed(RawResponse(200, "text/html", b"<html>")), ProviderRejected),
        (succeed(RawResponse(200, "application/json", b"[]")), ProviderRejected),
        (fail(ConnectionError("no")), ProviderUnavailable),
        (fail(ProviderRejected("no key")), ProviderRejected),
    ],
    ids=range(10),
)
def test_whatever_an_endpoint_does_it_is_one_of_our_errors(outcome, error):
    embedder = embedders.make(ENDPOINT, Client(outcome))
    outcome_of(embedder.embed_later(["one", "two"])).trap(error)
