"""Memories in a vector store of mem0, in mem0's form; everything here runs in the worker's thread.

mem0's own class would need a language model, a history and a network; its stores need none.
"""

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
from datetime import UTC, datetime
from hashlib import blake2b, md5
from pathlib import Path
from typing import Any
from uuid import uuid4

from twisted.logger import Logger

from evennia_ai.policy.records.journal_entry import EntryForMemory, MemoryRow

MOST_ROWS = 100_000
MOST_ERRORS = 2  # in one batch; more of them are not the fault of single items


class Mem0Store:
    """Stores, lists and deletes memories; after an error it opens the store again.

    ``make_embedder`` returns the embedder, with ``name``, ``dimensions`` and ``embed(texts)``.
    ``game`` is the name of the game in a store that several games share; empty is none.
    """

    def __init__(self, settings: StoreSettings, make_embedder: Callable[[], Any]) -> None:
        self._settings = settings
        self._make_embedder = make_embedder
        self._store: Any = None
        self._embedder: Any = None
        self.game = ""

    def put(self, agent: str, items: Sequence[EntryForMemory]) -> dict[str, str]:
        """Store items; see `ports.SemanticMemory`. Raises if none could be stored."""
        with self._opened() as store:
            stored: dict[str, str] = {}
            errors: list[Exception] = []
            for item in items:
                try:
                    stored[item.entry] = self._add(store, agent, item)
                except Exception as error:  # noqa: BLE001  # the other items may work
                    errors.append(error)
                if len(errors) > MOST_ERRORS:
                    break
            if errors and not stored:
                raise errors[0]
            return stored

    def _add(self, store: Any, agent: str, item: EntryForMemory) -> str:
        """Add an item as mem0 itself does, and return its memory's id."""
        id, at = str(uuid4()), datetime.now(UTC).isoformat()  # noqa: A001
        (vector,) = self._embedder.embed([item.text])
        payload = {
            "data": item.text,
            "hash": md5(item.text.encode(), usedforsecurity=False).hexdigest(),
            "created_at": at,
            "updated_at": at,
            "agent_id": agent,
            "role": "user",
            "entry": item.entry,
            "audience": item.audience,
            "speakers": " ".join(item.speakers),
            "digest": item.digest,
        }
        store.insert(vectors=[[float(x) for x in vector]], ids=[id], payloads=[payload])
        return id

    def delete(self, ids: Sequence[str]) -> None:
        with self._opened() as store:
            for memory_id in ids:
                if store.get(vector_id=memory_id) is not None:
                    store.delete(memory_id)
            # Gaps in the pages of embedded Qdrant's files keep copies of deleted rows.
            for connection in embedded_files(store):
                connection.commit()
                connection.execute("VACUUM")

    def rows(self, agent: str) -> list[MemoryRow]:
        with self._opened() as store:
            stored = store.list(filters={"agent_id": agent}, top_k=MOST_ROWS)
        # Some stores return the rows as the first part of an answer.
        if stored and isinstance(stored[0], list | tuple):
            stored = stored[0]
        names = ("entry", "audience", "digest")
        payloads = ((str(row.id), row.payload or {}) for row in stored)
        return [
            MemoryRow(row_id, *(str(payload.get(name, "")) for name in names))
            for row_id, payload in payloads
        ]

    def close(self) -> None:
        store, self._store = self._store, None
        client = getattr(store, "client", None)
        if client is not None and hasattr(client, "close"):
            client.close()

    @contextmanager
    def _opened(self) -> Generator[Any]:
        """Give the store, opened if necessary; after an error, close it."""
        try:
            if self._store is None:
                settings = replace(self._settings, game=self.game)
                self._embedder = self._make_embedder()
                self._store = open_store(settings, self._embedder, os.environ)
            yield self._store
        except Exception:
            with suppress(Exception):
                self.close()
            raise


log = Logger()

EMBEDDED = "qdrant"
COLLECTION = "minds"
NOTE = "collection.json"
IGNORE = "*\n"
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
        return str(self.vector_store.get("provider", EMBEDDED))

    @property
    def is_embedded(self) -> bool:
        """True for the default store on this machine."""
        return not self.vector_store


def open_store(settings: StoreSettings, embedder: Any, environ: MutableMapping[str, str]) -> Any:
    """Return mem0's vector store, ready for use; raises any error of mem0 or of the store.

    An embedded store that cannot be read is deleted: the journals can fill it again. The embedder
    has ``name``, ``dimensions`` and ``embed(texts)``; ``environ``, the process's own, is changed.
    """
    prepare_environment(environ, settings.path)
    try:
        store = make_store(settings, embedder)
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
        store = make_store(settings, embedder)
    for connection in embedded_files(store):
        connection.execute("PRAGMA secure_delete=ON")
        # A power failure may corrupt the file, which is then built again; a kill does not.
        connection.execute("PRAGMA synchronous=OFF")
    drop_old_collection(store, settings)
    return store


def make_store(settings: StoreSettings, embedder: Any) -> Any:
    """Return the vector store; each game and each embedder has a collection of its own.

    Two games may have a character of one number, and two embedders' vectors do not compare.
    """
    from mem0.utils.factory import VectorStoreFactory
    from mem0.vector_stores.configs import VectorStoreConfig

    config = dict(settings.vector_store.get("config") or {})
    base = config.get("collection_name", COLLECTION)
    named = filter(None, (base, settings.game, fingerprint(embedder)))
    config["collection_name"] = "_".join(named)
    if takes_dimensions(settings.provider):
        config["embedding_model_dims"] = embedder.dimensions
    if settings.is_embedded:
        config |= {"path": str(settings.path / EMBEDDED), "on_disk": True}
    checked = VectorStoreConfig(provider=settings.provider, config=config)
    store = VectorStoreFactory.create(settings.provider, checked.config)
    if hasattr(store, "_bm25_encoder"):
        store._bm25_encoder = False  # it would be downloaded
    return store


def drop_old_collection(store: Any, settings: StoreSettings) -> None:
    """Delete this game's collection of another embedder or name: it is useless and has words.

    A file notes which collection is in use. If the old one cannot be deleted, this is logged.
    """
    note, current = settings.path / NOTE, store.collection_name
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
    for name in ("mem0", "qdrant_client"):
        logging.getLogger(name).setLevel(logging.WARNING)


def fingerprint(embedder: Any) -> str:
    """Return a short text that differs for every embedder and dimension."""
    description = f"{embedder.name}\0{embedder.dimensions}"
    return blake2b(description.encode(), digest_size=5).hexdigest()


def takes_dimensions(provider: str) -> bool:
    """True if a store's configuration has a field for the length of the vectors."""
    from mem0.vector_stores.configs import VectorStoreConfig

    names = VectorStoreConfig().__pydantic_private__["_provider_configs"]
    if provider not in names:
        return False  # mem0 itself raises an error for an unknown provider
    module = importlib.import_module(f"mem0.configs.vector_stores.{provider}")
    return "embedding_model_dims" in getattr(module, names[provider]).model_fields


def embedded_files(store: Any) -> list[Any]:
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
