"""Forgetting players: their words, every answer that may quote them, and what was made of both.

What others said themselves stays, and what a builder wrote by hand. Summaries are rewritten from
the lines that are left. Budgets go on counting.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.policy.records.forget_me import FORGOTTEN, ToForget
from evennia_ai.policy.records.segments import people_field
from evennia_ai.policy.records.shared_memory import HEARSAY
from evennia_ai.store.attributes import attributes_of, rows_about
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.forget_rows import Traces
from evennia_ai.store.forget_summaries import rewrite_summaries
from evennia_ai.store.forget_words import pages
from evennia_ai.store.inbox import DOUBTFUL, WAITING
from evennia_ai.store.rows import delete_rows
from evennia_ai.store.server_settings import mark_for_deletion
from evennia_ai.store.shared_entries import delete_entries
from evennia_ai.store.turns import MAYBE_DONE, UNANSWERED
from evennia_ai.store.who_knows import STORES, is_known

CHUNK = 100  # rows a transaction: about 35 ms at a million
# Free texts about the course of things, which may quote somebody.
REMARKS = ((models.Turn, "detail"), (models.Event, "reason"), (models.ModelCall, "error"))


class Forgetting:
    """One run of "forget me" for some people: by all characters, or by one ``assistant``.

    After a crash or an error, a new run completes it: what the rest is found by is deleted last.
    ``hold`` is called with the assistants whose rows are to go; it keeps them from writing
    more, and returns True if one of them could until then.
    """

    def __init__(
        self,
        people: Iterable[str],
        assistant: int | None = None,
        hold: Callable[[Collection[int]], bool] = lambda _assistants: False,
    ) -> None:
        self.people = frozenset(people)
        self.assistant = assistant
        self._hold = hold
        self.traces = Traces(self.people, assistant)
        self.gone = 0  # rows and records so far

    def steps(self) -> Iterator[int]:
        """Forget in steps of a few ms; yields after each how many rows or records went.

        Raises StoreUnavailable if the database is busy; then a new run is needed.
        """
        for gone in self._steps():
            self.gone += gone
            yield gone

    def _steps(self) -> Iterator[int]:
        if not any(is_known(one, self.assistant) for one in self.people):
            return
        for _ in self.traces.find():
            yield 0
        if self._hold(self.traces.assistants):
            for _ in self.traces.find():  # what these wrote meanwhile
                yield 0
        for _ in rewrite_summaries(self.traces):
            yield 0
        yield from self.forget_records()
        yield from self.forget_shared()
        yield from self.forget_remarks()
        yield from self.forget_staff_work()
        yield from self.forget_calls()
        yield from self.forget_locks()
        yield from self.forget_turns()
        yield from self.forget_rows()

    # --- records ----------------------------------------------------------------------------------

    def forget_records(self) -> Iterator[int]:
        """Remove or change the records of every character that knows them or heard of them."""
        law = ToForget(self.people, self.traces.messages, self.traces.words.is_in)
        gone: dict[int, set[str]] = {}
        for row_id, key, kind in self.attributes():
            yield 0
            owners = ObjectDB.objects.filter(db_attributes=row_id)
            for character in owners:
                ids = gone.setdefault(character.id, set())
                yield forget_segment(character, kind, key, law, ids)
            if not owners:
                yield int(Attribute.objects.filter(id=row_id).delete()[0])

    def attributes(self) -> list[tuple[int, str, str]]:
        """Return the Attributes to look into, the journals first: id, key and kind."""
        found: dict[int, tuple[int, str, str]] = {}
        fields = ("id", "db_key", "db_attrtype")
        for dbref in sorted(self.people) if self.assistant is None else ():
            found |= {row[0]: row for row in rows_about(dbref, STORES).values_list(*fields)}
        ids = self.traces.assistants if self.assistant is None else [self.assistant]
        owners = ScriptDB.objects.filter(id__in=ids).exclude(db_obj=None)
        for character in ObjectDB.objects.filter(id__in=owners.values("db_obj_id")):
            rows = attributes_of(character, *STORES).filter(~Q(db_key__startswith="broken"))
            found |= {row[0]: row for row in rows.values_list(*fields)}
        order = list(STORES)
        return sorted(found.values(), key=lambda row: (order.index(row[2]), row[1]))

    def forget_shared(self) -> Iterator[int]:
        """Delete what characters told each other of them, or in their words."""
        law = ToForget(self.people, (), self.traces.words.is_in)
        for page in pages(
            self.traces.rows(models.SharedEntry), "people", "source", "speakers", "text"
        ):
            going = [
                id_
                for id_, people, source, speakers, text in page
                if any(f" {dbref} " in people for dbref in self.people)
                or law.left_of(told_record(source, speakers, text)) is None
            ]
            with brief_transaction():
                delete_entries(going)
            yield len(going)

    def forget_calls(self) -> Iterator[int]:
        """Empty the prompts and replies that may hold their words."""
        for page in pages(self.traces.rows(models.CallRecord), "people"):
            calls = models.ModelCall.objects.filter(
                id__in=[row[0] for row in page], turn_id__in=list(self.traces.turns)
            )
            going = {id_ for id_, people in page if not self.people.isdisjoint(people.split())}
            going.update(calls.values_list("id", flat=True))
            with brief_transaction():
                records = models.CallRecord.objects.filter(id__in=going)
                emptied = int(records.update(packed=b"", people=""))
            yield emptied

    def forget_locks(self) -> Iterator[int]:
        """Empty the locks of tool calls that were asked for them."""
        asked = reduce(or_, (Q(locks__contains=f'"{dbref}"') for dbref in sorted(self.people)))
        for page in pages(self.traces.rows(models.ToolCall).filter(asked)):
            with brief_transaction():
                rows = models.ToolCall.objects.filter(id__in=[row[0] for row in page])
                emptied = int(rows.update(locks=""))
            yield emptied

    def forget_turns(self) -> Iterator[int]:
        """Take them out of the audiences of turns; empty those of the turns that answer them."""
        named = reduce(or_, (Q(audience__icontains=f'"{one}"') for one in sorted(self.people)))
        for page in pages(self.traces.rows(models.Turn).filter(named), "audience"):
            with brief_transaction():
                for id_, audience in page:
                    others = [] if id_ in self.traces.turns else audience
                    kept = [one for one in others if one not in self.people]
                    models.Turn.objects.filter(id=id_).update(audience=kept)
            yield len(page)

    # --- rows -------------------------------------------------------------------------------------

    def forget_remarks(self) -> Iterator[int]:
        """Empty the remarks that may quote them, and delete sleep passes with errors."""
        for model, name in REMARKS:
            turn = "id" if model is models.Turn else "turn_id"
            for page in pages(self.traces.rows(model).exclude(**{name: ""}), name, turn):
                ids = [
                    id_
                    for id_, remark, turn_id in page
                    if turn_id in self.traces.turns or self.traces.words.is_in(remark)
                ]
                with brief_transaction():
                    emptied = int(model.objects.filter(id__in=ids).update(**{name: ""}))
                yield emptied
        passes = models.SleepPass.objects.filter(assistant_id__in=self.traces.assistants)
        yield from delete_all(passes.exclude(errors={}))

    def forget_staff_work(self) -> Iterator[int]:
        """Delete their reports, and calls that waited for a person's yes in their words.

        A report stays if only one character forgets: the staff may still read it.
        """
        if self.assistant is None:
            yield from delete_all(models.Report.objects.filter(reporter__in=self.people))
            for page in pages(models.Report.objects, "reason"):
                yield from delete_ids(models.Report, self.ids_with_words(page))
        for page in pages(self.traces.rows(models.PendingAct), "speakers", "arguments", "result"):
            theirs = [row[0] for row in page if not self.people.isdisjoint(row[1])]
            quoting = self.ids_with_words((row[0], *row[2:]) for row in page)
            yield from delete_ids(models.PendingAct, {*theirs, *quoting})

    def ids_with_words(self, rows: Iterable[tuple[int, *tuple[str, ...]]]) -> list[int]:
        """Return the ids of rows (id, texts) with their words in a text."""
        return [id_ for id_, *texts in rows if any(map(self.traces.words.is_in, texts))]

    def forget_rows(self) -> Iterator[int]:
        """Delete the rows that were found; their own words last, which lead to all others."""
        yield from self.rename_authors()
        yield from self.excuse_retries()
        for model, ids in self.traces.by_level():
            yield from delete_ids(model, ids)
        theirs = Q(speaker__in=self.people)
        for model in (models.Message, models.Event):  # what they said meanwhile
            yield from delete_all(self.traces.rows(model).filter(theirs))

    def excuse_retries(self) -> Iterator[int]:
        """Close what waits for another try by an excuse if acts go that it would do again."""
        calls = sorted(self.traces.calls)
        for start in range(0, len(calls), CHUNK):
            done = models.ToolCall.objects.filter(
                id__in=calls[start : start + CHUNK],
                world=True,
                state__in=MAYBE_DONE,
                turn__outcome__in=UNANSWERED,
            )
            with brief_transaction():
                for assistant_id, turn_id in done.values_list("assistant_id", "turn_id").distinct():
                    tried = models.Event.objects.filter(
                        assistant_id=assistant_id, turn_id__gte=turn_id, attempts__gt=0
                    )
                    tried.filter(state=WAITING).update(state=DOUBTFUL)
            yield 0

    def rename_authors(self) -> Iterator[int]:
        """Replace their numbers in the authors of messages and events that stay."""
        messages = models.Message.objects.filter(
            id__in=self.traces.named - self.traces.messages.keys()
        )
        named = (Q(authors__contains=f" {dbref} ") for dbref in sorted(self.people))
        events = self.traces.rows(models.Event).filter(reduce(or_, named))
        events = events.exclude(id__in=list(self.traces.events))
        for rows in (messages, events):
            for page in pages(rows, "authors"):
                with brief_transaction():
                    for id_, authors in page:
                        kept = people_field({*authors.split()} - self.people | {FORGOTTEN})
                        rows.model.objects.filter(id=id_).update(authors=kept)
                yield 0


def forget_segment(character: Any, kind: str, key: str, law: ToForget, gone: set[str]) -> int:
    """Remove records from one Attribute; returns how many changed. ``gone`` gets their ids."""
    segments = STORES[kind].of(character).segments
    changed = segments.rewrite_row(key, lambda record: law.left_of(record, gone))
    if changed:
        gone.update(changed)
        mark_for_deletion(character.id)
    return len(changed)


def told_record(source: str, speakers: list[str], text: str) -> dict[str, Any]:
    """Return what a character told another as a record."""
    return {
        "source_type": HEARSAY,
        "source_entity": source,
        "speakers": speakers,
        "source_seqs": [],
        "audience": None,
        "content": text,
    }


def delete_ids(model: Any, ids: Collection[int]) -> Iterator[int]:
    """Delete rows by id, up to `CHUNK` a step, newest first; yields how many."""
    left = sorted(ids, reverse=True)
    for start in range(0, len(left), CHUNK):
        with brief_transaction():
            delete_rows(model, left[start : start + CHUNK])
        yield len(left[start : start + CHUNK])


def delete_all(rows: Any) -> Iterator[int]:
    """Delete the rows of a queryset in chunks; yields how many."""
    while deleted := delete_newest(rows):
        yield deleted


def delete_newest(rows: Any) -> int:
    """Delete the newest `CHUNK` of some rows; returns how many."""
    # Newest first, since a compaction refers to the one before it.
    ids = list(rows.order_by("-id").values_list("id", flat=True)[:CHUNK])
    with brief_transaction():
        if rows.model is models.SharedEntry:
            delete_entries(ids)
        else:
            delete_rows(rows.model, ids)
    return len(ids)
