"""The lines of ``aimemory`` and ``aihistory/journal``: entries, profiles and search results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from twisted.internet.defer import inlineCallbacks

from evennia_ai.game.client_text import clean_output
from evennia_ai.game.memory_reading import MemorySearch, readable_page
from evennia_ai.messages import Audience
from evennia_ai.policy.disclosure import PRIVATE_MEMORIES, Reader
from evennia_ai.policy.records import memory_listing as listing
from evennia_ai.policy.records.memory_listing import Names, count_shown, may_read
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports import Found, Journal, LineMaker, RecordStore
from evennia_ai.scheduling import Put, Steps
from evennia_ai.store.names import names_in
from evennia_ai.store.reports import Page, turns_of_messages
from evennia_ai.turn.recall import text_of

ENTRIES_A_PAGE = 20
LINE_CHARS = 400
WHOLE_LINE_CHARS = 1_000
LINK_CHARS = 80
SECONDS_CHARS = 19


@inlineCallbacks
def journal_lines(
    put: Put,
    journal: RecordStore,
    number: int,
    reader: Reader,
    origins_in: int | None = None,
) -> Steps[tuple[list[str], Page]]:
    """Read a page of a journal or its archive, newest first, in time slices.

    ``origins_in`` is the assistant in whose log the turns are looked up that entries come from.
    Fires with its lines, which also say how many entries are hidden from the reader, and the page
    (the last one if the number is too high). Fails with StoreUnavailable.
    """
    page, hidden = yield readable_page(put, journal, number, ENTRIES_A_PAGE, reader)
    rows = page.rows
    origins = None if origins_in is None else origins_of(origins_in, rows)
    lines = entry_lines(rows, names_in(*rows), reader, origins)
    if hidden:
        lines.append(hidden_line(hidden, reader))
    return lines, page


def entry_lines(
    entries: Sequence[Record],
    names: Names,
    reader: Reader,
    origins: Mapping[str, str] | None = None,
) -> list[str]:
    """Return two lines for each entry, with where it comes from if ``origins`` say so by id.

    The reader must be allowed to read them all.
    """
    chars = listing.DAY_CHARS if origins is None else SECONDS_CHARS

    def line(entry: Record) -> str:
        origin = (origins or {}).get(entry["id"], "")
        facts = "; ".join(filter(None, [listing.entry_facts(entry, names), origin]))
        private = " |r(private)|n" if entry["audience"] is not None else ""
        count_shown(reader, entry)
        at = datetime.fromisoformat(entry["timestamp"]).astimezone(reader.zone)
        when = at.isoformat(" ")[:chars]
        return (
            f"|w{clean_output(entry['id'], 60)}|n |x{when} {clean_output(facts, 300)}|n{private}\n"
            f"    {clean_output(entry['content'], LINE_CHARS)}"
        )

    return [line(entry) for entry in entries]


def origins_of(assistant_id: int, entries: Sequence[Record]) -> dict[str, str]:
    """Return the turns that each entry comes from, by its id. One query."""
    seqs = [entry["source_seqs"] for entry in entries]
    ends = {end for known in seqs for end in (*known[:1], *known[-1:])}
    turns = turns_of_messages(assistant_id, ends)
    return {entry["id"]: listing.origin_of(entry, turns) for entry in entries}


def whole_entry(
    journal: Journal,
    assistant_id: int,
    entry: Record,
    derived: Sequence[Record],
    now: datetime,
    reader: Reader,
) -> str:
    """Return one entry with everything that is known about it, and what is derived from it."""
    names = names_in(entry, *derived)
    title, _ = entry_lines([entry], names, reader, origins_of(assistant_id, [entry]))[0].split("\n")
    details = listing.entry_details(entry, names, now)
    links = [linked_to(journal, link, reader) for link in entry["links"]]
    if links:
        details.append(f"Linked to: {'; '.join(links)}")
    if journal.withholds(entry):
        details.append("Not used: a line that it came from was hidden or edited (aihistory/undo).")
    count_shown(reader, *derived)
    if derived:
        made = [f"{one['id']} {one['attribute']}: {one['value']}" for one in derived]
        details.append(f"Derived from it: {'; '.join(made)}")
    lines = entry["content"].splitlines()
    content = [f"    {clean_output(line, WHOLE_LINE_CHARS)}" for line in lines]
    shown = [clean_output(line, WHOLE_LINE_CHARS) for line in details]
    return "\n".join([title, *content, *shown])


def linked_to(journal: Journal, link: str, reader: Reader) -> str:
    """Return a link, with the words of its entry if the reader may see them."""
    entry = journal.get(link)
    if entry and may_read(reader, entry):
        count_shown(reader, entry)
        return f"{link} {clean_heard(entry['content'], LINK_CHARS)}"
    return link


def whole_profile(
    dbref: str, records: Sequence[Record], now: datetime, reader: Reader
) -> list[str]:
    """Return what is known about somebody, as far as the reader may see it; may be no lines."""
    known = [one for one in records if may_read(reader, one)]
    count_shown(reader, *known)
    told = listing.profile_lines(known, names_in(*known, besides=[dbref]), now)
    lines = ["  " * line.startswith(" ") + clean_output(line, LINE_CHARS) for line in told]
    if len(known) < len(records):
        lines.append(hidden_line(len(records) - len(known), reader))
    return lines


@inlineCallbacks
def search_lines(
    search: MemorySearch, lines_of: LineMaker, words: str, audience: Audience, reader: Reader
) -> Steps[list[str]]:
    """Search as the tool `search_memory` would for an audience, without counting as a recall.

    Fires with lines: what the audience may be told, with scores, and what is withheld, with the
    rule. A reader who may not see private records is told how many there are, but not whether any
    match. Fails with StoreUnavailable and TurnAborted.
    """
    report = yield search.for_staff(words, audience, reader)
    withheld = report.withheld
    names = names_in(*withheld, besides=audience)
    who = (
        f"If {listing.named(sorted(audience), names)} asked"
        if audience
        else "What anybody may be told"
    )
    lines = [f"{clean_output(who, 200)}:"]
    lines += [hit_line(lines_of.line(hit.record, words), words, hit) for hit in report.found]
    if not report.found:
        lines.append("Nothing.")
    if withheld:
        rules = "; ".join(listing.why_withheld(record, audience, names) for record in withheld)
        lines.append(f"|yWithheld|n (with its audience): {clean_output(rules, 600)}.")
    if report.hidden:
        lines.append(hidden_line(report.hidden, reader))
    return lines


def hit_line(line: str, words: str, hit: Found) -> str:
    """Return a memory that was found, as ``line``, with its score and the reasons."""
    reasons = listing.why_found(words, text_of(hit.record), hit.score)
    private = " |r(private)|n" if hit.record["audience"] is not None else ""
    return (
        f"|w{clean_output(hit.record['id'], 60)}|n {clean_output(line, LINE_CHARS)}{private}\n"
        f"    |x{clean_output(reasons, 200)}|n"
    )


def hidden_line(count: int, reader: Reader) -> str:
    """Return a line that says how many records are hidden from the reader."""
    readers = reader.whose(PRIVATE_MEMORIES).lower()
    return f"|x{count} more: private, only {readers} may read this.|n"
