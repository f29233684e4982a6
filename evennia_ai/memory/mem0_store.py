"""Memories in mem0; everything here runs in the worker's thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from evennia_ai.memory.mem0_setup import StoreSettings, embedded_files, open_memory
from evennia_ai.policy.records.long_term import MemoryItem, MemoryRow

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
