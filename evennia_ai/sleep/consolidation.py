"""Copy the journal into long-term memory, and keep the two in step.

Entries and memories link to each other, so that repeated work changes nothing: a memory's metadata
holds its entry's id, and the entry's links hold ``mem0:<id>``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import MemoryUnavailable
from evennia_ai.policy.records.long_term import (
    Match,
    MemoryItem,
    MemoryRow,
    Stored,
    Tally,
    agent_of,
    digest_of,
    linked,
    make_item,
    match_memories,
    needs_linking,
)
from evennia_ai.ports import Character, Journal, Script
from evennia_ai.scheduling import PIECE, Steps, pause, persist, spread
from evennia_ai.turn.background_step import skip, write_in_pieces

# Entries in one pass: the assistant sleeps as long as a pass runs.
MOST = 400

Report = Callable[[int, int], object]


@inlineCallbacks
def consolidate_memories_to_semantic(
    script: Script, character: Character, most: int | None = MOST, report: Report | None = None
) -> Steps[dict[str, Any]]:
    """Store the journal entries that long-term memory does not hold yet, ``most`` at the most.

    ``report`` is called after each batch with how many are done and how many are left.

    Fires with ``success`` and how many were ``stored``, ``linked``, ``already_there``, ``failed``
    and ``left`` for a later pass, with ``error`` if the vector store is down; with ``skipped`` and
    ``reason`` if long-term memory is off. Fails with StoreUnavailable and TurnAborted.
    """
    memory = script.services.semantic
    if memory.is_off:
        return skip(memory.trouble)
    journal = character.journal
    yield journal.load(script.services.slices.put)
    tally, tried, error = Tally(), set[str](), ""
    while not error and (most is None or len(tried) < most):
        items = [make_item(entry) for entry in journal.waiting(PIECE, tried)]
        if not items:
            break
        tried |= {item.entry for item in items}
        try:
            stored = yield memory.put(agent_of(character.id), items)
            count = yield link_items(script, character, items, stored)
        except MemoryUnavailable as unavailable:
            error, stored, count = str(unavailable), {}, 0
        tally = tally.after(len(items), stored, count)
        if report:
            report(len(tried), journal.waiting_count)
        yield pause(script.services.slices.put)
    done = asdict(replace(tally, left=journal.waiting_count))
    return {"success": not error, **done, **({"error": error} if error else {})}


@inlineCallbacks
def link_items(
    script: Script, character: Character, items: Sequence[MemoryItem], stored: Mapping[str, Stored]
) -> Steps[int]:
    """Link entries to their memories, and delete stray memories. Fires with how many it linked."""
    work = partial(write_links, character.journal, items, stored)
    count, stray = yield persist(script.services.clock, work)
    if stray:
        yield script.services.semantic.delete(agent_of(character.id), stray)
    return int(count)


def write_links(
    journal: Journal, items: Sequence[MemoryItem], stored: Mapping[str, Stored]
) -> tuple[int, list[str]]:
    """Link entries in one transaction; returns how many, and memories whose entry changed."""
    changes: dict[str, dict[str, Any]] = {}
    stray: list[str] = []
    for item in items:
        if item.entry not in stored:
            continue
        entry, memory_id = journal.get(item.entry), stored[item.entry].id
        if entry is None or digest_of(entry) != item.digest:
            stray.append(memory_id)
        else:
            changes[item.entry] = linked(entry, memory_id)
    journal.update_all(changes)
    return len(changes), stray


@inlineCallbacks
def prune_orphaned_memory_links(script: Script, character: Character) -> Steps[dict[str, Any]]:
    """Repair the links between journal and long-term memory.

    A memory is deleted if its entry is gone, changed, or linked to another memory. An entry whose
    memory is gone loses its link and is stored again at once. An entry is never deleted. If the
    vector store is down, nothing is done.

    Fires with ``success`` and how many memories were ``deleted``, how many links were ``reset`` and
    ``relinked``, and the result for the entries stored again as ``consolidated_anew``; with
    ``error`` if the store is down; with ``skipped`` and ``reason`` if long-term memory is off.
    Fails with StoreUnavailable and TurnAborted.
    """
    memory = script.services.semantic
    if memory.is_off:
        return skip(memory.trouble)
    try:
        result = yield compare(script, character)
    except MemoryUnavailable as unavailable:
        return {"success": False, "error": str(unavailable)}
    if result["reset"]:
        result["consolidated_anew"] = yield consolidate_memories_to_semantic(script, character)
    return {"success": True, **result}


@inlineCallbacks
def compare(script: Script, character: Character) -> Steps[dict[str, Any]]:
    """Compare the journal with long-term memory, and repair the links.

    Fires with ``deleted``, ``reset`` and ``relinked``; fails with MemoryUnavailable, too.
    """
    memory, journal, services = script.services.semantic, character.journal, script.services
    agent, by_entry = agent_of(character.id), defaultdict[str, list[MemoryRow]](list)
    for row in (yield memory.rows(agent)):
        by_entry[row.entry].append(row)
    yield journal.load(services.slices.put)

    def judge(entry_id: str) -> tuple[str, Match, bool] | None:
        entry = journal.get(entry_id)
        if entry is None:
            return None
        match = match_memories(entry, by_entry.get(entry_id, ()))
        return entry_id, match, needs_linking(entry, match.keep)

    judged = yield spread(services.slices.put, journal.ids(), judge)
    found = [one for one in judged if one]
    wrong = [(entry_id, match.keep) for entry_id, match, differs in found if differs]
    yield write_in_pieces(script, wrong, PIECE, partial(write_matches, journal))
    going = [memory_id for _, match, _ in found for memory_id in match.superfluous]
    gone = by_entry.keys() - set(journal.ids())
    going += [row.id for entry_id in sorted(gone) for row in by_entry[entry_id]]
    for start in range(0, len(going), PIECE):
        yield memory.delete(agent, going[start : start + PIECE])
    kept = sum(bool(keep) for _, keep in wrong)
    return {"deleted": len(going), "reset": len(wrong) - kept, "relinked": kept}


def write_matches(journal: Journal, matches: Sequence[tuple[str, str]]) -> None:
    """Link entries to the memories found for them, in one transaction."""
    fresh = ((journal.get(entry_id), keep) for entry_id, keep in matches)
    journal.update_all({entry["id"]: linked(entry, keep) for entry, keep in fresh if entry})


@inlineCallbacks
def rebuild(script: Script, report: Report | None = None) -> Steps[dict[str, Any]]:
    """Rebuild a character's long-term memory from its journal, with a report after each batch.

    Fires as `consolidate_memories_to_semantic` does; fails with StoreUnavailable and TurnAborted.
    """
    memory, character, services = script.services.semantic, script.character, script.services
    if memory.is_off:
        return skip(memory.trouble)
    try:
        yield memory.delete_all(agent_of(character.id))
    except MemoryUnavailable as unavailable:
        return {"success": False, "error": str(unavailable)}
    journal = character.journal
    yield journal.load(services.slices.put)
    unlinked = [(entry_id, "") for entry_id in journal.ids()]
    yield write_in_pieces(script, unlinked, PIECE, partial(write_matches, journal))
    result: dict[str, Any] = yield consolidate_memories_to_semantic(script, character, None, report)
    return result
