"""The tool to search journal, profiles and long-term memory."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel
from twisted.internet.defer import inlineCallbacks

from evennia_ai.memory.all_memories import search_all_memories
from evennia_ai.policy.compaction.consulted import entity_ref, entry_ref
from evennia_ai.policy.compaction.journal_summary import is_synthesis, select_found
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.records.shared_memory import HEARSAY
from evennia_ai.ports import ToolContext, ToolResult
from evennia_ai.scheduling import Steps
from evennia_ai.tools.base import tool
from evennia_ai.tools.memory_sources import recall_result
from evennia_ai.tools.needs import has_memories

FOUND = 8


class MemoryArguments(BaseModel):
    """What to look for."""

    query: str


@tool("search_memory", world=False, safe_to_retry=True, needed=has_memories)
@inlineCallbacks
def search_memory(context: ToolContext, arguments: MemoryArguments) -> Steps[str | ToolResult]:
    """Search all you remember, by names or a question."""
    script, journal, query = context.script, context.character.journal, arguments.query
    hits = yield search_all_memories(script, context.character, query, context.audience)
    ranked = [hit.record for hit in hits]
    found = select_found(ranked, script.conversation.current.record, FOUND)
    if not found:
        return "You remember nothing about that."
    journal.count_recalls(record["id"] for record in found if "kind" not in record)
    return recall_result(context, found, query, refs_of(found))


def refs_of(records: Sequence[Record]) -> tuple[str, ...]:
    """Return references to the records that count as consulted."""
    refs = [
        entity_ref(record["subject"])
        if record.get("kind") == ATTRIBUTE
        else entry_ref(record["id"])
        for record in records
        if not is_synthesis(record) and record.get("kind") != HEARSAY
    ]
    return tuple(dict.fromkeys(refs))
