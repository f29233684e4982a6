"""Opening mem0 the way a game needs it.

Version 2.2 is written for a notebook. What is done about that:

- its switches are read from the environment at import, so they are set before;
- it looks for a key to a model it is never asked to use: ours does nothing;
- it keeps what it deletes in a history: there is none;
- it downloads models for keywords and names where it finds the libraries: it is told not to;
- it logs every memory by its id, and in its debug log by its words: only warnings pass;
- embedded Qdrant leaves the bytes of what is deleted in its file: SQLite is told to wipe them.
"""

from __future__ import annotations

import json
import logging
import pickle
import shutil
import sqlite3
from collections.abc import Generator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from twisted.logger import Logger

log = Logger()

EMBEDDED = "qdrant"
COLLECTION = "minds"
NOTE = "collection.json"
IGNORE = "*\n"
# Names that mem0 knows, lent to our own classes for the moment in which it looks them up.
EMBEDDER_NAME, MODEL_NAME = "huggingface", "openai"
SPOILT = (ValueError, KeyError, TypeError, EOFError, AttributeError, pickle.UnpicklingError)


@dataclass(frozen=True)
class StoreSettings:
    """Where memories are kept.

    Attributes:
        path: the folder for everything that is kept on this machine.
        vector_store: ``provider`` and ``config`` for mem0; empty is embedded Qdrant.
    """

    path: Path
    vector_store: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def provider(self) -> str:
        """The vector store's name in mem0."""
        return str(self.vector_store.get("provider", EMBEDDED))

    @property
    def is_embedded(self) -> bool:
        """True where it is the one of this machine that nobody configured."""
        return not self.vector_store


class OurEmbedder:
    """Plays one of mem0's embedders by asking the one that is used everywhere else."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self._embedder = config.model_kwargs["embedder"]

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """One text's vector."""
        return self.embed_batch([text])[0]

    def embed_batch(
        self, texts: Sequence[str], memory_action: str | None = "add"
    ) -> list[list[float]]:
        """A vector for each text."""
        return [[float(x) for x in vector] for vector in self._embedder.embed(list(texts))]


class NoModel:
    """Plays the model that mem0 insists on and, with ``infer=False``, never asks."""

    def __init__(self, config: Any) -> None:
        self.config = config


class NoHistory:
    """Plays mem0's history of changes, which would keep what is forgotten."""

    def add_history(self, *args: Any, **kwargs: Any) -> None:
        """Keep nothing."""

    def close(self) -> None:
        """There is nothing to close."""


def open_memory(settings: StoreSettings, embedder: Any, environ: MutableMapping[str, str]) -> Any:
    """mem0, ready for use. Where the embedded store cannot be read it is begun anew: everything in
    it can be made again from the journals. Raises whatever is wrong.

    Args:
        settings: where memories are kept.
        embedder: with ``name``, ``dimensions`` and ``embed(texts)``.
        environ: the process's environment, which is changed.
    """
    prepare_environment(environ, settings.path)
    try:
        memory = make_memory(settings, embedder)
    except Exception as error:
        if not settings.is_embedded or not is_spoilt(error):
            raise
        log.warn(
            "evennia_ai: long-term memory cannot be read ({error}) and begins anew; it is "
            "filled again from the journals",
            error=f"{type(error).__name__}: {error}",
        )
        shutil.rmtree(settings.path / EMBEDDED, ignore_errors=True)
        memory = make_memory(settings, embedder)
    tame(memory)
    leave_old_collection(memory, settings)
    return memory


def make_memory(settings: StoreSettings, embedder: Any) -> Any:
    """An instance of mem0 as it comes; raises whatever is wrong."""
    from mem0 import Memory

    with lent_names():
        return Memory.from_config(mem0_config(settings, embedder))


def leave_old_collection(memory: Any, settings: StoreSettings) -> None:
    """Vectors of another embedder are of no use, and hold words: drop their collection."""
    note, current = settings.path / NOTE, memory.collection_name
    before = read_note(note)
    old = before.get("collection")
    if before.get("provider") == settings.provider and isinstance(old, str) and old != current:
        drop_collection(memory.vector_store, old)
    now = {"provider": settings.provider, "collection": current}
    note.write_text(json.dumps(now), encoding="utf-8")


def prepare_environment(environ: MutableMapping[str, str], path: Path) -> None:
    """Say nothing to anybody, download nothing, and write nowhere but here."""
    if not path.exists():
        path.mkdir(parents=True)
        (path / ".gitignore").write_text(IGNORE, encoding="utf-8")
    environ["MEM0_TELEMETRY"] = "False"
    environ["MEM0_DIR"] = str(path)
    environ["HF_HUB_OFFLINE"] = "1"
    for name in ("mem0", "qdrant_client"):
        logging.getLogger(name).setLevel(logging.WARNING)


def mem0_config(settings: StoreSettings, embedder: Any) -> dict[str, Any]:
    """What mem0 is made from. Each embedder has a collection of its own, so that vectors of one
    are never compared with another's."""
    config = dict(settings.vector_store.get("config") or {})
    base = config.get("collection_name", COLLECTION)
    config["collection_name"] = f"{base}_{fingerprint(embedder)}"
    if takes_dimensions(settings.provider):
        config["embedding_model_dims"] = embedder.dimensions
    if settings.is_embedded:
        config |= {"path": str(settings.path / EMBEDDED), "on_disk": True}
    return {
        "vector_store": {"provider": settings.provider, "config": config},
        "embedder": {
            "provider": EMBEDDER_NAME,
            "config": {
                "model_kwargs": {"embedder": embedder},
                "embedding_dims": embedder.dimensions,
            },
        },
        "llm": {"provider": MODEL_NAME, "config": {"api_key": "none"}},
        "history_db_path": ":memory:",
    }


def fingerprint(embedder: Any) -> str:
    """Short, and different for every embedder and dimension."""
    said = f"{embedder.name}\0{embedder.dimensions}"
    return blake2b(said.encode(), digest_size=5).hexdigest()


def takes_dimensions(provider: str) -> bool:
    """True where a store wants to know how long vectors are."""
    from importlib import import_module

    from mem0.vector_stores.configs import VectorStoreConfig

    names = VectorStoreConfig().__pydantic_private__["_provider_configs"]
    if provider not in names:
        return False  # mem0 says itself that there is none of that name
    module = import_module(f"mem0.configs.vector_stores.{provider}")
    return "embedding_model_dims" in getattr(module, names[provider]).model_fields


@contextmanager
def lent_names() -> Generator[None]:
    """Let mem0 find our classes by names of its own: it takes no others. A game that uses mem0
    itself finds its own again afterwards."""
    from mem0.utils.factory import EmbedderFactory, LlmFactory

    embedders, models = EmbedderFactory.provider_to_class, LlmFactory.provider_to_class
    before = embedders[EMBEDDER_NAME], models[MODEL_NAME]
    embedders[EMBEDDER_NAME] = f"{__name__}.{OurEmbedder.__name__}"
    models[MODEL_NAME] = (f"{__name__}.{NoModel.__name__}", before[1][1])
    try:
        yield
    finally:
        embedders[EMBEDDER_NAME], models[MODEL_NAME] = before


def tame(memory: Any) -> None:
    """Take from an instance of mem0 what keeps words or wants a network."""
    from mem0.utils import spacy_models

    memory.db.close()
    memory.db = NoHistory()
    spacy_models._load_failed_full = spacy_models._load_failed_lemma = True
    store = memory.vector_store
    if hasattr(store, "_bm25_encoder"):
        store._bm25_encoder = False
    for connection in embedded_files(store):
        connection.execute("PRAGMA secure_delete=ON")
        # A cut of power may spoil the file, and then it is made again; a kill does not.
        connection.execute("PRAGMA synchronous=OFF")


def embedded_files(store: Any) -> list[Any]:
    """The SQLite connections of embedded Qdrant; none of another store's."""
    local = getattr(getattr(store, "client", None), "_client", None)
    collections = getattr(local, "collections", None) or {}
    return [collection.storage.storage for collection in collections.values()]


def drop_collection(store: Any, name: str) -> None:
    """Delete another collection of the same store, as far as that can be done."""
    current, store.collection_name = store.collection_name, name
    try:
        store.delete_col()
    except Exception as error:  # noqa: BLE001  # twenty stores have twenty kinds of errors
        log.warn(
            "evennia_ai: the collection '{name}' of long-term memory is not used any more and "
            "cannot be deleted: {error}",
            name=name,
            error=type(error).__name__,
        )
    finally:
        store.collection_name = current


def is_spoilt(error: Exception) -> bool:
    """True where files are there and make no sense, not where they cannot be had at the moment."""
    if isinstance(error, sqlite3.OperationalError):
        return False
    return isinstance(error, (*SPOILT, sqlite3.DatabaseError))


def read_note(note: Path) -> dict[str, Any]:
    """What was used before; nothing where that is not known."""
    try:
        found = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def remove_files(path: Path) -> bool:
    """Remove what was made in a folder, and nothing else; returns whether there was anything."""
    if not (path / NOTE).exists():
        return False
    shutil.rmtree(path / EMBEDDED, ignore_errors=True)
    for name in (NOTE, "config.json"):
        (path / name).unlink(missing_ok=True)
    ignore = path / ".gitignore"
    if ignore.exists() and ignore.read_text(encoding="utf-8") == IGNORE:
        ignore.unlink()
    with suppress(OSError):  # it is not empty
        path.rmdir()
    return True
