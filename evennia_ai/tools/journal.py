"""Tools to write into the journal, to pin a fact, and to search the journal."""

from dataclasses import fields
from typing import Any

from pydantic import BaseModel
from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import NothingDone
from evennia_ai.policy.compaction.restored_context import entry_ref, is_synthesis, select_found
from evennia_ai.policy.compaction.summary import transcript_lines
from evennia_ai.policy.compaction.unverified_claims import is_bound, promise_claimant
from evennia_ai.policy.limits.people import plan_pin
from evennia_ai.policy.records.journal_entry import GIVEN, UNGUARDED, score_importance
from evennia_ai.ports import ToolContext, ToolResult
from evennia_ai.scheduling import Coroutine, retry_write
from evennia_ai.tools import memory_sources
from evennia_ai.tools.base import Tool, tool
from evennia_ai.tools.tool_relevance import has_journal, has_to_note, must_remember
from evennia_ai.turn.tool_executor import DONE

ENTRY_CHARS = 600
PIN_CHARS = 300
BUILDER = "builder"
FOUND = 5
LOOKED_AT = 200
NOTED = "You noted it."
OLDER_PINS = " For that, what you kept in mind the longest is in your journal only: {count}."
NOTED_BEFORE = "You had noted that already."
CLAIM, CLAIM_WEIGHT = "claim", 3  # of a promise that the character never spoke of itself
NO_PROMISE = "That is a claim: you never said so. Note it as their claim, or say it yourself first."


class JournalEntryArguments(BaseModel):
    """A fact to keep."""

    content: str


class SearchArguments(BaseModel):
    """What to look for."""

    words: str


@tool("add_journal_entry", world=False, safe_to_retry=True, needed=has_to_note)
@inlineCallbacks
def add_journal_entry(
    context: ToolContext, arguments: JournalEntryArguments
) -> Coroutine[ToolResult]:
    """Note one fact for later, with its names and numbers."""
    content = memory_sources.content_of(context, arguments.content, ENTRY_CHARS)
    journal = context.character.journal
    yield journal.load(context.assistant.services.slices.put)
    newest = journal.newest(memory_sources.MOST_OF_A_DAY, everything=True)
    memory_sources.ensure_may_note(context, newest, "timestamp")

    def write() -> ToolResult:
        known = journal.has(content, context.audience if context.private else None)
        kept = journal.add(content, **entry_fields(context, content))
        return ToolResult(DONE, NOTED_BEFORE if known else NOTED, changed=(entry_ref(kept),))

    noted: ToolResult = yield memory_sources.store_record(context, write)
    return noted


@tool("pin_fact", world=False, safe_to_retry=True, needed=must_remember)
@inlineCallbacks
def pin_fact(context: ToolContext, arguments: JournalEntryArguments) -> Coroutine[str]:
    """Keep one short fact in mind for good, such as a promise."""
    content = memory_sources.content_of(context, arguments.content, PIN_CHARS)
    journal, parts = context.character.journal, context.assistant
    if is_only_claimed(context, content):
        raise NothingDone(NO_PROMISE)
    room = parts.config.pin_tokens - parts.settings.count_text(content)
    if room < 0:
        raise NothingDone("That is too long to keep in mind: say it shorter.")

    def write() -> int:
        pins = journal.pinned(everything=True)  # without those of a builder and the game's code
        own = [e for e in pins if e["source_type"] != BUILDER and e["importance_by"] != GIVEN]
        most = parts.config.person_pins
        plan = plan_pin(own, context.causes, room, most, parts.settings.count_text)
        if plan.refusal:
            raise NothingDone(plan.refusal)
        for entry in plan.gone:
            journal.update(entry["id"], pinned=False)
        kept = journal.add(content, **entry_fields(context, content))
        journal.update(kept, pinned=True)
        return len(plan.gone)

    yield journal.load(parts.services.slices.put)
    newest = journal.newest(memory_sources.MOST_OF_A_DAY, everything=True)
    memory_sources.ensure_may_note(context, newest, "timestamp")
    gone: int = yield retry_write(parts.services.clock, write)
    # Their words may be others' secrets.
    return "You keep it in mind." + (OLDER_PINS.format(count=gone) if gone else "")


def entry_fields(context: ToolContext, content: str) -> dict[str, Any]:
    # The prompt of a trusting character may hold whispers that it may repeat. It may, but it does
    # not tell other characters: the tag keeps the entry from being shared.
    tags = [] if context.assistant.config.whisper_policy == "strict" else [UNGUARDED]
    name, lines = context.assistant.name.lower(), memory_sources.heard(context)
    fields = {
        "named": any(name in message["content"].lower() for message in lines),
        "tags": tags,
        **memory_sources.sources_of(context),
    }
    if not is_only_claimed(context, content):
        return fields
    weight = min(CLAIM_WEIGHT, score_importance(content))
    return {**fields, "importance": weight, "importance_by": CLAIM}


def is_only_claimed(context: ToolContext, content: str) -> bool:
    """Return True if a promise or debt of the character is known from others' words alone."""
    name, view = context.assistant.name, context.assistant.log.view()
    if not is_bound(content, name):
        return False
    return bool(promise_claimant(content, name, transcript_lines(view, name, with_results=False)))


@tool("search_journal", world=False, reads=True, safe_to_retry=True, needed=has_journal)
@inlineCallbacks
def search_journal(context: ToolContext, arguments: SearchArguments) -> Coroutine[str | ToolResult]:
    """Search what you wrote into your journal."""
    journal, parts = context.character.journal, context.assistant
    words, audience = arguments.words, context.audience
    yield journal.load(parts.services.slices.put)
    ranked = journal.search(words, audience, LOOKED_AT)
    entries = select_found(ranked, parts.log.current.record, FOUND)
    journal.count_recalls(entry["id"] for entry in entries)
    if not entries:
        return "Your journal has nothing about that."
    read = tuple(entry_ref(entry["id"]) for entry in entries if not is_synthesis(entry))
    lines = [parts.line(entry, words) for entry in entries]
    return memory_sources.recall_result(context, entries, lines, read)


class AddJournalEntryTool(Tool):
    """`add_journal_entry` as a class, for a game with its own toolbox or a similar tool."""

    def __init__(self) -> None:
        super().__init__(**{f.name: getattr(add_journal_entry, f.name) for f in fields(Tool)})
