"""Copy the journal into long-term memory, and keep the two in step.

Entries and memories link to each other, so that repeated work changes nothing: a memory's metadata
holds its entry's id, and the entry's links hold ``mem0:<id>``.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.errors import MemoryUnavailable
from evennia_ai.policy.records.journal_entry import (
    MemoryRow,
    agent_of,
    digest_of,
    linked,
    make_item,
    match_memories,
    memory_of,
)
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import Journal, MindContext
from evennia_ai.ports.background import skip
from evennia_ai.scheduling import PIECE, Coroutine, map_in_slices, retry_write, yield_to_reactor
from evennia_ai.turn.model_call import BackgroundWork

# Entries in one pass: the assistant sleeps as long as a pass runs.
MOST = 400

Report = Callable[[int, int], object]
Rows = dict[str, list[MemoryRow]]


def write_links(journal: Journal, pairs: Sequence[tuple[Record, str]]) -> int:
    """Link entries to their memories in one transaction; return how many have not changed."""
    changes: dict[str, dict[str, Any]] = {}
    for before, memory_id in pairs:
        entry = journal.get(before["id"])
        if entry is not None and digest_of(entry) == digest_of(before):
            changes[entry["id"]] = linked(entry, memory_id)
    journal.update_all(changes)
    return len(changes)


@dataclass(frozen=True, eq=False)
class MemoryLinks:
    """Keeps journal and long-term memory in step."""

    _mind: MindContext
    _background: BackgroundWork

    @inlineCallbacks
    def consolidate(
        self, most: int | None = MOST, report: Report | None = None
    ) -> Coroutine[dict[str, Any]]:
        """Store the journal entries that long-term memory does not hold yet, ``most`` at the most.

        ``report`` is called after each batch with how many are done and how many are left.

        Its figures are how many were ``stored``, ``linked``, ``already_there`` (after a lost
        acknowledgement), ``failed`` and ``left`` for a later pass; ``error`` if the vector store is
        down.
        """
        memory = self._mind.services.semantic
        if memory.is_off:
            return skip(memory.trouble)
        journal = self._mind.character.journal
        yield journal.load(self._mind.slices.put)
        tally, tried, error = Counter(stored=0, linked=0, already_there=0), set[str](), {}
        try:
            rows = (yield self._fetch_rows()) if journal.waiting_count else {}
            while most is None or len(tried) < most:
                entries = journal.waiting(PIECE, tried)
                if not entries:
                    break
                tried |= {entry["id"] for entry in entries}
                tally.update((yield self._store_entries(entries, rows)))
                if report:
                    report(len(tried), journal.waiting_count)
                yield yield_to_reactor(self._mind.slices.put)
        except MemoryUnavailable as unavailable:
            error = {"error": str(unavailable)}
        failed = len(tried) - tally["stored"] - tally["already_there"]
        figures = {**tally, "failed": failed, "left": journal.waiting_count}
        return {"success": not error, **figures, **error}

    @inlineCallbacks
    def repair(self) -> Coroutine[dict[str, Any]]:
        """Repair the links between journal and long-term memory.

        A memory is deleted if its entry is gone, changed, or linked to another memory. An entry
        whose memory is gone loses its link and is stored again at once. An entry is never deleted.
        If the vector store is down, nothing is done.

        Its figures are how many memories were ``deleted``, how many links were ``reset`` and
        ``relinked``; the result for the entries stored again is ``consolidated_anew``.
        """
        memory = self._mind.services.semantic
        if memory.is_off:
            return skip(memory.trouble)
        try:
            result = yield self._compare()
        except MemoryUnavailable as unavailable:
            return {"success": False, "error": str(unavailable)}
        if result["reset"]:
            result["consolidated_anew"] = yield self.consolidate()
        return {"success": True, **result}

    @inlineCallbacks
    def rebuild(self, report: Report | None = None) -> Coroutine[dict[str, Any]]:
        """Rebuild a character's long-term memory from its journal, with a report after each batch.

        Fires and fails as `consolidate`.
        """
        memory = self._mind.services.semantic
        if memory.is_off:
            return skip(memory.trouble)
        try:
            yield memory.delete_all(agent_of(self._mind.character.id))
            yield self._compare()  # no memory is left: this removes all links
        except MemoryUnavailable as unavailable:
            return {"success": False, "error": str(unavailable)}
        result: dict[str, Any] = yield self.consolidate(None, report)
        return result

    @inlineCallbacks
    def _fetch_rows(self) -> Coroutine[Rows]:
        """Fetch memories by entry id; fails with MemoryUnavailable and TurnAborted."""
        by_entry: Rows = defaultdict(list)
        for row in (yield self._mind.services.semantic.rows(agent_of(self._mind.character.id))):
            by_entry[row.entry].append(row)
        return by_entry

    @inlineCallbacks
    def _store_entries(
        self, entries: Sequence[Record], rows: Mapping[str, Any]
    ) -> Coroutine[dict[str, int]]:
        """Store entries, except those among ``rows``, link all, and delete what does not fit.

        Fires with figures of `consolidate`; fails with MemoryUnavailable, too.
        """
        memory, journal = self._mind.services.semantic, self._mind.character.journal
        there: dict[str, str] = {}
        stray: list[str] = []
        for entry in entries:
            keep, superfluous = match_memories(entry, rows.get(entry["id"], ()))
            there |= {entry["id"]: keep} if keep else {}
            stray += superfluous
        new = [make_item(entry) for entry in entries if entry["id"] not in there]
        stored = (yield memory.put(agent_of(self._mind.character.id), new)) if new else {}
        ids = {**there, **stored}
        pairs = [(entry, ids[entry["id"]]) for entry in entries if entry["id"] in ids]
        linked_now = yield retry_write(self._mind.clock, partial(write_links, journal, pairs))
        now = ((journal.get(entry["id"]), known) for entry, known in pairs)
        stray += [known for entry, known in now if entry is None or memory_of(entry) != known]
        yield memory.delete(stray)
        return {"stored": len(stored), "already_there": len(there), "linked": linked_now}

    @inlineCallbacks
    def _compare(self) -> Coroutine[dict[str, Any]]:
        """Compare the journal with long-term memory, and repair the links.

        Fires with ``deleted``, ``reset`` and ``relinked``; fails with MemoryUnavailable, too.
        """
        journal, put = self._mind.character.journal, self._mind.slices.put
        rows: Rows = yield self._fetch_rows()
        yield journal.load(put)
        wrong: list[tuple[Record, str]] = []
        stray: list[str] = []

        def judge(entry_id: str) -> None:
            entry = journal.get(entry_id)
            if entry is None:
                return
            keep, superfluous = match_memories(entry, rows.get(entry_id, ()))
            stray.extend(superfluous)
            if entry | linked(entry, keep) != entry:
                wrong.append((entry, keep))

        yield map_in_slices(put, journal.ids(), judge)
        yield self._background.write_in_pieces(wrong, PIECE, partial(write_links, journal))
        gone = rows.keys() - {entry["id"] for entry in journal.every()}
        stray += [row.id for entry_id in sorted(gone) for row in rows[entry_id]]
        yield self._mind.services.semantic.delete(stray)
        kept = sum(bool(keep) for _, keep in wrong)
        return {"deleted": len(stray), "reset": len(wrong) - kept, "relinked": kept}


def consolidate_memories_to_semantic(script: Any, character: Any) -> Deferred[dict[str, Any]]:
    """Copy the journal into long-term memory; fires as `MemoryLinks.consolidate`.

    ``script`` is an `AssistantScript`, ``character`` its character.
    """
    result: Deferred[dict[str, Any]] = script.mind.links.consolidate()
    return result


def prune_orphaned_memory_links(script: Any, character: Any) -> Deferred[dict[str, Any]]:
    """Repair the links to long-term memory; fires as `MemoryLinks.repair`.

    ``script`` is an `AssistantScript`, ``character`` its character.
    """
    result: Deferred[dict[str, Any]] = script.mind.links.repair()
    return result
