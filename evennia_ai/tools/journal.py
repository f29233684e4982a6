"""Writing down what shall not be forgotten, and looking it up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields

from pydantic import BaseModel, Field
from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import BadRecord, ToolError
from evennia_ai.policy.audience import speakers_in
from evennia_ai.policy.compaction.consulted import entry_ref
from evennia_ai.policy.compaction.journal_summary import is_synthesis, select_found
from evennia_ai.policy.records.journal_entry import GIVEN
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.records.shared_memory import UNGUARDED
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Steps, persist
from evennia_ai.tools.base import Reached, Tool, tool
from evennia_ai.tools.memory_sources import is_named_in, sources_of
from evennia_ai.turn.recall import memory_line

ENTRY_CHARS = 600
PIN_CHARS = 300
BUILDER = "builder"
SHOWN_CHARS = 300
FOUND = 5
LOOKED_AT = 200
NOTED = "You noted it."
NOTED_BEFORE = "You had noted that already."


class EntryArguments(BaseModel):
    """A fact to keep."""

    content: str = Field(description="One fact, with names and numbers.")


class SearchArguments(BaseModel):
    """What to look for."""

    words: str = Field(description="Words to look for.")


@tool("add_journal_entry", world=False, safe_to_retry=True)
@inlineCallbacks
def add_journal_entry(context: ToolContext, arguments: EntryArguments) -> Steps[Reached]:
    """Write a fact into your journal that you will need later: a promise, debt, name, secret."""
    content = clean_heard(arguments.content, ENTRY_CHARS)
    if not content:
        raise ToolError("There were no words in that.")
    journal, services = context.character.journal, context.script.services

    def write() -> Reached:
        known = journal.has(content, context.audience if context.private else None)
        try:
            kept = journal.add(
                content,
                named=is_named_in(context),
                tags=guard_tags(context),
                **sources_of(context),
            )
        except BadRecord as error:
            raise ToolError(f"That does not fit: {error}") from error
        return Reached(NOTED_BEFORE if known else NOTED, changed=(entry_ref(kept),))

    yield journal.load(services.slices.put)
    noted: Reached = yield persist(services.clock, write)
    return noted


@tool("pin_fact", world=False, safe_to_retry=True)
@inlineCallbacks
def pin_fact(context: ToolContext, arguments: EntryArguments) -> Steps[str]:
    """Keep one fact in mind for good, such as a promise or a standing wish. Room is short."""
    content = clean_heard(arguments.content, PIN_CHARS)
    if not content:
        raise ToolError("There were no words in that.")
    journal, script = context.character.journal, context.script
    room = script.config.pin_tokens - script.count_text(content)
    if room < 0:
        raise ToolError("That is too long to keep in mind: say it shorter.")

    def write() -> list[str]:
        own = [e for e in journal.pinned(discretion="trusting") if is_own_pin(e)]
        gone = oldest_beyond(own, room, script.count_text)
        for entry in gone:
            journal.update(entry["id"], pinned=False)
        kept = journal.add(
            content, named=is_named_in(context), tags=guard_tags(context), **sources_of(context)
        )
        journal.update(kept, pinned=True)
        return [entry["content"] for entry in gone]

    yield journal.load(script.services.slices.put)
    gone: list[str] = yield persist(script.services.clock, write)
    return "You keep it in mind." + "".join(f" No longer: {text}" for text in gone)


def is_own_pin(entry: Record) -> bool:
    """True for what the character pinned itself, and no builder or code of the game."""
    return bool(entry["source_type"] != BUILDER and entry["importance_by"] != GIVEN)


def guard_tags(context: ToolContext) -> list[str]:
    """The tags of an entry that is written now: one that is never told to others where the prompt
    may have held what was whispered without that being known of it."""
    return [] if context.script.config.discretion == "strict" else [UNGUARDED]


def oldest_beyond(
    entries: Sequence[Record], room: int, count_text: Callable[[str], int]
) -> list[Record]:
    """The oldest pins for which there is no room any more; they stay in the journal."""
    left = list(entries)
    gone: list[Record] = []
    while left and sum(count_text(entry["content"]) for entry in left) > room:
        gone.append(left.pop(0))
    return gone


@tool("search_journal", world=False, safe_to_retry=True)
@inlineCallbacks
def search_journal(context: ToolContext, arguments: SearchArguments) -> Steps[str | Reached]:
    """Look up in your journal what you wrote down earlier."""
    journal, script = context.character.journal, context.script
    words, discretion = arguments.words, script.config.discretion
    yield journal.load(script.services.slices.put)
    ranked = journal.search(words, context.audience, LOOKED_AT, discretion)
    found = select_found(ranked, script.conversation.current.record, FOUND)
    journal.count_recalls(entry["id"] for entry in found)
    if not found:
        return "Your journal has nothing about that."
    lines = (f"- {memory_line(script, entry, SHOWN_CHARS, words)}" for entry in found)
    # What follows from what is private stays between those who may know it (P9).
    binds = discretion == "strict" and any(entry["audience"] is not None for entry in found)
    read = tuple(entry_ref(entry["id"]) for entry in found if not is_synthesis(entry))
    heard_by = context.audience if binds else None
    return Reached("\n".join(lines), heard_by, read=read, speakers=speakers_in(found))


class AddJournalEntryTool(Tool):
    """`add_journal_entry` as a class, for a game that makes a toolbox of its own or a tool after
    its pattern: ``AddJournalEntryTool()`` is the tool."""

    def __init__(self) -> None:
        super().__init__(
            **{item.name: getattr(add_journal_entry, item.name) for item in fields(Tool)}
        )
