"""The switches of ``aimemory`` that change a journal, and what every switch finds."""

from __future__ import annotations

from dataclasses import dataclass

from evennia.utils import logger
from twisted.internet.defer import inlineCallbacks

from evennia_ai.commands.common import NUMBER, AICommand, UsageError
from evennia_ai.commands.memory_rendering import entry_lines
from evennia_ai.commands.players import name_of
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.memory_acts import (
    add_memory,
    delete_memory,
    edit_memory,
    pin_memory,
    undo_memory,
)
from evennia_ai.game.memory_reading import count_shown, may_read
from evennia_ai.game.script_ports import GameScript
from evennia_ai.messages import Audience
from evennia_ai.policy.disclosure import PRIVATE_MEMORIES, PRIVATE_WORDS
from evennia_ai.policy.lines import LINE
from evennia_ai.policy.records.memory_listing import who_may_know
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.sanitize import one_line
from evennia_ai.ports import Records
from evennia_ai.scheduling import Steps
from evennia_ai.store.names import names_in
from evennia_ai.store.search import repeats_of

LINE_CHARS = 200
MOST_REPEATS = 10


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
        kind, _, seq = number.lower().partition(":")
        if kind == LINE and seq.isdecimal() and len(seq) < 19:
            raise UsageError(self.line_hint(request, int(seq)))
        found: Record | None = records.get(number) or records.get(number.lower())
        if found is None or not may_read(self.reader, found):
            raise UsageError(f"{request.name} has no entry '{clean_output(number, 40)}'. {lists}")
        return found

    def line_hint(self, request: MemoryRequest, seq: int) -> str:
        """Return how to hide a line of the log, and which lines of the character repeat it."""
        hide = f"|waihistory/hide {request.name} = {seq}|n"
        hint = f"That is no entry but line {seq} of the log. To keep it from prompts: {hide}"
        again = repeats_of(request.script.id, seq, self.reader.may(PRIVATE_WORDS))[:MOST_REPEATS]
        told = f". {request.name} may have repeated it: hide {', '.join(map(str, again))} as well."
        return f"{hint}{told * bool(again)}"

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
        self.ensure_words(request, "add <character> [for <player>]")
        entry = add_memory(request.script, request.value, audience)
        known = who_may_know(entry, names_in(entry))
        self.tell_change(request, f"Added, {clean_output(known, 200)}:", entry)

    def do_edit(self, request: MemoryRequest) -> None:
        entry = self.find_entry(request, request.more)
        self.ensure_words(request, "edit <character>/<number>")
        before = edit_memory(request.script, entry, request.value)
        words = clean_output(request.value, LINE_CHARS)
        self.tell_change(request, f"Now: {words}\nBefore:", before)

    def do_pin(self, request: MemoryRequest) -> None:
        pinned = self.switch == "pin"
        entry = self.find_entry(request, request.value)
        pin_memory(request.script, entry, pinned)
        self.tell_change(request, f"Now {'pinned' if pinned else 'not pinned'}:", entry)

    do_unpin = do_pin

    def do_delete(self, request: MemoryRequest) -> None:
        entry = self.find_entry(request, request.value)
        lines = delete_memory(request.script, entry, self.caller.dbref)
        if lines:
            many = "line" if lines == 1 else "lines"
            self.msg(f"Not recalled either, since it came from them: {lines} {many} of the log.")
        self.tell_change(request, "Deleted:", entry)

    def do_undo(self, request: MemoryRequest) -> None:
        entry, said = undo_memory(request.script, self.reader)
        self.log_change(request, entry)
        self.msg(said)

    @inlineCallbacks
    def do_restore(self, request: MemoryRequest) -> Steps[None]:
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

    def ensure_words(self, request: MemoryRequest, usage: str) -> None:
        """Raise UsageError if no text was typed for an entry."""
        if not one_line(request.value):
            raise UsageError(f"Which text? |waimemory/{usage} = <text>|n")
