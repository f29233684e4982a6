"""What a builder writes into a character's journal, changes there and takes back."""

from __future__ import annotations

from evennia.utils import logger
from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.common import UsageError
from evennia_ai.commands.memory.arguments import Asked, MemoryCommand, Work
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

    def do_add(self, asked: Asked) -> None:
        """Write something down."""
        audience = self.find_audience(asked.more) if asked.more else None
        words = self.read_words(asked, "add <character> [for <player>]")
        ears = None if audience is None else sorted(audience)
        entry = MemoryEditor(asked.script.character).add(words, ears)
        if entry is None:
            raise UsageError(f"{asked.name} has noted just that already.")
        known = who_may_know(entry, names_in(entry))
        self.tell_change(asked, "add", f"Written down, {clean_output(known, 200)}:", entry)

    def do_edit(self, asked: Asked) -> None:
        """Put an entry in other words."""
        entry = self.find_own_words(asked, asked.more)
        words = self.read_words(asked, "edit <character>/<number>")
        if words == entry["content"]:
            raise UsageError("It says just that already.")
        MemoryEditor(asked.script.character).edit(entry["id"], words)
        self.tell_change(asked, "edit", f"Now: {clean_output(words, LINE_CHARS)}\nBefore:", entry)

    def do_pin(self, asked: Asked) -> None:
        """Keep an entry in mind for good."""
        self.pin(asked, True)

    def do_unpin(self, asked: Asked) -> None:
        """Not any more."""
        self.pin(asked, False)

    def pin(self, asked: Asked, pinned: bool) -> None:
        """Pin an entry, or let it go."""
        entry = self.find_own_words(asked, asked.given)
        state = "pinned" if pinned else "not pinned"
        if entry["pinned"] is pinned:
            raise UsageError(f"{entry['id']} is {state} as it is.")
        MemoryEditor(asked.script.character).pin(entry["id"], pinned)
        self.tell_change(asked, "pin" if pinned else "unpin", f"Now {state}:", entry)

    def do_delete(self, asked: Asked) -> None:
        """Take an entry away."""
        entry = self.find_entry(asked, asked.given)
        MemoryEditor(asked.script.character).delete(entry["id"])
        self.tell_change(asked, "delete", "Deleted:", entry)

    def do_undo(self, asked: Asked) -> None:
        """Take the last change back."""
        editor = MemoryEditor(asked.script.character)
        step = editor.steps.last()
        if step is None:
            raise UsageError(f"There is no change of {asked.name}'s journal to take back.")
        if not self.may_read(step):
            raise UsageError("The last change was of something private: an admin can undo it.")
        outcome = editor.undo(step)
        told = {
            GONE: f"{step['entry']} is gone meanwhile: there is nothing to take back.",
            HEARD_SINCE: f"{step['entry']} stays: somebody has told it the same since then.",
        }
        self.log_change(asked, "undo", step["entry"])
        left = len(editor.steps.ids())
        self.msg(f"{told.get(outcome, f'Taken back: {undo_line(step)}.')} ({left} more.)")

    @inlineCallbacks
    def do_restore(self, asked: Asked) -> Work:
        """Put an entry that faded back into the journal."""
        journal, archive = asked.script.character.journal, asked.script.character.journal.archive
        yield archive.load(asked.script.services.slices.put)
        entry = self.find_in(archive, asked.given, asked, "aimemory/archive")
        back = archive.bring_back(journal, entry["id"])
        self.log_change(asked, "restore", back["id"])
        self.msg(
            "\n".join(["Back in the journal, for good:", *entry_lines([back], names_in(back))])
        )

    def tell_change(self, asked: Asked, act: str, told: str, entry: Record) -> None:
        """Tell what was done, and how to take it back."""
        self.log_change(asked, act, entry["id"])
        words = clean_output(entry["content"], LINE_CHARS)
        undo = f"|waimemory/undo {asked.name}|n takes it back."
        self.msg(f"{told} |w{clean_output(entry['id'], 60)}|n {words}\n{undo}")

    def log_change(self, asked: Asked, act: str, id: str) -> None:
        """Note in the server's log who changed what; no words of it."""
        logger.log_sec(f"aimemory/{act}: {self.caller}, {id} of {asked.script.character}")

    def find_own_words(self, asked: Asked, number: str) -> Record:
        """An entry that may be put in other words or pinned; raises UsageError."""
        entry = self.find_entry(asked, number)
        if is_synthesis(entry):
            raise UsageError(
                "That is a summary of old talk. It can be deleted here; "
                f"|waicompact/undo {asked.name}|n takes the summary itself back."
            )
        return entry

    def read_words(self, asked: Asked, usage: str) -> str:
        """What is to be written down; raises UsageError."""
        words = one_line(asked.given)
        if not words:
            raise UsageError(f"In which words? |waimemory/{usage} = <text>|n")
        if len(words) > ENTRY_CHARS:
            raise UsageError(f"One fact at a time, please, in {ENTRY_CHARS:,} characters at most.")
        return words
