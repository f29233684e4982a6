"""``aimemory``: read, search and change what a character remembers."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.common import UsageError, page_footer, page_number
from evennia_ai.commands.history import message_line
from evennia_ai.commands.memory.arguments import Asked, Work
from evennia_ai.commands.memory.changes import MemoryChanges
from evennia_ai.commands.memory.rebuild import rebuild_memory
from evennia_ai.commands.memory.rendering import (
    entry_lines,
    hidden_line,
    journal_page,
    names_in,
    whole_entry,
    whole_profile,
)
from evennia_ai.commands.memory.search import search_as
from evennia_ai.commands.setup import ensure_may_edit
from evennia_ai.errors import TurnAborted
from evennia_ai.policy.records.provenance import Record
from evennia_ai.scheduling import spread
from evennia_ai.store.reports import messages_by_seq

SHOWN_MESSAGES = 6


class CmdAIMemory(MemoryChanges):
    """
    read, search and change what a character with a mind remembers

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

    Without a switch: its journal, newest first. Of each entry its number, its
    day, its weight of 1 to 10 and how that came, whose word it is, who may know
    of it, and whether it is pinned and in long-term memory.

    Switches:
      show    - one entry, whole: its source, its links, what was made of it
      about   - what it knows of somebody, with what it thought before
      search  - what it would find if these players asked, and why; without
                them, what anybody may be told. Tells what was held back.
      add     - write something down for it; known to all, or to some alone.
                Nothing automatic removes it.
      edit    - put an entry in other words
      pin, unpin - have it stand in every prompt of those who may know of it, as
                far as there is room
      delete  - take an entry away
      undo    - take the last add, edit, pin or delete back; the last 20 are kept
      archive - what faded in its sleep and was put away
      restore - put an entry of those back into the journal
      rebuild - make its index and its long-term memory anew from the journal

    What was told in private is for admins alone.

    Examples:
      aimemory/search Mira as Ann = what does Ann owe
      aimemory/edit Mira/j12 = Ann paid her debt.
    """

    key = "aimemory"
    locks = "cmd:perm(Builder);private:perm(Admin)"
    switch_options = (
        "show",
        "about",
        "search",
        "add",
        "edit",
        "pin",
        "unpin",
        "delete",
        "undo",
        "archive",
        "restore",
        "rebuild",
    )

    def run(self) -> None:
        """Find out what was asked for, and do it when all is loaded that it needs."""
        if len(self.switches) > 1:
            raise UsageError("One switch at a time, please. See |whelp aimemory|n.")
        switch = self.switches[0] if self.switches else "browse"
        asked = self.read(switch)
        self.begin(asked, getattr(self, f"do_{switch}")).addErrback(self.tell_failure)

    @inlineCallbacks
    def begin(self, asked: Asked, work: Any) -> Work:
        """Load what it knows, in slices, and go on."""
        character, put = asked.script.character, asked.script.services.slices.put
        yield character.journal.load(put)
        yield character.ai_profiles.load(put)
        yield work(asked)

    # --- what was typed -------------------------------------------------------------------------

    def read(self, switch: str) -> Asked:
        """What was typed, in its parts; raises UsageError."""
        marks = {"edit": "/", "search": " as ", "add": " for "}
        name, _, more = (self.lhs or "").partition(marks.get(switch, "\n"))
        script = self.find_assistant(name.strip())
        if not self.reads_private:
            ensure_may_edit(script.character, self.caller)
        return Asked(script, more.strip(), (self.rhs or "").strip())

    # --- reading --------------------------------------------------------------------------------

    def do_browse(self, asked: Asked) -> Deferred[None]:
        """A page of the journal."""
        nothing = f"{asked.name} has written nothing down yet."
        return self.browse(asked, asked.script.character.journal, "aimemory", nothing)

    def do_archive(self, asked: Asked) -> Deferred[None]:
        """A page of what faded."""
        nothing = f"Nothing of {asked.name}'s journal has faded."
        archive = asked.script.character.journal.archive
        return self.browse(asked, archive, "aimemory/archive", nothing)

    @inlineCallbacks
    def browse(self, asked: Asked, shelf: Any, typed: str, nothing: str) -> Work:
        """A page of some entries."""
        number = page_number(asked.given)
        found = yield journal_page(asked.script, shelf, number, self.reads_private)
        rows = found.page.rows
        lines = entry_lines(rows, names_in(*rows))
        if found.hidden:
            lines.append(hidden_line(found.hidden))
        footer = page_footer(found.page, f"{typed} {asked.name} = ")
        self.msg("\n".join([*lines, footer]) if lines else nothing)

    @inlineCallbacks
    def do_show(self, asked: Asked) -> Work:
        """One entry, whole."""
        entry, profiles = self.find_entry(asked, asked.given), asked.script.character.ai_profiles

        def rests_on_it(id: str) -> Record | None:
            record = profiles.get(id)
            rests = record and entry["id"] in record.get("sources", ())
            return record if rests and self.may_read(record) else None

        put = asked.script.services.slices.put
        bases = yield spread(put, profiles.ids(), rests_on_it)
        lines = [whole_entry(asked.script, entry, [*filter(None, bases)], self.reads_private)]
        seqs = entry["source_seqs"]
        if seqs and self.reads_private:
            rows = messages_by_seq(asked.script.id, seqs, SHOWN_MESSAGES)
            more = f", the first {SHOWN_MESSAGES} of them" if len(seqs) > SHOWN_MESSAGES else ""
            lines.append(f"Written after {len(seqs)} lines of talk{more}:")
            lines += [message_line(row, asked.name) for row in rows]
        self.msg("\n".join(lines))

    def do_about(self, asked: Asked) -> None:
        """What it knows of somebody."""
        dbref, name = self.find_subject(asked)
        records = asked.script.character.ai_profiles.about(dbref)
        lines = whole_profile(asked.script, dbref, records, self.reads_private)
        if not lines:
            self.msg(f"{asked.name} knows nothing of {name} beside what its journal has.")
            return
        self.msg("\n".join([f"What {asked.name} knows of |w{name}|n ({dbref}):", *lines]))

    @inlineCallbacks
    def do_search(self, asked: Asked) -> Work:
        """What it would find for somebody."""
        if not asked.given:
            raise UsageError("Which words? |waimemory/search <character> [as <player>] = <words>|n")
        audience = self.find_audience(asked.more) if asked.more else frozenset()
        told = yield search_as(asked.script, asked.given, audience, self.reads_private)
        self.msg(told)

    @inlineCallbacks
    def do_rebuild(self, asked: Asked) -> Work:
        """Make the index and long-term memory anew."""
        try:
            yield rebuild_memory(asked.script, self.msg)
        except TurnAborted as error:
            raise UsageError(f"Broken off: {error}") from error
