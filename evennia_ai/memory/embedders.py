"""Embedders: the embedded one, and one of an endpoint."""

import importlib
import importlib.util
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ConfigError, ProviderRejected, ProviderUnavailable
from evennia_ai.llm.openai_client import OpenAIClient, RawResponse
from evennia_ai.memory.ranking import load_glosses, to_english
from evennia_ai.memory.worker import Worker
from evennia_ai.policy.redaction import hide_secrets
from evennia_ai.policy.retrieval.words import stemmers
from evennia_ai.ports import Embedder, RemoteEmbedder

Floats = npt.NDArray[np.float32]


class Prefixes(NamedTuple):
    """What a model expects before each text, such as "query: " and "passage: "."""

    query: str = ""
    passage: str = ""


NO_PREFIXES = Prefixes()


class EndpointEmbedder:
    """A server with OpenAI's ``/embeddings``, called on the models' loop thread."""

    def __init__(
        self,
        client: OpenAIClient,
        profile: ModelProfile,
        dimensions: int,
        prefixes: Prefixes = NO_PREFIXES,
    ) -> None:
        self._client = client
        self._profile = profile
        self._prefixes = prefixes
        self.dimensions = dimensions
        self.name = f"{profile.base_url}:{profile.model}{prefixes.passage}"

    def embed_later(self, texts: Sequence[str], query: bool = False) -> Deferred[Floats]:
        """Fetch unit vectors; see `ports.RemoteEmbedder`.

        Fails with ProviderMisconfigured if the key or the address cannot work, ProviderUnavailable
        if the endpoint fails or cannot be reached, and ProviderRejected if its reply is not a list
        of vectors of this length.
        """
        prefix = self._prefixes.query if query else self._prefixes.passage
        body = {"model": self._profile.model, "input": [prefix + text for text in texts]}
        sent = self._client.exchange(self._profile, "POST", "embeddings", body)
        return sent.addCallbacks(
            lambda reply: read_vectors(reply, len(texts), self.dimensions), self._not_reached
        )

    def _not_reached(self, failure: Any) -> Any:
        if failure.check(ProviderUnavailable, ProviderRejected, ConfigError):
            return failure
        kind = failure.type.__name__
        raise ProviderUnavailable(f"The embeddings endpoint could not be reached ({kind}).")


def prefixes_of(setting: Mapping[str, Any]) -> Prefixes:
    """Return the prefixes in a setting; raises ConfigError if one is not a text."""
    prefixes = Prefixes(setting.get("query_prefix", ""), setting.get("passage_prefix", ""))
    if not all(isinstance(prefix, str) for prefix in prefixes):
        raise ConfigError("EMBEDDER: 'query_prefix' and 'passage_prefix' must be texts.")
    return prefixes


def endpoint_embedder(client: OpenAIClient, setting: Mapping[str, Any]) -> EndpointEmbedder:
    """Return the embedder of an endpoint; raises ConfigError if its setting is incomplete."""
    model, base_url = setting.get("model"), setting.get("base_url", "")
    key_env, dimensions = str(setting.get("api_key_env", "")), setting.get("dimensions")
    if not (model and isinstance(model, str) and isinstance(base_url, str)):
        raise ConfigError("EMBEDDER: an endpoint needs the name of its 'model', and a 'base_url'.")
    if not isinstance(dimensions, int) or isinstance(dimensions, bool) or dimensions < 1:
        raise ConfigError(
            "EMBEDDER: an endpoint needs 'dimensions', the length of its model's vectors: a whole "
            "number of at least 1."
        )
    profile = ModelProfile(name="EMBEDDER", model=model, base_url=base_url, api_key_env=key_env)
    return EndpointEmbedder(client, profile, dimensions, prefixes_of(setting))


def read_vectors(reply: RawResponse, count: int, dimensions: int) -> Floats:
    """Return the vectors in an endpoint's reply, in the order of the request.

    Raises ProviderUnavailable for a status that may be temporary, and ProviderRejected for any
    other reply that is not ``count`` vectors of this length.
    """
    if reply.status != 200:
        error = ProviderUnavailable if reply.status in (408, 429) or reply.status >= 500 else None
        raise (error or ProviderRejected)(f"The embeddings endpoint answered {reply.status}.")
    try:
        rows = sorted(json.loads(reply.content)["data"], key=lambda row: row["index"])
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ProviderRejected("The embeddings endpoint sent no list of vectors.") from error
    if vectors.shape != (count, dimensions) or not np.isfinite(vectors).all():
        raise ProviderRejected(
            f"The embeddings endpoint sent vectors of shape {vectors.shape}, not "
            f"{(count, dimensions)}. Check its 'dimensions'."
        )
    return unit_rows(vectors)


def unit_rows(vectors: Floats) -> Floats:
    """Return each row scaled to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return unit


log = Logger()
DEFAULT = "wordllama"
NONE = "none"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
WEIGHTS = "weights/l2_supercat_256.safetensors"
LOCAL_MODEL = "sentence_transformers"
AT_ONCE_MS = 2.0  # a text; a slower model runs in a thread of its own
THREAD_TIME_S = 30.0  # most time for one batch in that thread
SAMPLES = (
    "The miller owes me three silver coins since the harvest.",
    "Where is the key to the old crypt below the chapel?",
    "Bring the red horse to the smith before the market opens.",
)


class WordLlamaEmbedder:
    """The model in wordllama's wheel (MIT): means of static token vectors.

    It takes about 60 µs a text, 0.4 s to load and 40 MB of memory. It was trained on English; texts
    in other languages are turned into English words, as far as `glosses` knows them.
    """

    # Not the name of version 0.1, whose vectors of texts in other languages were different.
    name = f"{DEFAULT}:english"
    dimensions = 256

    def __init__(self) -> None:
        self._tokenizer: Any = None
        self._table: Any = None

    def load(self) -> None:
        """Load the model unless it is loaded; raises ConfigError if that fails.

        It reads the files itself: the package would import a web client, and hold the table in
        twice the memory.
        """
        if self._table is not None:
            return
        try:
            folder = Path(str(importlib.util.find_spec(DEFAULT).origin)).parent  # type: ignore[union-attr]
            tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(
                str(folder / TOKENIZER)
            )
            tables = importlib.import_module("safetensors.numpy").load_file(folder / WEIGHTS)
            tokenizer.no_padding()
            self._tokenizer, (self._table,) = tokenizer, tables.values()
            load_glosses()
        except Exception as error:  # the packages may raise anything; words can still rank
            raise ConfigError(
                f"The embedder 'wordllama' cannot be loaded ({type(error).__name__}: {error}). "
                "Reinstall it (pip install wordllama), or set another EMBEDDER."
            ) from error

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors; see `ports.Embedder`. Raises ConfigError as `load` does."""
        self.load()
        means = [self._mean(text) for text in texts]
        return unit_rows(np.array(means, dtype=np.float32).reshape(-1, self.dimensions))

    def _mean(self, text: str) -> Floats:
        ids = self._tokenizer.encode(to_english(text), add_special_tokens=False).ids
        if not ids:
            return np.zeros(self.dimensions, dtype=np.float32)
        known = self._table.take(ids, axis=0, mode="clip")
        mean: Floats = known.sum(axis=0, dtype=np.float32) / np.float32(len(ids))
        return mean


class SentenceTransformersEmbedder:
    """A model in a local folder, run by the package sentence-transformers."""

    def __init__(self, folder: str, prefixes: Prefixes = NO_PREFIXES) -> None:
        """Load the model; raises ConfigError if the model or the package is missing."""
        if not Path(folder).is_dir():
            raise ConfigError(f"EMBEDDER: the model folder {folder!r} does not exist.")
        try:
            package = importlib.import_module("sentence_transformers")
            self._model = package.SentenceTransformer(folder, local_files_only=True)
        except Exception as error:  # the package may raise anything
            raise ConfigError(
                f"EMBEDDER: the model in {folder!r} cannot be loaded "
                f"({type(error).__name__}: {error}). It needs the package sentence-transformers."
            ) from error
        self._prefixes = prefixes
        self.name = f"{LOCAL_MODEL}:{Path(folder).name}{prefixes.passage}"
        self.dimensions = int(self._model.get_sentence_embedding_dimension())

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors; see `ports.Embedder`."""
        return self._encode(self._prefixes.passage, texts)

    def embed_query(self, texts: Sequence[str]) -> Floats:
        return self._encode(self._prefixes.query, texts)

    def _encode(self, prefix: str, texts: Sequence[str]) -> Floats:
        prefixed = [prefix + text for text in texts]
        vectors = self._model.encode(prefixed, convert_to_numpy=True, show_progress_bar=False)
        return unit_rows(np.asarray(vectors, dtype=np.float32))


class ThreadEmbedder:
    """An embedder that is too slow for the reactor's thread, run in a thread of its own."""

    def __init__(self, embedder: Embedder, worker: Worker) -> None:
        self._embedder = embedder
        self._worker = worker
        self.name, self.dimensions = embedder.name, embedder.dimensions

    def embed_later(self, texts: Sequence[str], query: bool = False) -> Deferred[Floats]:
        """Compute unit vectors; see `ports.RemoteEmbedder`.

        Fails with MemoryUnavailable after `THREAD_TIME_S`.
        """
        embed = getattr(self._embedder, "embed_query" if query else "embed", self._embedder.embed)
        return self._worker.submit(partial(embed, texts), THREAD_TIME_S)


@lru_cache(maxsize=1)
def default() -> Embedder:
    """Return the default embedder, one for all; its first text loads it."""
    return WordLlamaEmbedder()


def make(
    setting: Any = DEFAULT,
    client: OpenAIClient | None = None,
    make_worker: Callable[[], Worker] | None = None,
) -> Embedder | RemoteEmbedder | None:
    """Return the embedder that a game chose; None for ``"none"``.

    The setting is ``"wordllama"``, ``"none"``, ``{"sentence_transformers": folder}``, or an
    endpoint's ``{"base_url", "model", "api_key_env", "dimensions"}``; ``client`` calls it. The last
    two may have a ``"query_prefix"`` and a ``"passage_prefix"``. ``make_worker`` returns the thread
    for a model that takes more than `AT_ONCE_MS` a text. Raises ConfigError if the setting is none
    of these or the embedder cannot be loaded.
    """
    stemmers()  # loaded now, so that a search need not wait for them
    if setting == NONE:
        return None
    if setting in (None, DEFAULT):
        embedder = default()
        embedder.embed([""])
        return embedder
    if isinstance(setting, Mapping) and LOCAL_MODEL in setting:
        folder = os.fspath(setting[LOCAL_MODEL])
        return off_the_reactor(
            SentenceTransformersEmbedder(folder, prefixes_of(setting)), make_worker
        )
    if isinstance(setting, Mapping) and client is not None:
        return endpoint_embedder(client, setting)
    # A dictionary may hold a key.
    shown = f"a dictionary of {sorted(setting)}" if isinstance(setting, Mapping) else repr(setting)
    raise ConfigError(
        f"EMBEDDER must be '{DEFAULT}', '{NONE}', {{'{LOCAL_MODEL}': folder}} or an endpoint's "
        f"base_url, model, api_key_env and dimensions, not {hide_secrets(shown)}."
    )


def off_the_reactor(
    embedder: Embedder,
    make_worker: Callable[[], Worker] | None,
    seconds: Callable[[], float] = time.perf_counter,
) -> Embedder | RemoteEmbedder:
    """Return the embedder or, if it is slow, one that runs it in a thread.

    It is measured with three texts, and the fastest counts: the first may load something.
    """
    took = []
    for text in SAMPLES:
        began = seconds()
        embedder.embed([text])
        took.append(seconds() - began)
    if min(took) * 1000 <= AT_ONCE_MS or make_worker is None:
        return embedder
    return ThreadEmbedder(embedder, make_worker())
