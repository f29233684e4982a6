"""``aimemory``: read, search and change what a character remembers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from evennia.utils import logger
from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred

from evennia_ai.commands.common import NUMBER, AICommand, UsageError, error_line, page_number
from evennia_ai.commands.players import name_of
from evennia_ai.commands.rendering import hidden_line, message_line, withheld_lines
from evennia_ai.errors import TurnAborted
from evennia_ai.game.client_text import clean_output, shown_name
from evennia_ai.game.memory_reading import readable_page, search_for_staff
from evennia_ai.messages import Audience, is_private
from evennia_ai.policy.facts.check import facts_in, source_label
from evennia_ai.policy.read_permissions import PRIVATE_MEMORIES, Reader, words_kind
from evennia_ai.policy.recallable_lines import LINE
from evennia_ai.policy.records import memory_listing as listing
from evennia_ai.policy.records.memory_listing import count_shown, may_read
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.sanitize import clean_heard, one_line
from evennia_ai.ports import MemoryMatch, RecordStore
from evennia_ai.scheduling import Coroutine, map_in_slices
from evennia_ai.store.memory_editor import MemoryEditor
from evennia_ai.store.names import names_in
from evennia_ai.store.reports import messages_by_seq, turns_of_messages
from evennia_ai.turn.recall import text_of

WORDS_CHARS = 200
ENTRIES_A_PAGE = 20
LINE_CHARS = 400
WHOLE_CHARS = 1_000
LINK_CHARS = 80
SHOWN_MESSAGES = 6
MOST_DIGITS = 19  # of a number that the database holds
PROGRESS_EVERY = 500  # entries


class CmdAIMemory(AICommand):
    """
    read, search and change what an assistant remembers

    Usage:
      aimemory <character> [= <page>]
      aimemory/show <character> = <number>
      aimemory/about <character> = <player or thing>
      aimemory/search <character> [as <player>, ...] = <words>
      aimemory/add <character> [for <player>, ...] = <text>
      aimemory/edit <character>/<number> = <text>
      aimemory/pin, /unpin or /delete <character> = <number>
      aimemory/archive <character> [= <page>]
      aimemory/restore <character> = <number>
      aimemory/rebuild <character>

    Without a switch: the journal, newest first. Each entry is shown with its
    number, its time, its weight (importance, 1 to 10) and who gave it, its
    source, its audience, the turn that it comes from, and whether it is pinned
    and in long-term memory.

    Switches:
      show    - one entry in full: source, links, and what was derived from it
      about   - what the character knows about somebody, with earlier values
      search  - what it would find if these players asked, and what it would
                withhold, and why; without players, what anybody may be told
      add     - write an entry that is never removed automatically
      pin     - keep an entry in every prompt whose audience may know it; with
                line:<number>, what somebody said in a line of the log
      archive, restore - what was pruned in sleep or deleted; put it back
      rebuild - build the index and the long-term memory again from the journal

    Only admins may read what was told in private.
    """

    key = "aimemory"
    switch_options = tuple(
        "show about search add edit pin unpin delete archive restore rebuild".split()
    )
    editor: MemoryEditor
    more: str  # what stands behind the character's name
    value: str  # what stands behind the "="

    @inlineCallbacks
    def run(self) -> Coroutine[None]:
        """Load what the character knows, in time slices, and dispatch by switch."""
        separator = {"edit": "/", "search": " as ", "add": " for "}.get(self.switch, "\n")
        name, _, more = (self.lhs or "").partition(separator)
        find = self.find_assistant if self.reader.may(PRIVATE_MEMORIES) else self.find_editable
        script = find(name.strip())
        self.more, self.value = more.strip(), (self.rhs or "").strip()
        self.editor = MemoryEditor(script.character, script.mind.renew)
        for store in (script.character.journal, script.character.ai_profiles):
            yield store.load(self.services.slices.put)
        yield maybeDeferred(self.dispatch)

    def do_default(self) -> Deferred[None]:
        journal = self.script.character.journal
        others = [item.key for item in self.cmdset or () if getattr(item, "asks_all_minds", False)]
        more = [f" What others told it, too: |w{key} <words>|n." for key in others]
        none = f"has no journal entries yet.{''.join(more)}"
        return show_journal(self, journal, self.value, none)

    def do_archive(self) -> Deferred[None]:
        archive = self.script.character.journal.archive
        return show_journal(self, archive, self.value, "has no pruned entries.")

    @inlineCallbacks
    def do_show(self) -> Coroutine[None]:
        script, profiles = self.script, self.script.character.ai_profiles
        entry = self.find_entry(self.value)

        def derived_record(id: str) -> Record | None:
            record = profiles.get(id)
            made = record is not None and entry["id"] in record.get("sources", ())
            return record if made and may_read(self.reader, record) else None

        derived = yield map_in_slices(self.services.slices.put, profiles.ids(), derived_record)
        lines = self.whole_entry(entry, [item for item in derived if item])
        if seqs := entry["source_seqs"]:
            more = f", the first {SHOWN_MESSAGES} of them" if len(seqs) > SHOWN_MESSAGES else ""
            lines.append(f"Source messages ({len(seqs)}{more}):")
            rows = messages_by_seq(script.id, seqs, SHOWN_MESSAGES)
            lines += [message_line(row, script.mind.who.name, self.reader) for row in rows]
        self.msg("\n".join(lines))

    def whole_entry(self, entry: Record, derived: Sequence[Record]) -> list[str]:
        journal, reader = self.script.character.journal, self.reader
        title, _ = entry_lines([entry], reader, self.script.id)[0].split("\n")
        details = listing.entry_details(entry, names_in(entry, *derived), self.services.now())
        links = []
        for link in entry["links"]:
            linked = journal.get(link)
            readable = [linked] if linked and may_read(reader, linked) else []
            count_shown(reader, *readable)
            words = [clean_heard(item["content"], LINK_CHARS) for item in readable]
            links.append(" ".join([link, *words]))
        if links:
            details.append(f"Linked to: {'; '.join(links)}")
        if journal.withholds(entry):
            why = "a line that it came from was hidden or edited (aihistory/undo)"
            details.append(f"Not used: {why}.")
        count_shown(reader, *derived)
        if derived:
            made = [f"{item['id']} {item['attribute']}: {item['value']}" for item in derived]
            details.append(f"Derived from it: {'; '.join(made)}")
        words = [f"    {clean_output(item, WHOLE_CHARS)}" for item in entry["content"].splitlines()]
        return [title, *words, *(clean_output(line, WHOLE_CHARS) for line in details)]

    def do_about(self) -> None:
        who = self.value
        if not who:
            raise UsageError("About whom? |waimemory/about <character> = <player or thing>|n")
        if NUMBER.fullmatch(who):  # also of somebody deleted
            dbref, name = who, name_of(who) or who
        else:
            character = self.find_character(who)
            dbref, name = character.dbref, shown_name(character)
        records = self.script.character.ai_profiles.about(dbref)
        known = [record for record in records if may_read(self.reader, record)]
        count_shown(self.reader, *known)
        profile_rows = listing.profile_lines(
            known, names_in(*known, besides=[dbref]), self.services.now()
        )
        lines = [
            "  " * line.startswith(" ") + clean_output(line, LINE_CHARS) for line in profile_rows
        ]
        if len(known) < len(records):
            lines.append(hidden_line(len(records) - len(known), self.reader))
        if lines:
            self.msg("\n".join([f"What {self.name} knows about |w{name}|n ({dbref}):", *lines]))
        else:
            self.msg(f"{self.name} has no profile of {name}. Its journal may still name them.")

    @inlineCallbacks
    def do_search(self) -> Coroutine[None]:
        if not self.value:
            raise UsageError("Which words? |waimemory/search <character> [as <player>] = <words>|n")
        words, mind, reader = self.value, self.script.mind, self.reader
        audience: Audience = self.find_audience() or frozenset()
        report = yield search_for_staff(mind.around, words, audience, reader)
        who = "What anybody may be told"
        if audience:
            who = f"If {listing.named(sorted(audience), names_in(besides=audience))} asked"
        lines = [f"{clean_output(who, 200)}:"]
        has_meaning = self.services.embedder is not None
        lines += [
            hit_line(mind.recall.line(hit.record, words), words, hit, has_meaning)
            for hit in report.found
        ]
        lines += [] if report.found else ["Nothing."]
        self.msg("\n".join([*lines, *withheld_lines(report, audience, reader)]))

    @inlineCallbacks
    def do_rebuild(self) -> Coroutine[None]:
        """Rebuild the index and the long-term memory in time slices; tell about the progress."""
        mind, name, reported = self.script.mind, self.name, 0
        if mind.is_rebuilding:
            raise UsageError(f"{name}'s memory is being rebuilt already.")

        def report(done: int, left: int) -> None:
            nonlocal reported
            if done - reported >= PROGRESS_EVERY:
                reported = done
                self.msg(f"{name}: {done:,} entries done, {left:,} to go ...")

        mind.is_rebuilding = True
        try:
            self.msg(f"Rebuilding {name}'s memory from its journal ...")
            mind.drop_index()
            yield mind.memories().prepare(self.services)
            self.msg(f"The index is done, with {len(mind.memories()):,} memories.")
            result = yield mind.links.rebuild(report)
        except TurnAborted as error:
            raise UsageError(f"The rebuild stopped early: {error_line(error)}") from error
        finally:
            mind.is_rebuilding = False
        self.msg(rebuilt(result))

    def do_add(self) -> None:
        audience = self.find_audience()
        self.ensure_words("add <character> [for <player>]")
        entry = self.editor.add(self.value, audience)
        known = listing.who_may_know(entry, names_in(entry))
        self.tell_change(f"Added, {clean_output(known, 200)}:", entry)

    def do_edit(self) -> None:
        entry = self.find_entry(self.more)
        self.ensure_words("edit <character>/<number>")
        before = self.editor.edit(entry["id"], self.value)
        self.tell_change(f"Now: {clean_output(self.value, WORDS_CHARS)}\nBefore:", before)

    def do_pin(self) -> None:
        pinned = self.switch == "pin"
        kind, _, seq = self.value.lower().partition(":")
        is_line = pinned and kind == LINE and seq.isdecimal() and len(seq) < MOST_DIGITS
        entry = self.entry_of_line(int(seq)) if is_line else self.find_entry(self.value)
        self.editor.pin(entry["id"], pinned)
        self.tell_change(f"Now {'pinned' if pinned else 'not pinned'}:", entry)

    do_unpin = do_pin

    def entry_of_line(self, seq: int) -> Record:
        """Add the facts of a line of the log as an entry; returns it."""
        name = self.script.mind.who.name
        facts = [
            fact
            for message in self.script.conversation.lines.read([seq])
            if self.reader.may(words_kind(is_private(message)))
            for fact in facts_in(message, name)
        ]
        if not facts:
            hide = f"To keep it from prompts: |waihistory/hide {self.name} = {seq}|n"
            raise UsageError(f"Line {seq} of the log holds no fact that you may read. {hide}")
        words = " ".join(fact.sentence for fact in facts)
        source = facts[0].source
        return self.editor.add(
            f"{source_label(source.speaker, source.evidence)}{words}", source.audience
        )

    def do_delete(self) -> None:
        entry = self.find_entry(self.value)
        if lines := self.editor.delete(entry["id"], self.caller.dbref):
            many, seqs = "line" if lines == 1 else "lines", entry.get("source_seqs", ())
            self.msg(
                f"The {many} of the log behind it will not be recalled either. To keep a line out "
                f"of the present talk, too: |waihistory/hide {self.name} = <number>|n, here "
                f"{', '.join(map(str, seqs))}."
            )
        self.tell_change("Deleted:", entry)

    @inlineCallbacks
    def do_restore(self) -> Coroutine[None]:
        archive = self.script.character.journal.archive
        yield archive.load(self.services.slices.put)
        entry = self.find_in(archive, self.value, "aimemory/archive")
        back = self.editor.restore(entry["id"])
        self.log_change(back["id"])
        lines = entry_lines([back], self.reader, self.script.id)
        self.msg("\n".join(["Back in the journal; pruning will not remove it again:", *lines]))

    def tell_change(self, message: str, entry: Record) -> None:
        """Report a change, and how to bring back what was deleted."""
        self.log_change(entry["id"])
        count_shown(self.reader, entry)
        words = clean_output(entry["content"], WORDS_CHARS)
        number = clean_output(entry["id"], 60)
        back = f"\nTo bring it back: |waimemory/restore {self.name} = {number}|n"
        self.msg(f"{message} |w{number}|n {words}{back * (self.switch == 'delete')}")

    def log_change(self, id: str) -> None:
        """Write into the server's log who changed which entry, without its words."""
        logger.log_sec(f"aimemory/{self.switch}: {self.caller}, {id} of {self.script.character}")

    def find_entry(self, number: str) -> Record:
        return self.find_in(self.script.character.journal, number, "aimemory")

    def find_in(self, records: RecordStore, number: str, listing: str) -> Record:
        """Return an entry; raises UsageError, which names ``listing`` as what lists them."""
        lists = f"|w{listing} {self.name}|n lists them."
        if not number:
            raise UsageError(f"Which entry? Give its number. {lists}")
        kind, _, seq = number.lower().partition(":")
        if kind == LINE and seq.isdecimal() and len(seq) < MOST_DIGITS:
            hide = f"|waihistory/hide {self.name} = {int(seq)}|n"
            problem = f"That is no entry but line {int(seq)} of the log."
            raise UsageError(f"{problem} To keep it from prompts: {hide}")
        ids = (number, number.lower(), f"j{number}")
        record: Record | None = next(filter(None, map(records.get, ids)), None)
        if record is None or not may_read(self.reader, record):
            raise UsageError(f"{self.name} has no entry '{clean_output(number, 40)}'. {lists}")
        return record

    def find_audience(self) -> Audience | None:
        """Return the players who were named, by dbref, None if none was; raises UsageError."""
        if not self.more:
            return None
        if not self.reader.may(PRIVATE_MEMORIES):
            readers = self.reader.whose(PRIVATE_MEMORIES).lower()
            raise UsageError(f"Only {readers} may read or write what is private to a player.")
        return frozenset(self.find_character(name.strip()).dbref for name in self.more.split(","))

    def ensure_words(self, usage: str) -> None:
        if not one_line(self.value):
            raise UsageError(f"Which text? |waimemory/{usage} = <text>|n")


def rebuilt(result: dict[str, Any]) -> str:
    if result.get("skipped"):
        return f"Long-term memory is not rebuilt: {clean_output(result['reason'], 300)}"
    if not result["success"]:
        error = clean_output(result["error"], 300)
        return f"Long-term memory is not complete: {error} The next sleep pass continues."
    trouble = f"; {result['failed']:,} could not be stored" if result["failed"] else ""
    return f"Done: {result['stored']:,} entries are in long-term memory{trouble}."


# --- lines of entries, profiles and search results ---


@inlineCallbacks
def show_journal(
    command: AICommand, records: RecordStore, typed: str, if_none: str
) -> Coroutine[None]:
    """Show a page of a journal or its archive, newest first; fails with StoreUnavailable."""
    put, reader = command.services.slices.put, command.reader
    number = page_number(typed)
    page, hidden = yield readable_page(put, records, number, ENTRIES_A_PAGE, reader)
    lines = entry_lines(page.rows, reader, command.script.id)
    lines += [hidden_line(hidden, reader)] if hidden else []
    command.show_page(lines, page, if_none)


def entry_lines(entries: Sequence[Record], reader: Reader, assistant_id: int) -> list[str]:
    """Return two lines for each entry, which the reader must be allowed to read. One query."""
    ends = {
        end for item in entries for end in (*item["source_seqs"][:1], *item["source_seqs"][-1:])
    }
    turns, names = turns_of_messages(assistant_id, ends), names_in(*entries)
    count_shown(reader, *entries)
    lines = []
    for entry in entries:
        details = [listing.entry_facts(entry, names), listing.origin_of(entry, turns)]
        facts = clean_output("; ".join(filter(None, details)), 300)
        private = " |r(private)|n" if entry["audience"] is not None else ""
        when = reader.clock(datetime.fromisoformat(entry["timestamp"]), "%Y-%m-%d %H:%M")
        lines.append(
            f"|w{clean_output(entry['id'], 60)}|n |x{when} {facts}|n{private}\n"
            f"    {clean_output(entry['content'], LINE_CHARS)}"
        )
    return lines


def hit_line(line: str, words: str, hit: MemoryMatch, has_meaning: bool) -> str:
    reasons = listing.why_found(words, text_of(hit.record), hit.score, has_meaning)
    private = " |r(private)|n" if hit.record["audience"] is not None else ""
    return (
        f"|w{clean_output(hit.record['id'], 60)}|n {clean_output(line, LINE_CHARS)}{private}\n"
        f"    |x{clean_output(reasons, 200)}|n"
    )
