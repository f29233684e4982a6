"""An embedder behind an endpoint: a server with OpenAI's ``/embeddings``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from twisted.internet.defer import Deferred

from evennia_ai.config import ModelProfile
from evennia_ai.errors import ConfigError, ProviderRejected, ProviderUnavailable
from evennia_ai.llm.openai_client import OpenAIClient, RawReply

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
    found = Prefixes(setting.get("query_prefix", ""), setting.get("passage_prefix", ""))
    if not all(isinstance(prefix, str) for prefix in found):
        raise ConfigError("EMBEDDER: 'query_prefix' and 'passage_prefix' must be texts.")
    return found


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


def read_vectors(reply: RawReply, count: int, dimensions: int) -> Floats:
    """Return the vectors in an endpoint's reply, in the order of the request.

    Raises ProviderUnavailable for a status that may be temporary, and ProviderRejected for any
    other reply that is not ``count`` vectors of this length.
    """
    if reply.status != 200:
        error = ProviderUnavailable if reply.status in (408, 429) or reply.status >= 500 else None
        raise (error or ProviderRejected)(f"The embeddings endpoint answered {reply.status}.")
    try:
        rows = sorted(json.loads(reply.content)["data"], key=lambda row: row["index"])
        found = np.array([row["embedding"] for row in rows], dtype=np.float32)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ProviderRejected("The embeddings endpoint sent no list of vectors.") from error
    if found.shape != (count, dimensions) or not np.isfinite(found).all():
        raise ProviderRejected(
            f"The embeddings endpoint sent vectors of shape {found.shape}, not "
            f"{(count, dimensions)}. Check its 'dimensions'."
        )
    return unit_rows(found)


def unit_rows(vectors: Floats) -> Floats:
    """Return each row scaled to length 1; zeros stay zeros."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)
    return unit
