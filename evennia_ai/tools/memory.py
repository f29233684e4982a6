"""The tools to search all memories, or the log alone."""

from collections.abc import Sequence

from pydantic import BaseModel
from twisted.internet.defer import inlineCallbacks

from evennia_ai.game.memory_reading import find_memories
from evennia_ai.policy.compaction.restored_context import entity_ref, entry_ref, is_synthesis
from evennia_ai.policy.records.entity_profiles import ATTRIBUTE
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.retrieval.words import asked_words, find_words
from evennia_ai.ports import ToolContext, ToolResult
from evennia_ai.scheduling import Coroutine
from evennia_ai.tools.base import tool
from evennia_ai.tools.journal import SearchArguments
from evennia_ai.tools.memory_sources import heard, recall_result
from evennia_ai.tools.tool_relevance import has_evicted_talk, has_memories

ALL_SHOWN = "You still have all of your talk before you."


class MemoryArguments(BaseModel):
    """What to look for."""

    query: str


@tool("search_memory", world=False, reads=True, safe_to_retry=True, needed=has_memories)
@inlineCallbacks
def search_memory(context: ToolContext, arguments: MemoryArguments) -> Coroutine[str | ToolResult]:
    """Search all you remember, by names or a question."""
    parts, query = context.assistant, arguments.query
    upto = last_seq_before(context)
    hits = yield find_memories(
        parts.memories(), parts.log, parts.services, query, context.audience, upto
    )
    records = [hit.record for hit in hits]
    if not records:
        return "You remember nothing about that."
    context.character.journal.count_recalls(r["id"] for r in records if "kind" not in r)
    lines = [parts.line(record, query) for record in records]
    return recall_result(context, records, lines, refs_of(records))


@tool("search_history", world=False, reads=True, safe_to_retry=True, needed=has_evicted_talk)
@inlineCallbacks
def search_history(context: ToolContext, arguments: SearchArguments) -> Coroutine[str | ToolResult]:
    """Search earlier talk for the exact words that were said."""
    parts, words = context.assistant, arguments.words
    upto = last_seq_before(context)
    hits = yield find_memories(
        parts.memories(), parts.log, parts.services, words, context.audience, upto, only_lines=True
    )
    lines = sorted((hit.record for hit in hits), key=lambda line: line["seq"])
    wanted = set(asked_words(words))
    if not any(not wanted or wanted.intersection(find_words(item["words"])) for item in lines):
        is_all_shown = parts.log.current.record is None
        return ALL_SHOWN if is_all_shown else "Nothing of that kind was said."
    return recall_result(context, lines, [parts.line(line) for line in lines])


def last_seq_before(context: ToolContext) -> int | None:
    """Return the last message before the open turn, or None: a question must not find itself."""
    messages = heard(context)
    return messages[-1]["metadata"]["seq"] - 1 if messages else None


def refs_of(records: Sequence[Record]) -> tuple[str, ...]:
    """Return references to the entries and profiles that count as consulted."""
    refs = [
        entity_ref(record["subject"])
        if record.get("kind") == ATTRIBUTE
        else entry_ref(record["id"])
        for record in records
        if record.get("kind") in (None, ATTRIBUTE) and not is_synthesis(record)
    ]
    return tuple(dict.fromkeys(refs))
