"""The memories of one character: list, search as a player would be answered, and change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponseRedirect
from evennia.accounts.models import AccountDB
from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import AssistantError
from evennia_ai.game import memory_acts, memory_reading
from evennia_ai.game.authorship import listed_by
from evennia_ai.game.memory_reading import may_read
from evennia_ai.game.script_ports import GameScript
from evennia_ai.messages import Audience
from evennia_ai.policy.compaction.journal_summary import is_synthesis
from evennia_ai.policy.disclosure import PRIVATE_MEMORIES, Reader
from evennia_ai.policy.records import memory_listing as listing
from evennia_ai.policy.records.provenance import Record
from evennia_ai.scheduling import Steps, pause
from evennia_ai.store.memory_editor import MemoryEditor
from evennia_ai.store.names import names_in
from evennia_ai.store.page_rows import Row
from evennia_ai.store.reports import Page
from evennia_ai.turn.recall import memory_line, text_of
from evennia_ai.web.staff.access import Refused, log_sec, may_act, staff_page
from evennia_ai.web.staff.game_thread import Missing, find_script, game
from evennia_ai.web.staff.rendering import asked_text, number_or_none, page_text, people_named

ENTRIES_A_PAGE = 25
Fields = Mapping[str, str]


@staff_page("memory.html")
def memory(request: Any, reader: Reader, who: Row) -> Any:
    """Show a page of the journal or its archive, or a search; a form changes one entry."""
    if request.method == "POST":
        return change(request, reader, who)
    asked = {name: asked_text(request.GET, name) for name in ("words", "as", "archive", "page")}
    audience, trouble = find_audience(asked["as"], reader)
    fields = {**asked, "words": "" if trouble else asked["words"]}
    found = game.ask(read_memories, who["id"], reader, request.user.pk, fields, audience)
    page, step, withheld = found["page"], found["step"], found["withheld"]
    names = names_in(*page.rows, *withheld, besides=audience)
    return {
        **found,
        "asked": asked,
        "trouble": trouble,
        "entries": [shown_entry(entry, names) for entry in page.rows],
        "readers": reader.whose(PRIVATE_MEMORIES),
        "as_whom": page_text(listing.named(sorted(audience), names)) if audience else "",
        "withheld": [page_text(listing.why_withheld(one, audience, names)) for one in withheld],
        "undo": listing.undo_line(step) if step and may_read(reader, step) else "",
    }


@inlineCallbacks
def read_memories(
    assistant: int, reader: Reader, account: int, fields: Fields, audience: Audience
) -> Steps[Row]:
    """Read a page or a search, in time slices, on the reactor's thread.

    Fires with the ``page``, how many entries are ``hidden``, the next undo ``step``, and of a
    search its ``hits`` as a template takes them (else None) and what is ``withheld``.
    """
    script = find_script(assistant)
    ensure_may_read(script, reader, account)
    character, put, words = script.character, script.services.slices.put, fields["words"]
    yield character.journal.load(put)
    found: Row = {"step": MemoryEditor(character).steps.last(), "hits": None, "withheld": []}
    if words:
        yield character.ai_profiles.load(put)
        yield pause(put)  # a search of 10,000 lines takes 20 ms: nothing else beside it
        report = yield memory_reading.search_for_staff(script, words, audience, reader)
        yield pause(put)
        hits = [shown_hit(script, words, hit) for hit in report.found]
        kept = {"hidden": report.hidden, "withheld": report.withheld}
        return {**found, **kept, "hits": hits, "page": Page(1, 1, [])}
    journal = character.journal.archive if fields["archive"] else character.journal
    number = number_or_none(fields["page"]) or 1
    page, hidden = yield memory_reading.readable_page(put, journal, number, ENTRIES_A_PAGE, reader)
    memory_reading.count_shown(reader, *page.rows)
    # Whoever looks at memories searches them next: reading a long log first takes seconds.
    if not len(script.memories):
        ready = script.memories.prepare(script.services)
        ready.addErrback(lambda failure: failure.trap(AssistantError) and None)
    return {**found, "page": page, "hidden": hidden}


def ensure_may_read(script: GameScript, reader: Reader, account: int) -> None:
    """Raise Refused unless the reader reads all, or one of their characters may edit this one."""
    if reader.may(PRIVATE_MEMORIES):
        return
    character: Any = script.character
    user: Any = AccountDB.objects.get(id=account)
    own = {*listed_by(user), *user.get_all_puppets()}
    if not any(character.access(one, right) for one in own for right in ("edit", "control")):
        raise Refused(
            f"None of your characters may edit {page_text(script.character_name, 60)}. "
            "Its edit and control locks decide that. Ask an admin."
        )


def find_audience(names: str, reader: Reader) -> tuple[Audience, str]:
    """Return the players of a comma-separated list by dbref, and what is wrong with it."""
    if not names:
        return frozenset(), ""
    if not reader.may(PRIVATE_MEMORIES):
        readers = reader.whose(PRIVATE_MEMORIES)
        return frozenset(), f"Only {readers} may see what a player would be told."
    found: set[str] = set()
    for name in names.split(","):
        listed = name.strip()
        dbrefs = people_named(listed)
        if len(dbrefs) != 1:
            several = f"Several have the name '{listed}': use a number, such as {dbrefs[:1]}."
            return frozenset(), several if dbrefs else f"Nobody is called '{listed}'."
        found.update(dbrefs)
    return frozenset(found), ""


def shown_entry(entry: Record, names: listing.Names) -> Row:
    """Return an entry as the template takes it."""
    return {
        "id": entry["id"],
        "at": page_text(entry["timestamp"][:19].replace("T", " ")),
        "facts": page_text(listing.entry_facts(entry, names), 300),
        "text": page_text(entry["content"]),
        "private": entry["audience"] is not None,
        "pinned": entry["pinned"],
        "fixed": is_synthesis(entry),
    }


def shown_hit(script: GameScript, words: str, hit: Any) -> Row:
    """Return a memory that a search found, with its score and the reasons."""
    return {
        "id": page_text(hit.record["id"], 60),
        "text": page_text(memory_line(script, hit.record, words)),
        "why": page_text(listing.why_found(words, text_of(hit.record), hit.score), 200),
        "private": hit.record["audience"] is not None,
    }


def change(request: Any, reader: Reader, who: Row) -> HttpResponseRedirect:
    """Do what a form asks, tell how it went, and go back to the page."""
    if not may_act():
        raise Refused("These pages change nothing, since WEB_ACTS is off. Use aimemory.")
    fields = request.POST.dict()
    try:
        entry, said = game.ask(change_memory, who["id"], reader, request.user.pk, fields)
    except (Refused, Missing):
        raise
    except AssistantError as error:
        messages.error(request, page_text(error))
    else:
        log_sec(request, f"{fields['act']}, {entry} of {who['name']} ({who['dbref']})")
        messages.success(request, page_text(said))
    return HttpResponseRedirect(request.get_full_path())


ACTS: Mapping[str, tuple[Callable[[GameScript, Record, Fields], object], str]] = {
    "pin": (lambda script, entry, _: memory_acts.pin_memory(script, entry, True), "Pinned."),
    "unpin": (lambda script, entry, _: memory_acts.pin_memory(script, entry, False), "Not pinned."),
    "edit": (
        lambda script, entry, fields: memory_acts.edit_memory(
            script, entry, fields.get("text", "")
        ),
        "Changed.",
    ),
    "delete": (
        lambda script, entry, _: memory_acts.delete_memory(script, entry),
        "Deleted, and the lines that it came from are not recalled. An undo brings both back.",
    ),
}


@inlineCallbacks
def change_memory(
    assistant: int, reader: Reader, account: int, fields: Fields
) -> Steps[tuple[str, str]]:
    """Change an entry on the reactor's thread; fires with its id and a sentence.

    Fails with Refused, Missing, CannotChange and StoreUnavailable.
    """
    script = find_script(assistant)
    ensure_may_read(script, reader, account)
    character, put, act = script.character, script.services.slices.put, fields.get("act", "")
    journal = character.journal
    yield journal.load(put)
    yield character.ai_profiles.load(put)
    if act == "undo":
        return memory_acts.undo_memory(script, reader)
    if act == "add":
        return str(memory_acts.add_memory(script, fields.get("text", ""))["id"]), "Added."
    if act == "restore":
        yield journal.archive.load(put)
        entry = find_entry(journal.archive, reader, fields)
        back = journal.archive.bring_back(journal, entry["id"])
        return str(back["id"]), "Back in the journal; pruning will not remove it again."
    if act not in ACTS:
        raise Missing("There is no such act.")
    do, said = ACTS[act]
    entry = find_entry(journal, reader, fields)
    do(script, entry, fields)
    return str(entry["id"]), said


def find_entry(records: Any, reader: Reader, fields: Fields) -> Record:
    """Return the entry that is to be changed; raises Missing."""
    entry: Record | None = records.get(fields.get("entry", ""))
    if entry is None or not may_read(reader, entry):
        raise Missing("There is no such entry.")
    return entry
