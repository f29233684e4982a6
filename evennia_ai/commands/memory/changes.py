"""The switches of ``aimemory`` that change a journal, and what every switch finds."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from evennia.utils import logger
from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.common import NUMBER, AICommand, UsageError
from evennia_ai.commands.history_changes import renew
from evennia_ai.commands.memory_rendering import count_shown, entry_lines, may_read, names_in
from evennia_ai.commands.players import name_of
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.script_ports import GameScript
from evennia_ai.messages import Audience
from evennia_ai.policy.compaction.journal_summary import is_synthesis
from evennia_ai.policy.disclosure import PRIVATE_MEMORIES
from evennia_ai.policy.records.memory_listing import undo_line, who_may_know
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.sanitize import one_line
from evennia_ai.ports import Records
from evennia_ai.store.memory_editor import GONE, HEARD_SINCE, MemoryEditor, source_lines

LINE_CHARS = 200
ENTRY_CHARS = 1_000
Work = Generator[Deferred[Any], Any, None]


@dataclass(frozen=True)
class MemoryRequest:
    """What was typed: the assistant, the text after its name, and the text after the ``=``."""

    script: GameScript
    more: str
    value: str

    @property
    def name(self) -> str:
        """The character's name, safe to show."""
        return shown_name(self.script)

    @property
    def editor(self) -> MemoryEditor:
        """The editor of the character's journal."""
        return MemoryEditor(self.script.character)


class MemoryChanges(AICommand):
    """The switches that change something, and what finds the records that the caller may read."""

    @property
    def reads_private(self) -> bool:
        """True if the caller may read private records."""
        return self.reader.may(PRIVATE_MEMORIES)

    def find_entry(self, request: MemoryRequest, number: str) -> Record:
        """Return the journal entry with a number; raises UsageError."""
        return self.find_in(request.script.character.journal, number, request, "aimemory")

    def find_in(
        self, records: Records, number: str, request: MemoryRequest, listing: str
    ) -> Record:
        """Return an entry; raises UsageError, which names ``listing`` as what lists them."""
        lists = f"|w{listing} {request.name}|n lists them."
        if not number:
            raise UsageError(f"Which entry? Give its number. {lists}")
        found: Record | None = records.get(number) or records.get(number.lower())
        if found is None or not may_read(self.reader, found):
            raise UsageError(f"{request.name} has no entry '{clean_output(number, 40)}'. {lists}")
        return found

    def find_subject(self, request: MemoryRequest) -> tuple[str, str]:
        """Return whose profile is wanted, as (dbref, name); a dbref also finds the deleted."""
        if not request.value:
            raise UsageError("About whom? |waimemory/about <character> = <player or thing>|n")
        if NUMBER.fullmatch(request.value):
            return request.value, name_of(request.value) or request.value
        found = self.find_character(request.value)
        return found.dbref, shown_name(found)

    def find_audience(self, names: str) -> Audience:
        """Return the named players by dbref; raises UsageError unless the caller is an admin."""
        if not self.reads_private:
            readers = self.reader.whose(PRIVATE_MEMORIES).lower()
            raise UsageError(f"Only {readers} may read or write what is private to a player.")
        return frozenset(self.find_character(name.strip()).dbref for name in names.split(","))

    def do_add(self, request: MemoryRequest) -> None:
        audience = self.find_audience(request.more) if request.more else None
        words = self.read_words(request, "add <character> [for <player>]")
        entry = request.editor.add(words, None if audience is None else sorted(audience))
        if entry is None:
            raise UsageError(f"{request.name} has this entry already.")
        known = who_may_know(entry, names_in(entry))
        self.tell_change(request, f"Added, {clean_output(known, 200)}:", entry)

    def do_edit(self, request: MemoryRequest) -> None:
        entry = self.find_own_words(request, request.more)
        words = self.read_words(request, "edit <character>/<number>")
        if words == entry["content"]:
            raise UsageError("The entry has these words already.")
        request.editor.edit(entry["id"], words)
        self.tell_change(request, f"Now: {clean_output(words, LINE_CHARS)}\nBefore:", entry)

    def do_pin(self, request: MemoryRequest) -> None:
        pinned = self.switch == "pin"
        entry = self.find_own_words(request, request.value)
        state = "pinned" if pinned else "not pinned"
        if entry["pinned"] is pinned:
            raise UsageError(f"{entry['id']} is {state} already.")
        request.editor.pin(entry["id"], pinned)
        self.tell_change(request, f"Now {state}:", entry)

    do_unpin = do_pin

    def do_delete(self, request: MemoryRequest) -> None:
        entry = self.find_entry(request, request.value)
        lines = source_lines(entry)
        request.editor.delete(entry["id"], self.caller.dbref)
        if lines:
            renew(request.script, lines)
            self.msg(f"{len(lines)} lines of the log that it came from are not recalled either.")
        self.tell_change(request, "Deleted:", entry)

    def do_undo(self, request: MemoryRequest) -> None:
        editor = request.editor
        step = editor.steps.last()
        if step is None:
            raise UsageError(f"There is no change of {request.name}'s journal to undo.")
        if not may_read(self.reader, step):
            raise UsageError("The last change was to a private entry. Only an admin can undo it.")
        outcome = editor.undo(step)
        renew(request.script, source_lines(step))
        messages = {
            GONE: f"{step['entry']} is deleted meanwhile: there is nothing to undo.",
            HEARD_SINCE: f"{step['entry']} stays: somebody told the character the same since then.",
        }
        self.log_change(request, step["entry"])
        left = len(editor.steps.ids())
        self.msg(f"{messages.get(outcome, f'Undone: {undo_line(step)}.')} ({left} more.)")

    @inlineCallbacks
    def do_restore(self, request: MemoryRequest) -> Work:
        journal = request.script.character.journal
        yield journal.archive.load(self.services.slices.put)
        entry = self.find_in(journal.archive, request.value, request, "aimemory/archive")
        back = journal.archive.bring_back(journal, entry["id"])
        self.log_change(request, back["id"])
        lines = entry_lines([back], names_in(back), self.reader)
        self.msg("\n".join(["Back in the journal; pruning will not remove it again:", *lines]))

    def tell_change(self, request: MemoryRequest, message: str, entry: Record) -> None:
        """Report a change, and how to undo it."""
        self.log_change(request, entry["id"])
        count_shown(self.reader, entry)
        words = clean_output(entry["content"], LINE_CHARS)
        undo = f"To undo it: |waimemory/undo {request.name}|n"
        self.msg(f"{message} |w{clean_output(entry['id'], 60)}|n {words}\n{undo}")

    def log_change(self, request: MemoryRequest, id: str) -> None:
        """Write into the server's log who changed which entry, without its words."""
        logger.log_sec(f"aimemory/{self.switch}: {self.caller}, {id} of {request.script.character}")

    def find_own_words(self, request: MemoryRequest, number: str) -> Record:
        """Return an entry that may be edited or pinned; raises UsageError."""
        entry = self.find_entry(request, number)
        if is_synthesis(entry):
            raise UsageError(
                "This entry is the summary of a compaction and can only be deleted. "
                f"To undo the compaction: |waicompact/undo {request.name}|n"
            )
        return entry

    def read_words(self, request: MemoryRequest, usage: str) -> str:
        """Return the text that was typed for an entry; raises UsageError."""
        words = one_line(request.value)
        if not words:
            raise UsageError(f"Which text? |waimemory/{usage} = <text>|n")
        if len(words) > ENTRY_CHARS:
            raise UsageError(
                f"The text has {len(words):,} characters; at most {ENTRY_CHARS:,} are allowed. "
                "Write one fact at a time."
            )
        return words
