"""Memories in mem0; everything here runs in the worker's thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from evennia_ai.memory.mem0_setup import StoreSettings, open_memory
from evennia_ai.policy.records.long_term import MemoryItem, MemoryRow, Stored, best_rows

MOST_ROWS = 25_000  # mem0 asks its store for four times this number
MOST_ERRORS = 2  # in one batch; more of them are not the fault of single items
AGENTS_KNOWN = 200  # characters whose rows are cached


class Mem0Store:
    """Stores and finds memories in mem0; after an error it opens mem0 again.

    ``make_embedder`` returns the embedder, with ``name``, ``dimensions`` and ``embed(texts)``.
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
        self._known: dict[str, dict[str, MemoryRow]] = {}

    @property
    def is_open(self) -> bool:
        """True once mem0 is loaded and its store is open. Any thread may read it."""
        return self._memory is not None

    def put(self, agent: str, items: Sequence[MemoryItem]) -> dict[str, Stored]:
        """Store items; see `ports.SemanticMemory`. Raises if none could be stored."""
        with self._opened() as memory:
            known = self._known.get(agent)
            if known is None:
                known = {row.entry: row for row in self._list(memory, agent)}
            stored: dict[str, Stored] = {}
            errors: list[Exception] = []
            for item in items:
                try:
                    stored[item.entry] = self._put_one(memory, agent, item, known)
                except Exception as error:  # noqa: BLE001  # the other items may work
                    errors.append(error)
                if len(errors) > MOST_ERRORS:
                    break
            if errors and not stored:
                raise errors[0]
            self._know(agent, known)
            return stored

    def search(
        self, agent: str, query: str, limit: int, keys: Sequence[str] | None
    ) -> list[MemoryRow]:
        """Find memories; see `ports.SemanticMemory`."""
        with self._opened() as memory:
            if not query.strip():
                return []
            # One search for each audience: equality is the only filter that all stores have.
            whose = {"agent_id": agent}
            filters = [whose] if keys is None else [whose | {"audience": key} for key in keys]
            found: list[MemoryRow] = []
            for one in filters:
                answer = memory.search(query, top_k=limit, filters=one, threshold=0.0)
                found += map(as_row, answer["results"])
            return best_rows(found, limit)

    def delete(self, agent: str, ids: Sequence[str]) -> None:
        """Delete memories; see `ports.SemanticMemory`."""
        with self._opened() as memory:
            self._known.pop(agent, None)
            for memory_id in ids:
                self._delete_one(memory, memory_id)

    def rows(self, agent: str) -> list[MemoryRow]:
        """Return all memories of a character; see `ports.SemanticMemory`."""
        with self._opened() as memory:
            rows = self._list(memory, agent)
            self._know(agent, {row.entry: row for row in rows})
            return rows

    def close(self) -> None:
        """Close mem0 and forget the cached rows."""
        memory, self._memory = self._memory, None
        self._known.clear()
        client = getattr(getattr(memory, "vector_store", None), "client", None)
        if client is not None and hasattr(client, "close"):
            client.close()

    def _put_one(
        self, memory: Any, agent: str, item: MemoryItem, known: dict[str, MemoryRow]
    ) -> Stored:
        """Store an item unless the store's rows show it is there.

        mem0 chooses the ids, and the result of an earlier call may never have arrived.
        """
        there = known.get(item.entry)
        if there and there.digest == item.digest:
            return Stored(there.id, was_there=True)
        if there:
            self._delete_one(memory, there.id)
            del known[item.entry]
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
        memory_id = str(answer["results"][0]["id"])
        known[item.entry] = MemoryRow(memory_id, item.entry, item.audience, item.digest)
        return Stored(memory_id)

    def _delete_one(self, memory: Any, memory_id: str) -> None:
        if memory.vector_store.get(vector_id=memory_id) is not None:
            memory.delete(memory_id)

    def _list(self, memory: Any, agent: str) -> list[MemoryRow]:
        answer = memory.get_all(filters={"agent_id": agent}, top_k=MOST_ROWS)
        return [as_row(found) for found in answer["results"]]

    def _know(self, agent: str, rows: dict[str, MemoryRow]) -> None:
        """Cache the rows of the characters that were used last."""
        self._known.pop(agent, None)
        self._known[agent] = rows
        while len(self._known) > AGENTS_KNOWN:
            del self._known[next(iter(self._known))]

    @contextmanager
    def _opened(self) -> Generator[Any]:
        """Give mem0, opened if necessary; after an error, close it."""
        try:
            if self._memory is None:
                self._memory = open_memory(self._settings, self._make_embedder(), self._environ)
            yield self._memory
        except Exception:
            with suppress(Exception):
                self.close()
            self._memory = None
            raise


def as_row(found: Mapping[str, Any]) -> MemoryRow:
    """Return a memory that mem0 found as a row."""
    told = found.get("metadata") or {}
    return MemoryRow(
        str(found["id"]),
        str(told.get("entry", "")),
        str(told.get("audience", "")),
        str(told.get("digest", "")),
        float(found.get("score") or 0.0),
    )
