"""The switches of ``aimemory`` that change a journal."""

from __future__ import annotations

from evennia.utils import logger
from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.common import UsageError
from evennia_ai.commands.memory.arguments import MemoryCommand, MemoryRequest, Work
from evennia_ai.commands.memory.rendering import entry_lines, names_in
from evennia_ai.policy.compaction.journal_summary import is_synthesis
from evennia_ai.policy.records.memory_listing import undo_line, who_may_know
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.sanitize import clean_output, one_line
from evennia_ai.store.memory_editor import GONE, HEARD_SINCE, MemoryEditor

LINE_CHARS = 200
ENTRY_CHARS = 1_000


class MemoryChanges(MemoryCommand):
    """The switches that change something: add, edit, pin, unpin, delete, undo."""

    def do_add(self, request: MemoryRequest) -> None:
        """Add an entry."""
        audience = self.find_audience(request.more) if request.more else None
        words = self.read_words(request, "add <character> [for <player>]")
        entry = editor_of(request).add(words, None if audience is None else sorted(audience))
        if entry is None:
            raise UsageError(f"{request.name} has this entry already.")
        known = who_may_know(entry, names_in(entry))
        self.tell_change(request, f"Added, {clean_output(known, 200)}:", entry)

    def do_edit(self, request: MemoryRequest) -> None:
        """Replace the words of an entry."""
        entry = self.find_own_words(request, request.more)
        words = self.read_words(request, "edit <character>/<number>")
        if words == entry["content"]:
            raise UsageError("The entry has these words already.")
        editor_of(request).edit(entry["id"], words)
        self.tell_change(request, f"Now: {clean_output(words, LINE_CHARS)}\nBefore:", entry)

    def do_pin(self, request: MemoryRequest) -> None:
        """Pin an entry, or unpin it."""
        pinned = self.switch == "pin"
        entry = self.find_own_words(request, request.value)
        state = "pinned" if pinned else "not pinned"
        if entry["pinned"] is pinned:
            raise UsageError(f"{entry['id']} is {state} already.")
        editor_of(request).pin(entry["id"], pinned)
        self.tell_change(request, f"Now {state}:", entry)

    do_unpin = do_pin

    def do_delete(self, request: MemoryRequest) -> None:
        """Delete an entry."""
        entry = self.find_entry(request, request.value)
        editor_of(request).delete(entry["id"])
        self.tell_change(request, "Deleted:", entry)

    def do_undo(self, request: MemoryRequest) -> None:
        """Undo the last change."""
        editor = editor_of(request)
        step = editor.steps.last()
        if step is None:
            raise UsageError(f"There is no change of {request.name}'s journal to undo.")
        if not self.may_read(step):
            raise UsageError("The last change was to a private entry. Only an admin can undo it.")
        outcome = editor.undo(step)
        messages = {
            GONE: f"{step['entry']} is deleted meanwhile: there is nothing to undo.",
            HEARD_SINCE: f"{step['entry']} stays: somebody told the character the same since then.",
        }
        self.log_change(request, step["entry"])
        left = len(editor.steps.ids())
        self.msg(f"{messages.get(outcome, f'Undone: {undo_line(step)}.')} ({left} more.)")

    @inlineCallbacks
    def do_restore(self, request: MemoryRequest) -> Work:
        """Put an archived entry back into the journal."""
        journal, archive = (
            request.script.character.journal,
            request.script.character.journal.archive,
        )
        yield archive.load(request.script.services.slices.put)
        entry = self.find_in(archive, request.value, request, "aimemory/archive")
        back = archive.bring_back(journal, entry["id"])
        self.log_change(request, back["id"])
        self.msg(
            "\n".join(
                [
                    "Back in the journal; pruning will not remove it again:",
                    *entry_lines([back], names_in(back)),
                ]
            )
        )

    def tell_change(self, request: MemoryRequest, message: str, entry: Record) -> None:
        """Report a change, and how to undo it."""
        self.log_change(request, entry["id"])
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


def editor_of(request: MemoryRequest) -> MemoryEditor:
    """Return the editor of the requested character's journal."""
    return MemoryEditor(request.script.character)
