"""Long-term memory in a dict, for tests; it can be off, down, or lose its answers."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from twisted.internet.defer import Deferred, fail, succeed

from evennia_ai.errors import MemoryUnavailable
from evennia_ai.policy.records.journal_entry import EntryForMemory, MemoryRow


class StandInSemantic:
    """`evennia_ai.ports.SemanticMemory` in memory.

    ``off`` says why the game has none, "" if it has one. If ``down``, every call fails and does
    nothing; if ``lose_answers``, memories are stored, but the call fails. ``stored`` is agent →
    memory id → row and text, ``asked`` the names of the calls so far.
    """

    def __init__(self, off: str = "") -> None:
        self.off, self.down, self.lose_answers = off, False, False
        self.stored: dict[str, dict[str, tuple[MemoryRow, str]]] = {}
        self.asked: list[str] = []
        self._numbers = count(1)

    @property
    def is_off(self) -> bool:
        return bool(self.off)

    @property
    def was_used(self) -> bool:
        return bool(self.asked)

    @property
    def trouble(self) -> str:
        return self.off or ("It is down." if self.down else "")

    def put(self, agent: str, items: Sequence[EntryForMemory]) -> Deferred[Mapping[str, str]]:
        return self._answer("put", lambda: {item.entry: self._put(agent, item) for item in items})

    def delete(self, ids: Sequence[str]) -> Deferred[None]:
        def delete() -> None:
            for memories in self.stored.values():
                for memory_id in memories.keys() & set(ids):
                    del memories[memory_id]

        return self._answer("delete", delete)

    def delete_all(self, agent: str) -> Deferred[None]:
        return self._answer("delete_all", self._of(agent).clear)

    def rows(self, agent: str) -> Deferred[Sequence[MemoryRow]]:
        return self._answer("rows", lambda: [row for row, _ in self._of(agent).values()])

    def stop(self) -> None:
        """Do nothing."""

    def _of(self, agent: str) -> dict[str, tuple[MemoryRow, str]]:
        return self.stored.setdefault(agent, {})

    def _put(self, agent: str, item: EntryForMemory) -> str:
        row = MemoryRow(f"m{next(self._numbers)}", item.entry, item.audience, item.digest)
        self._of(agent)[row.id] = row, item.text
        return row.id

    def _answer(self, name: str, work: Callable[[], Any]) -> Deferred[Any]:
        self.asked.append(name)
        if self.off or self.down:
            return fail(MemoryUnavailable(self.trouble))
        result = work()
        if self.lose_answers and name == "put":
            return fail(MemoryUnavailable("It does not answer in time."))
        return succeed(result)
