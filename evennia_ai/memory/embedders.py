"""The embedder that a game chose: a model in a thread of this process, or one of an endpoint."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from twisted.internet.defer import CancelledError, Deferred, DeferredLock, inlineCallbacks
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config import ModelProfile
from evennia_ai.config.resolve import EMBEDDINGS, MULTILINGUAL_EMBEDDINGS, Extra
from evennia_ai.errors import (
    ConfigError,
    MemoryUnavailable,
    ProviderRejected,
    ProviderUnavailable,
    TurnAborted,
)
from evennia_ai.llm.openai_client import OpenAIClient, RawResponse
from evennia_ai.memory.local_models import (
    NO_PREFIXES,
    MultilingualEmbedder,
    Prefixes,
    minilm,
    model_in,
    unit_rows,
)
from evennia_ai.memory.vectors import Floats
from evennia_ai.memory.worker import Worker
from evennia_ai.policy.redaction import hide_secrets
from evennia_ai.policy.retrieval.words import stemmers
from evennia_ai.ports import Embedder, RemoteEmbedder
from evennia_ai.scheduling import Coroutine

log = Logger()
DEFAULT, MULTILINGUAL, NONE = "minilm", "multilingual", "none"
FORMER_DEFAULT = "wordllama"  # of version 0.1; read as the default
FOLDER, FORMER_FOLDER = "folder", "sentence_transformers"
EXTRAS: Mapping[str, Extra] = {DEFAULT: EMBEDDINGS, MULTILINGUAL: MULTILINGUAL_EMBEDDINGS}
AT_A_TIME = 4  # texts of memories before a question may come between: 25 ms (measured)
LOAD_TIME_S, THREAD_TIME_S = 60.0, 30.0  # most time to load a model, and for one call


class ThreadEmbedder:
    """A model of this process that embeds in a thread of its own, never in the reactor's.

    The texts of memories wait for each other, whoever asks; a question waits for `AT_A_TIME` of
    them at most.

    Attributes:
        model: the embedder itself, for callers in other threads.
        trouble: why it fails, "" as long as it works.
    """

    def __init__(self, model: Embedder, worker: Worker) -> None:
        """Start the thread and load the model in it."""
        self.model = model
        self.name, self.dimensions = model.name, model.dimensions
        self.trouble = ""
        self._worker = worker
        self._memories = DeferredLock()
        load = getattr(model, "load", int)
        loaded: Deferred[Any] = worker.submit(load, LOAD_TIME_S)
        loaded.addErrback(self._failed).addErrback(lambda _failure: None)  # each text tries again

    def embed_later(self, texts: Sequence[str], query: bool = False) -> Deferred[Floats]:
        """Compute unit vectors; see `ports.RemoteEmbedder`.

        Fails with MemoryUnavailable if the model cannot be loaded or hangs, and with TurnAborted
        when the server stops.
        """
        if query:
            embed = getattr(self.model, "embed_query", self.model.embed)
            return self._submit(embed, texts)
        return self._memories.run(self._embed_in_pieces, texts)

    @inlineCallbacks
    def _embed_in_pieces(self, texts: Sequence[str]) -> Coroutine[Floats]:
        pieces = []
        for first in range(0, len(texts), AT_A_TIME):
            piece = yield self._submit(self.model.embed, texts[first : first + AT_A_TIME])
            pieces.append(piece)
        return np.concatenate(pieces)

    def _submit(self, embed: Callable[..., Any], texts: Sequence[str]) -> Deferred[Floats]:
        vectors = self._worker.submit(lambda: embed(texts), THREAD_TIME_S)
        return vectors.addCallbacks(self._succeeded, self._failed)

    def _succeeded(self, vectors: Floats) -> Floats:
        self.trouble = ""
        return vectors

    def _failed(self, failure: Failure) -> Failure:
        error = failure.value
        if isinstance(error, MemoryUnavailable | TurnAborted | CancelledError):
            return failure
        is_config = isinstance(error, ConfigError)
        self.trouble = str(error) if is_config else f"{self.name}: {type(error).__name__}: {error}"
        raise MemoryUnavailable(self.trouble) from error


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


@lru_cache(maxsize=1)
def default() -> Embedder:
    """Return the default embedder, one for all; its first text loads it.

    Raises ConfigError if its package is not installed.
    """
    return minilm()


def make(
    setting: Any = DEFAULT,
    client: OpenAIClient | None = None,
    make_worker: Callable[[], Worker] | None = None,
) -> Embedder | RemoteEmbedder | None:
    """Return the embedder that a game chose; None for ``"none"``.

    The setting is ``"minilm"``, ``"multilingual"``, ``"none"``, ``{"folder": path}``, or an
    endpoint's ``{"base_url", "model", "api_key_env", "dimensions"}``; ``client`` calls it. The last
    two may have a ``"query_prefix"`` and a ``"passage_prefix"``. A model of this process runs in
    the thread that ``make_worker`` returns, or, without it, at once. Raises ConfigError if the
    setting is none of these or the model of a folder cannot be loaded.
    """
    stemmers()  # loaded now, so that a search need not wait for them
    if setting == NONE:
        return None
    model = local_model(setting)
    if model is not None:
        return ThreadEmbedder(model, make_worker()) if make_worker else model
    if isinstance(setting, Mapping) and client is not None:
        return endpoint_embedder(client, setting)
    # A dictionary may hold a key.
    shown = f"a dictionary of {sorted(setting)}" if isinstance(setting, Mapping) else repr(setting)
    raise ConfigError(
        f"EMBEDDER must be '{DEFAULT}', '{MULTILINGUAL}', '{NONE}', {{'{FOLDER}': path}} or an "
        f"endpoint's base_url, model, api_key_env and dimensions, not {hide_secrets(shown)}."
    )


def local_model(setting: Any) -> Embedder | None:
    """Return the model of this process that a setting names, None if it names none."""
    if setting == FORMER_DEFAULT:
        log.warn(
            "evennia_ai: EMBEDDER is '{former}', which is no longer supported; '{default}' is used",
            former=FORMER_DEFAULT,
            default=DEFAULT,
        )
    if setting in (None, DEFAULT, FORMER_DEFAULT):
        return default()
    if setting == MULTILINGUAL:
        return MultilingualEmbedder()
    if isinstance(setting, Mapping) and FORMER_FOLDER in setting:
        raise ConfigError(
            f"EMBEDDER: '{FORMER_FOLDER}' is no longer supported. Export the model to ONNX, as "
            f"docs/models.md says, and set {{'{FOLDER}': path}}."
        )
    if isinstance(setting, Mapping) and FOLDER in setting:
        return model_in(Path(os.fspath(setting[FOLDER])), prefixes_of(setting))
    return None


def missing(setting: Any) -> str:
    """Return which package the embedder of a setting lacks, and how to get it; "" for none."""
    name = DEFAULT if setting in (None, FORMER_DEFAULT) else setting
    extra = EXTRAS.get(name) if isinstance(name, str) else None
    return extra.advice if extra else ""
