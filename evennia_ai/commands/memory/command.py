"""``aimemory``: read, search and change what a character remembers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.common import UsageError, error_line, page_number
from evennia_ai.commands.history_rendering import message_line
from evennia_ai.commands.memory.changes import MemoryChanges, MemoryRequest
from evennia_ai.commands.memory.search import search_as
from evennia_ai.commands.memory_rendering import (
    journal_lines,
    whole_entry,
    whole_profile,
)
from evennia_ai.errors import TurnAborted
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.memory_reading import may_read
from evennia_ai.game.script_ports import GameScript
from evennia_ai.policy.records.provenance import Record
from evennia_ai.ports import Records
from evennia_ai.scheduling import Steps, spread
from evennia_ai.sleep.consolidation import rebuild
from evennia_ai.store.reports import messages_by_seq

SHOWN_MESSAGES = 6
PROGRESS_EVERY = 500  # entries


class CmdAIMemory(MemoryChanges):
    """
    read, search and change what an assistant remembers

    Usage:
      aimemory <character> [= <page>]
      aimemory/show <character> = <number>
      aimemory/about <character> = <player or thing>
      aimemory/search <character> [as <player>, ...] = <words>
      aimemory/add <character> [for <player>, ...] = <text>
      aimemory/edit <character>/<number> = <text>
      aimemory/pin <character> = <number>
      aimemory/unpin <character> = <number>
      aimemory/delete <character> = <number>
      aimemory/undo <character>
      aimemory/archive <character> [= <page>]
      aimemory/restore <character> = <number>
      aimemory/rebuild <character>

    Without a switch: the journal, newest first. Each entry is shown with its
    number, its day, its weight (importance, 1 to 10) and who gave it, its source,
    its audience, and whether it is pinned and in long-term memory.

    Switches:
      show    - one entry in full: source, links, and what was derived from it
      about   - what the character knows about somebody, with earlier values
      search  - what the character would find if these players asked, and why;
                without players, what anybody may be told. Also shows what it
                would withhold.
      add     - write an entry, for everybody or for some players only. It is
                never removed automatically.
      edit    - replace the words of an entry
      pin, unpin - keep an entry in every prompt whose audience may know it, as
                far as the setting pin_tokens has room
      delete  - delete an entry
      undo    - undo the last add, edit, pin, unpin or delete; the last 20 are
                kept
      archive - the entries that were pruned during sleep
      restore - put a pruned entry back into the journal
      rebuild - build the index and the long-term memory again from the journal

    Only admins may read what was told in private.

    Examples:
      aimemory/search Mira as Ann = what does Ann owe
      aimemory/edit Mira/j12 = Ann paid her debt.
    """

    key = "aimemory"
    locks = "cmd:perm(Builder)"
    switch_options = tuple(
        "show about search add edit pin unpin delete undo archive restore rebuild".split()
    )

    @inlineCallbacks
    def run(self) -> Steps[None]:
        """Load what the character knows, in time slices, and dispatch by switch."""
        request = self.read_request()
        character, put = request.script.character, self.services.slices.put
        yield character.journal.load(put)
        yield character.ai_profiles.load(put)
        work = self.dispatch(request)
        if isinstance(work, Deferred):
            yield work

    def read_request(self) -> MemoryRequest:
        """Return what was typed, in its parts; raises UsageError."""
        separator = {"edit": "/", "search": " as ", "add": " for "}.get(self.switch, "\n")
        name, _, more = (self.lhs or "").partition(separator)
        find = self.find_assistant if self.reads_private else self.find_editable
        return MemoryRequest(find(name.strip()), more.strip(), (self.rhs or "").strip())

    def do_default(self, request: MemoryRequest) -> Deferred[None]:
        journal = request.script.character.journal
        return self.browse(request, journal, "has no journal entries yet.")

    def do_archive(self, request: MemoryRequest) -> Deferred[None]:
        archive = request.script.character.journal.archive
        return self.browse(request, archive, "has no pruned entries.")

    @inlineCallbacks
    def browse(self, request: MemoryRequest, records: Records, if_none: str) -> Steps[None]:
        """Show a page of the journal or of the archive, or ``if_none`` if it is empty."""
        number, reader = page_number(request.value), self.reader
        lines, page = yield journal_lines(request.script, records, number, reader)
        self.show_page(request.name, lines, page, if_none)

    @inlineCallbacks
    def do_show(self, request: MemoryRequest) -> Steps[None]:
        entry = self.find_entry(request, request.value)
        profiles = request.script.character.ai_profiles

        def derived_record(id: str) -> Record | None:
            record = profiles.get(id)
            if record is None or entry["id"] not in record.get("sources", ()):
                return None
            return record if may_read(self.reader, record) else None

        found = yield spread(self.services.slices.put, profiles.ids(), derived_record)
        derived = [record for record in found if record]
        lines = [whole_entry(request.script, entry, derived, self.reader)]
        seqs = entry["source_seqs"]
        if seqs:
            rows = messages_by_seq(request.script.id, seqs, SHOWN_MESSAGES)
            more = f", the first {SHOWN_MESSAGES} of them" if len(seqs) > SHOWN_MESSAGES else ""
            lines.append(f"Source messages ({len(seqs)}{more}):")
            lines += [message_line(row, request.script.character_name, self.reader) for row in rows]
        self.msg("\n".join(lines))

    def do_about(self, request: MemoryRequest) -> None:
        dbref, name = self.find_subject(request)
        records = request.script.character.ai_profiles.about(dbref)
        lines = whole_profile(request.script, dbref, records, self.reader)
        if not lines:
            self.msg(f"{request.name} has no profile of {name}. Its journal may still name them.")
            return
        self.msg("\n".join([f"What {request.name} knows about |w{name}|n ({dbref}):", *lines]))

    @inlineCallbacks
    def do_search(self, request: MemoryRequest) -> Steps[None]:
        if not request.value:
            raise UsageError("Which words? |waimemory/search <character> [as <player>] = <words>|n")
        audience = self.find_audience(request.more) if request.more else frozenset()
        lines = yield search_as(request.script, request.value, audience, self.reader)
        self.msg("\n".join(lines))

    @inlineCallbacks
    def do_rebuild(self, request: MemoryRequest) -> Steps[None]:
        try:
            yield rebuild_memory(request.script, self.msg)
        except TurnAborted as error:
            raise UsageError(f"The rebuild stopped early: {error_line(error)}") from error


@inlineCallbacks
def rebuild_memory(script: GameScript, tell: Callable[[str], Any]) -> Steps[None]:
    """Rebuild the index and the long-term memory in time slices; tell about the progress.

    Fails with UsageError if a rebuild is running already, StoreUnavailable and TurnAborted.
    """
    name = shown_name(script)
    if script.ndb.rebuilding:
        raise UsageError(f"{name}'s memory is being rebuilt already.")
    script.ndb.rebuilding = True
    reported = 0

    def report(done: int, left: int) -> None:
        nonlocal reported
        if done - reported >= PROGRESS_EVERY:
            reported = done
            tell(f"{name}: {done:,} entries done, {left:,} to go ...")

    try:
        tell(f"Rebuilding {name}'s memory from its journal ...")
        services = script.services
        services.memory_indices.drop(script)
        yield script.memories.prepare(services)
        tell(f"The index is done, with {len(script.memories):,} memories.")
        result = yield rebuild(script, report)
    finally:
        script.ndb.rebuilding = False
    tell(describe(result))


def describe(result: dict[str, Any]) -> str:
    """Return the result for the long-term memory as a sentence."""
    if result.get("skipped"):
        return f"Long-term memory is not rebuilt: {clean_output(result['reason'], 300)}"
    if not result["success"]:
        error = clean_output(result["error"], 300)
        return f"Long-term memory is not complete: {error} The next sleep pass continues."
    trouble = f"; {result['failed']:,} could not be stored" if result["failed"] else ""
    return f"Done: {result['stored']:,} entries are in long-term memory{trouble}."
