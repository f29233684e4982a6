"""Journal entries, profiles and search results as lines, for ``aimemory``."""

from collections.abc import Sequence
from datetime import datetime

from twisted.internet.defer import inlineCallbacks

from evennia_ai.game.client_text import clean_output
from evennia_ai.game.memory_reading import SearchReport, readable_page, search_for_staff
from evennia_ai.messages import Audience
from evennia_ai.policy.disclosure import PRIVATE_MEMORIES, Reader
from evennia_ai.policy.records import memory_listing as listing
from evennia_ai.policy.records.memory_listing import count_shown, may_read
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports import Found, Journal, LineMaker, RecordStore, Surroundings
from evennia_ai.scheduling import Put, Steps
from evennia_ai.store.names import names_in
from evennia_ai.store.reports import Page, turns_of_messages
from evennia_ai.turn.recall import text_of

ENTRIES_A_PAGE = 20
LINE_CHARS = 400
WHOLE_LINE_CHARS = 1_000
LINK_CHARS = 80


@inlineCallbacks
def journal_lines(
    put: Put, journal: RecordStore, number: int, reader: Reader, assistant_id: int
) -> Steps[tuple[list[str], Page]]:
    """Read a page of a journal or its archive, newest first, in time slices.

    Fires with its lines, which also say how many entries are hidden from the reader, and the page
    (the last one if the number is too high). Fails with StoreUnavailable.
    """
    page, hidden = yield readable_page(put, journal, number, ENTRIES_A_PAGE, reader)
    lines = entry_lines(page.rows, reader, assistant_id)
    if hidden:
        lines.append(hidden_line(hidden, reader))
    return lines, page


def entry_lines(entries: Sequence[Record], reader: Reader, assistant_id: int) -> list[str]:
    """Return two lines for each entry; ``assistant_id`` is whose log has the turns behind them.

    The reader must be allowed to read them all. One query.
    """
    ends = {end for one in entries for end in (*one["source_seqs"][:1], *one["source_seqs"][-1:])}
    turns, names = turns_of_messages(assistant_id, ends), names_in(*entries)
    count_shown(reader, *entries)
    lines = []
    for entry in entries:
        told = [listing.entry_facts(entry, names), listing.origin_of(entry, turns)]
        facts = clean_output("; ".join(filter(None, told)), 300)
        private = " |r(private)|n" if entry["audience"] is not None else ""
        when = reader.clock(datetime.fromisoformat(entry["timestamp"]), "%Y-%m-%d %H:%M")
        lines.append(
            f"|w{clean_output(entry['id'], 60)}|n |x{when} {facts}|n{private}\n"
            f"    {clean_output(entry['content'], LINE_CHARS)}"
        )
    return lines


def whole_entry(
    journal: Journal,
    assistant_id: int,
    entry: Record,
    derived: Sequence[Record],
    now: datetime,
    reader: Reader,
) -> list[str]:
    """Return one entry with everything that is known about it, and what is derived from it."""
    title, _ = entry_lines([entry], reader, assistant_id)[0].split("\n")
    details = listing.entry_details(entry, names_in(entry, *derived), now)
    links = []
    for link in entry["links"]:
        linked = journal.get(link)
        readable = [linked] if linked and may_read(reader, linked) else []
        count_shown(reader, *readable)
        words = [clean_heard(one["content"], LINK_CHARS) for one in readable]
        links.append(" ".join([link, *words]))
    if links:
        details.append(f"Linked to: {'; '.join(links)}")
    if journal.withholds(entry):
        details.append("Not used: a line that it came from was hidden or edited (aihistory/undo).")
    count_shown(reader, *derived)
    if derived:
        made = [f"{one['id']} {one['attribute']}: {one['value']}" for one in derived]
        details.append(f"Derived from it: {'; '.join(made)}")
    words = [
        f"    {clean_output(line, WHOLE_LINE_CHARS)}" for line in entry["content"].splitlines()
    ]
    return [title, *words, *(clean_output(line, WHOLE_LINE_CHARS) for line in details)]


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
    around: Surroundings, lines_of: LineMaker, words: str, audience: Audience, reader: Reader
) -> Steps[list[str]]:
    """Search as the tool `search_memory` would for an audience, without counting as a recall.

    Fires with lines: what the audience may be told, with scores, and what is withheld, with the
    rule. A reader who may not see private records is told how many there are, but not whether any
    match. Fails with StoreUnavailable and TurnAborted.
    """
    report = yield search_for_staff(around, words, audience, reader)
    who = "What anybody may be told"
    if audience:
        who = f"If {listing.named(sorted(audience), names_in(besides=audience))} asked"
    lines = [f"{clean_output(who, 200)}:"]
    lines += [hit_line(lines_of.line(hit.record, words), words, hit) for hit in report.found]
    if not report.found:
        lines.append("Nothing.")
    return [*lines, *withheld_lines(report, audience, reader)]


def withheld_lines(report: SearchReport, audience: Audience, reader: Reader) -> list[str]:
    """Return what a search withholds from an audience, with the rule."""
    names, lines = names_in(*report.withheld, besides=audience), []
    if report.withheld:
        rules = [listing.why_withheld(record, audience, names) for record in report.withheld]
        shown = clean_output("; ".join(rules), 600)
        lines.append(f"|yWithheld|n (with its audience): {shown}.")
    return [*lines, *([hidden_line(report.hidden, reader)] if report.hidden else [])]


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
