"""Memories in mem0, as one thread keeps them: everything here runs in the worker's."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from evennia_ai.memory.mem0_setup import StoreSettings, open_memory
from evennia_ai.policy.records.long_term import MemoryItem, MemoryRow, Stored, best_rows

MOST_ROWS = 25_000  # mem0 asks its store for four times as many
MOST_ERRORS = 2  # of one batch; then it is not the items' fault
AGENTS_KNOWN = 200


class Mem0Store:
    """Memories in mem0. Whatever goes wrong raises, and the next call opens everything anew.

    Args:
        settings: where they are kept.
        make_embedder: gives the embedder, with ``name``, ``dimensions`` and ``embed(texts)``.
        environ: the process's environment.
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
        """False until the library is loaded and the store opened. May be asked from any thread."""
        return self._memory is not None

    # --- what is asked of it ----------------------------------------------------------------------

    def put(self, agent: str, items: Sequence[MemoryItem]) -> dict[str, Stored]:
        """See `evennia_ai.ports.SemanticMemory`. Raises where none of the items could be stored."""
        with self._opened() as memory:
            known = self._known.get(agent)
            if known is None:
                known = {row.entry: row for row in self._list(memory, agent)}
            stored: dict[str, Stored] = {}
            errors: list[Exception] = []
            for item in items:
                try:
                    stored[item.entry] = self._put_one(memory, agent, item, known)
                except Exception as error:  # noqa: BLE001  # one that cannot be stored is one
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
        """See `evennia_ai.ports.SemanticMemory`. One search for each audience, since equality is
        the one filter that every store knows."""
        with self._opened() as memory:
            if not query.strip():
                return []
            filters = [{}] if keys is None else [{"audience": key} for key in keys]
            found: list[MemoryRow] = []
            for one in filters:
                answer = memory.search(
                    query, top_k=limit, filters={"agent_id": agent, **one}, threshold=0.0
                )
                found += map(as_row, answer["results"])
            return best_rows(found, limit)

    def delete(self, agent: str, ids: Sequence[str]) -> None:
        """See `evennia_ai.ports.SemanticMemory`."""
        with self._opened() as memory:
            self._known.pop(agent, None)
            for memory_id in ids:
                self._delete_one(memory, memory_id)

    def rows(self, agent: str) -> list[MemoryRow]:
        """See `evennia_ai.ports.SemanticMemory`."""
        with self._opened() as memory:
            rows = self._list(memory, agent)
            self._know(agent, {row.entry: row for row in rows})
            return rows

    def close(self) -> None:
        """Let everything go."""
        memory, self._memory = self._memory, None
        self._known.clear()
        client = getattr(getattr(memory, "vector_store", None), "client", None)
        if client is not None and hasattr(client, "close"):
            client.close()

    # --- within -----------------------------------------------------------------------------------

    def _put_one(
        self, memory: Any, agent: str, item: MemoryItem, known: dict[str, MemoryRow]
    ) -> Stored:
        """Store an item unless it is there. mem0 chooses ids itself and cannot be told one: what
        is there is known from the store, so that whatever was stored without anybody hearing of
        it is found."""
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
        """Keep what is there, of those agents that were asked for last."""
        self._known.pop(agent, None)
        self._known[agent] = rows
        while len(self._known) > AGENTS_KNOWN:
            del self._known[next(iter(self._known))]

    @contextmanager
    def _opened(self) -> Generator[Any]:
        """mem0, opened where it is not. After an error nothing that is held is believed."""
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
    """A memory as mem0 gives it out."""
    told = found.get("metadata") or {}
    return MemoryRow(
        str(found["id"]),
        str(told.get("entry", "")),
        str(told.get("audience", "")),
        str(told.get("digest", "")),
        float(found.get("score") or 0.0),
    )
