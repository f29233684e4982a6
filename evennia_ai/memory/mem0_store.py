"""Memories in mem0; everything here runs in the worker's thread."""

from __future__ import annotations

import importlib
import json
import logging
import os
import pickle
import shutil
import sqlite3
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from twisted.logger import Logger

from evennia_ai.llm.sdk_clients import clean_http_logs
from evennia_ai.policy.records.journal_entry import MemoryItem, MemoryRow

MOST_ROWS = 25_000  # mem0 asks its store for four times this number
MOST_ERRORS = 2  # in one batch; more of them are not the fault of single items


class Mem0Store:
    """Stores, lists and deletes memories in mem0; after an error it opens mem0 again.

    ``make_embedder`` returns the embedder, with ``name``, ``dimensions`` and ``embed(texts)``.
    ``game`` is the name of the game in a store that several games share; empty is none.
    """

    def __init__(
        self,
        settings: StoreSettings,
        make_embedder: Callable[[], Any],
        environ: MutableMapping[str, str] = os.environ,
    ) -> None:
        self._settings = settings
        self._make_embedder = make_embedder
        self._environ = environ
        self._memory: Any = None
        self.game = ""

    def put(self, agent: str, items: Sequence[MemoryItem]) -> dict[str, str]:
        """Store items; see `ports.SemanticMemory`. Raises if none could be stored."""
        with self._opened() as memory:
            stored: dict[str, str] = {}
            errors: list[Exception] = []
            for item in items:
                try:
                    stored[item.entry] = add_item(memory, agent, item)
                except Exception as error:  # noqa: BLE001  # the other items may work
                    errors.append(error)
                if len(errors) > MOST_ERRORS:
                    break
            if errors and not stored:
                raise errors[0]
            return stored

    def delete(self, ids: Sequence[str]) -> None:
        """Delete memories; see `ports.SemanticMemory`."""
        with self._opened() as memory:
            for memory_id in ids:
                if memory.vector_store.get(vector_id=memory_id) is not None:
                    memory.delete(memory_id)
            write_anew(memory)

    def rows(self, agent: str) -> list[MemoryRow]:
        """Return all memories of a character; see `ports.SemanticMemory`."""
        with self._opened() as memory:
            answer = memory.get_all(filters={"agent_id": agent}, top_k=MOST_ROWS)
            return [as_row(found) for found in answer["results"]]

    def close(self) -> None:
        """Close mem0."""
        memory, self._memory = self._memory, None
        client = getattr(getattr(memory, "vector_store", None), "client", None)
        if client is not None and hasattr(client, "close"):
            client.close()

    @contextmanager
    def _opened(self) -> Generator[Any]:
        """Give mem0, opened if necessary; after an error, close it."""
        try:
            if self._memory is None:
                settings = replace(self._settings, game=self.game)
                self._memory = open_memory(settings, self._make_embedder(), self._environ)
            yield self._memory
        except Exception:
            with suppress(Exception):
                self.close()
            raise


def add_item(memory: Any, agent: str, item: MemoryItem) -> str:
    """Add an item to mem0 and return its memory's id, which mem0 chooses."""
    answer = memory.add(
        [{"role": "user", "content": item.text}],
        agent_id=agent,
        infer=False,
        metadata={
            "entry": item.entry,
            "audience": item.audience,
            "speakers": " ".join(item.speakers),
            "digest": item.digest,
        },
    )
    return str(answer["results"][0]["id"])


def as_row(found: Mapping[str, Any]) -> MemoryRow:
    """Return a memory that mem0 found as a row."""
    told = found.get("metadata") or {}
    names = ("entry", "audience", "digest")
    return MemoryRow(str(found["id"]), *(str(told.get(name, "")) for name in names))


def write_anew(memory: Any) -> None:
    """Write the files of embedded Qdrant anew, since gaps in pages keep copies of deleted rows."""
    for connection in embedded_files(memory.vector_store):
        connection.commit()
        connection.execute("VACUUM")


log = Logger()

EMBEDDED = "qdrant"
COLLECTION = "minds"
NOTE = "collection.json"
IGNORE = "*\n"
# Names that mem0 knows; `lent_names` lets them mean our own classes.
EMBEDDER_NAME, MODEL_NAME = "huggingface", "openai"
# What embedded Qdrant raises if its files are corrupt; the last one also if they are unavailable.
CORRUPT = (
    ValueError, KeyError, TypeError, EOFError, AttributeError,
    pickle.UnpicklingError, sqlite3.DatabaseError,
)  # fmt: skip


@dataclass(frozen=True)
class StoreSettings:
    """Where memories are stored: the folder of all local files, and mem0's own settings.

    ``vector_store`` has ``provider`` and ``config``; empty means embedded Qdrant. ``game`` is the
    game's name in a store that several games share.
    """

    path: Path
    vector_store: Mapping[str, Any] = field(default_factory=dict, repr=False)
    game: str = ""

    @property
    def provider(self) -> str:
        """Return the name of the vector store in mem0."""
        return str(self.vector_store.get("provider", EMBEDDED))

    @property
    def is_embedded(self) -> bool:
        """True for the default store on this machine."""
        return not self.vector_store


class OurEmbedder:
    """An embedder for mem0 that calls the embedder of the game."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self._embedder = config.model_kwargs["embedder"]

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Return the vector of one text."""
        return self.embed_batch([text])[0]

    def embed_batch(
        self, texts: Sequence[str], memory_action: str | None = "add"
    ) -> list[list[float]]:
        """Return a vector for each text."""
        return [[float(x) for x in vector] for vector in self._embedder.embed(list(texts))]


class NoModel:
    """Takes the place of the language model that mem0 requires; ``infer=False`` never calls it."""

    def __init__(self, config: Any) -> None:
        self.config = config


class NoHistory:
    """Takes the place of mem0's history, which would keep forgotten memories."""

    def add_history(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def open_memory(settings: StoreSettings, embedder: Any, environ: MutableMapping[str, str]) -> Any:
    """Return mem0, ready for use; raises any error of mem0 or of its store.

    An embedded store that cannot be read is deleted: the journals can fill it again. The embedder
    has ``name``, ``dimensions`` and ``embed(texts)``; ``environ``, the process's own, is changed.
    """
    prepare_environment(environ, settings.path)
    try:
        memory = make_memory(settings, embedder)
    except Exception as error:
        corrupt = isinstance(error, CORRUPT) and not isinstance(error, sqlite3.OperationalError)
        if not settings.is_embedded or not corrupt:
            raise
        log.warn(
            "evennia_ai: cannot read long-term memory ({error}); deleting it, the journals will "
            "fill it again",
            error=f"{type(error).__name__}: {error}",
        )
        shutil.rmtree(settings.path / EMBEDDED, ignore_errors=True)
        memory = make_memory(settings, embedder)
    harden(memory)
    drop_old_collection(memory, settings)
    return memory


def make_memory(settings: StoreSettings, embedder: Any) -> Any:
    """Return an instance of mem0 as it is; raises any error of mem0."""
    from mem0 import Memory

    with lent_names():
        return Memory.from_config(mem0_config(settings, embedder))


def drop_old_collection(memory: Any, settings: StoreSettings) -> None:
    """Delete this game's collection of another embedder or name: it is useless and has words.

    A file notes which collection is in use. If the old one cannot be deleted, this is logged.
    """
    note, store, current = settings.path / NOTE, memory.vector_store, memory.collection_name
    now = {"provider": settings.provider, "collection": current}
    with suppress(OSError, ValueError, KeyError, TypeError):  # the note is missing or corrupt
        before = json.loads(note.read_text(encoding="utf-8"))
        if before["provider"] == settings.provider and before["collection"] != current:
            store.collection_name = str(before["collection"])
    try:
        if store.collection_name != current:
            store.delete_col()
    except Exception as error:  # noqa: BLE001  # each store has its own errors
        log.warn(
            "evennia_ai: cannot delete the unused collection '{name}' of long-term memory "
            "({error}); delete it in the vector store",
            name=store.collection_name,
            error=type(error).__name__,
        )
    store.collection_name = current
    note.write_text(json.dumps(now), encoding="utf-8")


def prepare_environment(environ: MutableMapping[str, str], path: Path) -> None:
    """Turn off telemetry and downloads, and keep all files in ``path``."""
    if not path.exists():
        path.mkdir(mode=0o700, parents=True)  # it holds what players said
        (path / ".gitignore").write_text(IGNORE, encoding="utf-8")
    environ["MEM0_TELEMETRY"] = "False"
    environ["MEM0_DIR"] = str(path)
    environ["HF_HUB_OFFLINE"] = "1"
    clean_http_logs()
    for name in ("mem0", "qdrant_client"):
        logging.getLogger(name).setLevel(logging.WARNING)


def mem0_config(settings: StoreSettings, embedder: Any) -> dict[str, Any]:
    """Return mem0's configuration; each game and each embedder has a collection of its own.

    Two games may have a character of one number, and two embedders' vectors do not compare.
    """
    config, dimensions = dict(settings.vector_store.get("config") or {}), embedder.dimensions
    base = config.get("collection_name", COLLECTION)
    named = filter(None, (base, settings.game, fingerprint(embedder)))
    config["collection_name"] = "_".join(named)
    if takes_dimensions(settings.provider):
        config["embedding_model_dims"] = dimensions
    if settings.is_embedded:
        config |= {"path": str(settings.path / EMBEDDED), "on_disk": True}
    return {
        "vector_store": {"provider": settings.provider, "config": config},
        "embedder": {
            "provider": EMBEDDER_NAME,
            "config": {"model_kwargs": {"embedder": embedder}, "embedding_dims": dimensions},
        },
        "llm": {"provider": MODEL_NAME, "config": {"api_key": "none"}},
        "history_db_path": ":memory:",
    }


def fingerprint(embedder: Any) -> str:
    """Return a short text that differs for every embedder and dimension."""
    said = f"{embedder.name}\0{embedder.dimensions}"
    return blake2b(said.encode(), digest_size=5).hexdigest()


def takes_dimensions(provider: str) -> bool:
    """True if a store's configuration has a field for the length of the vectors."""
    from mem0.vector_stores.configs import VectorStoreConfig

    names = VectorStoreConfig().__pydantic_private__["_provider_configs"]
    if provider not in names:
        return False  # mem0 itself raises an error for an unknown provider
    module = importlib.import_module(f"mem0.configs.vector_stores.{provider}")
    return "embedding_model_dims" in getattr(module, names[provider]).model_fields


@contextmanager
def lent_names() -> Generator[None]:
    """Let mem0 find our classes under names that it knows; it accepts no others.

    Afterwards a game that uses mem0 itself finds mem0's own classes again.
    """
    from mem0.utils.factory import EmbedderFactory, LlmFactory

    embedders, models = EmbedderFactory.provider_to_class, LlmFactory.provider_to_class
    before = embedders[EMBEDDER_NAME], models[MODEL_NAME]
    embedders[EMBEDDER_NAME] = f"{__name__}.{OurEmbedder.__name__}"
    models[MODEL_NAME] = (f"{__name__}.{NoModel.__name__}", before[1][1])
    try:
        yield
    finally:
        embedders[EMBEDDER_NAME], models[MODEL_NAME] = before


def harden(memory: Any) -> None:
    """Remove from an instance of mem0 what keeps words or needs a network."""
    from mem0.utils import spacy_models

    memory.db.close()
    memory.db = NoHistory()
    spacy_models._load_failed_full = spacy_models._load_failed_lemma = True
    store = memory.vector_store
    if hasattr(store, "_bm25_encoder"):
        store._bm25_encoder = False
    for connection in embedded_files(store):
        connection.execute("PRAGMA secure_delete=ON")
        # A power failure may corrupt the file, which is then built again; a kill does not.
        connection.execute("PRAGMA synchronous=OFF")


def embedded_files(store: Any) -> list[Any]:
    """Return the SQLite connections of embedded Qdrant; empty for any other store."""
    local = getattr(getattr(store, "client", None), "_client", None)
    collections = getattr(local, "collections", None) or {}
    return [collection.storage.storage for collection in collections.values()]


def remove_files(path: Path) -> bool:
    """Delete only the files that this module made; return whether there were any."""
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
