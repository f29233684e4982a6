"""What one character knows: its memories, whom it knows, and its lore."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.views.generic import TemplateView
from twisted.internet.defer import inlineCallbacks

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.staff_pages import access
from evennia_ai.contrib.staff_pages.access import NotFound, StaffPage, find_script, game
from evennia_ai.contrib.staff_pages.disclosure import (
    asked_text,
    number_or_none,
    page_text,
    people_named,
)
from evennia_ai.contrib.staff_pages.editing import EditingPage, Submission
from evennia_ai.errors import AssistantError
from evennia_ai.game.memory_reading import readable_page, search_for_staff
from evennia_ai.messages import Audience
from evennia_ai.policy.compaction.restored_context import is_synthesis
from evennia_ai.policy.read_permissions import PRIVATE_MEMORIES, Reader
from evennia_ai.policy.records import memory_listing as listing
from evennia_ai.policy.records.entity_profiles import RELATIONSHIP, familiarity_at
from evennia_ai.policy.records.memory_listing import count_shown, may_read
from evennia_ai.policy.records.record import Record, copy_of
from evennia_ai.ports import RecordStore
from evennia_ai.scheduling import Coroutine, yield_to_reactor
from evennia_ai.store.memory_editor import MemoryEditor
from evennia_ai.store.names import names_in, names_of
from evennia_ai.store.reports import Row, RowPage
from evennia_ai.turn.recall import text_of

ENTRIES_A_PAGE = 25
RELATIONS_SHOWN = 200
FOND = 0.1  # sentiment from which somebody is fond, or below minus that hostile
Fields = Mapping[str, str]


Act = Callable[[MemoryEditor, str, str], object]
ACTS: Mapping[str, tuple[Act, str]] = {
    "pin": (lambda editor, entry, _: editor.pin(entry, True), "Pinned."),
    "unpin": (lambda editor, entry, _: editor.pin(entry, False), "Not pinned."),
    "edit": (lambda editor, entry, text: editor.edit(entry, text), "Changed."),
    "delete": (
        lambda editor, entry, _: editor.delete(entry),
        "Deleted, and the lines that it came from are not recalled. The archive has it.",
    ),
    "restore": (
        lambda editor, entry, _: editor.restore(entry),
        "Back in the journal; pruning will not remove it again.",
    ),
}


class EntryForm(forms.Form):
    """What a form of the page says: an entry, or its new text."""

    entry = forms.CharField(required=False, max_length=60)
    text = forms.CharField(required=False)


@inlineCallbacks
def change_memory(submission: Submission) -> Coroutine[tuple[str, str]]:
    """Change an entry; fails with Refused, Missing, CannotChange and StoreUnavailable."""
    script = readable_script(submission.who["id"], submission.reader, submission.account)
    character, put, act = script.character, script.services.slices.put, submission.act
    editor, text = MemoryEditor(character, script.mind.renew), submission.fields["text"]
    records: RecordStore = character.journal
    yield records.load(put)
    yield character.ai_profiles.load(put)
    if act == "add":
        return f"add, {editor.add(text)['id']}", "Added."
    if act == "restore":
        records = character.journal.archive
        yield records.load(put)
    entry: Record | None = records.get(submission.fields["entry"])
    if entry is None or not may_read(submission.reader, entry):
        raise NotFound("There is no such entry.")
    do, notice = ACTS[act]
    do(editor, entry["id"], text)
    return f"{act}, {entry['id']}", notice


class MemoryPage(EditingPage, TemplateView):
    """A page of the journal or its archive, or a search; a form changes one entry."""

    tab, template_name, prefixed = "memory", "evennia_ai/memory.html", False
    by_act = dict.fromkeys(("add", *ACTS), EntryForm)
    change = staticmethod(change_memory)

    def get_context_data(self, **values: Any) -> Row:
        given, reader = self.request.GET, self.reader
        parameters = {name: asked_text(given, name) for name in ("words", "as", "archive", "page")}
        audience, trouble = find_audience(parameters["as"], reader)
        fields = {**parameters, "words": "" if trouble else parameters["words"]}
        account = self.request.user.pk
        memories = game.ask(read_memories, self.who["id"], reader, account, fields, audience)
        page, withheld = memories["page"], memories["withheld"]
        names = names_in(*page.rows, *withheld, besides=audience)
        shown = {
            "asked": parameters,
            "trouble": trouble,
            "entries": [shown_entry(entry, names) for entry in page.rows],
            "readers": reader.whose(PRIVATE_MEMORIES),
            "as_whom": page_text(listing.named(sorted(audience), names)) if audience else "",
            "withheld": [
                page_text(listing.why_withheld(item, audience, names)) for item in withheld
            ],
        }
        return super().get_context_data(**{**memories, **shown, **values})


@inlineCallbacks
def read_memories(
    assistant: int, reader: Reader, account: int, fields: Fields, audience: Audience
) -> Coroutine[Row]:
    """Fire with a ``page``, or with the ``hits`` of a search and what is ``withheld``."""
    script = readable_script(assistant, reader, account)
    character, put, words = script.character, script.services.slices.put, fields["words"]
    yield character.journal.load(put)
    context: Row = {"hits": None, "withheld": []}
    if words:
        yield character.ai_profiles.load(put)
        yield yield_to_reactor(put)  # a search of 10,000 lines takes 20 ms: nothing else beside it
        report = yield search_for_staff(script.mind.around, words, audience, reader)
        yield yield_to_reactor(put)
        has_meaning = script.services.embedder is not None
        hits = [
            shown_hit(script.mind.recall.line(hit.record, words), words, hit, has_meaning)
            for hit in report.found
        ]
        kept = {"hidden": report.hidden, "withheld": report.withheld}
        return {**context, **kept, "hits": hits, "page": RowPage(1, 1, [])}
    journal = character.journal.archive if fields["archive"] else character.journal
    number = number_or_none(fields["page"]) or 1
    page, hidden = yield readable_page(put, journal, number, ENTRIES_A_PAGE, reader)
    count_shown(reader, *page.rows)
    # Whoever looks at memories searches them next: reading a long log first takes seconds.
    if not len(script.mind.memories()):
        ready = script.mind.memories().prepare(script.services)
        ready.addErrback(lambda failure: failure.trap(AssistantError) and None)
    return {**context, "page": page, "hidden": hidden}


def readable_script(assistant: int, reader: Reader, account: int) -> AssistantScript:
    """Return an assistant; raises Refused for who may neither read all nor edit its character."""
    script = find_script(assistant)
    if not reader.may(PRIVATE_MEMORIES):
        access.editor_of(script.character, account)
    return script


def find_audience(names: str, reader: Reader) -> tuple[Audience, str]:
    """Return the players of a comma-separated list by dbref, and what is wrong with it."""
    if not names:
        return frozenset(), ""
    if not reader.may(PRIVATE_MEMORIES):
        readers = reader.whose(PRIVATE_MEMORIES)
        return frozenset(), f"Only {readers} may see what a player would be told."
    people: set[str] = set()
    for name in names.split(","):
        listed = name.strip()
        dbrefs = people_named(listed)
        if len(dbrefs) != 1:
            several = f"Several have the name '{listed}': use a number, such as {dbrefs[:1]}."
            return frozenset(), several if dbrefs else f"Nobody is called '{listed}'."
        people.update(dbrefs)
    return frozenset(people), ""


def shown_entry(entry: Record, names: listing.NamesByDbref) -> Row:
    return {
        "id": entry["id"],
        "at": page_text(entry["timestamp"][:19].replace("T", " ")),
        "facts": page_text(listing.entry_facts(entry, names), 300),
        "text": page_text(entry["content"]),
        "private": entry["audience"] is not None,
        "pinned": entry["pinned"],
        "fixed": is_synthesis(entry),
    }


def shown_hit(line: str, words: str, hit: Any, has_meaning: bool) -> Row:
    return {
        "id": page_text(hit.record["id"], 60),
        "text": page_text(line),
        "why": page_text(
            listing.why_found(words, text_of(hit.record), hit.score, has_meaning), 200
        ),
        "private": hit.record["audience"] is not None,
    }


class Relations(StaffPage, TemplateView):
    """How well and how gladly it knows whom, best known first."""

    tab, template_name = "relations", "evennia_ai/relations.html"

    def get_context_data(self, **values: Any) -> Row:
        relations = game.ask(read_relations, self.who["id"], self.reader, self.request.user.pk)
        best = sorted(relations, key=lambda relation: -relation[1])[:RELATIONS_SHOWN]
        names = names_of(record["entity"] for record, _ in best)
        rows = [shown_relation(record, familiar, names) for record, familiar in best]
        values |= {"left_out": len(relations) - len(rows), "opinions": access.extension("opinions")}
        return super().get_context_data(rows=rows, **values)


@inlineCallbacks
def read_relations(
    assistant: int, reader: Reader, account: int
) -> Coroutine[list[tuple[Record, float]]]:
    """Read the relationships with how familiar each still is, on the reactor's thread."""
    script = readable_script(assistant, reader, account)
    profiles, now = script.character.ai_profiles, script.services.now()
    yield profiles.load(script.services.slices.put)
    known = [item for item in profiles.held() if item["kind"] == RELATIONSHIP]
    seen = [copy_of(item) for item in known if may_read(reader, item)]
    count_shown(reader, *seen)
    return [(item, familiarity_at(item, now)) for item in seen]


def shown_relation(record: Record, familiar: float, names: dict[str, str]) -> Row:
    sentiment, dbref = record["sentiment"], record["entity"]
    return {
        "name": page_text(names.get(dbref, f"somebody deleted ({dbref})"), 60),
        "dbref": dbref,
        "familiar": familiar,
        "sentiment": sentiment,
        "feeling": "fond" if sentiment >= FOND else "hostile" if sentiment <= -FOND else "neutral",
        "contacts": record["contacts"],
        "last": (record["last_contact"] or "")[:10] or "never",
    }
