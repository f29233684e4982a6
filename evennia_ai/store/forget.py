"""Forgetting players: their words, every answer that may quote them, and what was made of both.

What others said themselves stays, and what a builder wrote by hand. Summaries are rewritten from
the lines that are left. Budgets go on counting. Where words may stand says `store.personal_data`.

Below it: erasing all that an assistant has, and the bytes of what was deleted.
"""

import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.models import Q
from evennia.objects.models import ObjectDB
from evennia.scripts.models import ScriptDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.messages import EXCUSE, ChatMessage
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.compaction.plan import SUMMARY_ROOM
from evennia_ai.policy.compaction.summary import make_digest
from evennia_ai.policy.context.projection import part_key
from evennia_ai.policy.facts.check import Fact, as_bullets, distinct, facts_in
from evennia_ai.policy.recallable_lines import amend
from evennia_ai.policy.records.forgetting import FORGOTTEN, ToForget
from evennia_ai.policy.records.record import Record, people_field
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.store.attributes import attributes_of
from evennia_ai.store.conversation import MASK
from evennia_ai.store.forget_traces import OWN, PersonalTraces
from evennia_ai.store.inbox import DOUBTFUL, WAITING
from evennia_ai.store.lines import amended_at
from evennia_ai.store.personal_data import (
    ADDED,
    DBREF,
    LOGS,
    PLACES,
    STORES,
    ErasureRule,
    PersonalColumn,
    is_about_only,
    is_known,
)
from evennia_ai.store.rows import PAGE, chunks, delete_rows, message_from_row, pages, raw_delete
from evennia_ai.store.server_lock import lock
from evennia_ai.store.server_settings import mark_for_deletion
from evennia_ai.store.transactions import brief_transaction
from evennia_ai.store.turns import MAYBE_DONE, UNANSWERED

SEGMENTS_A_CHUNK = 50
WAIT_S = 5.0
MOST_BYTES = 200_000_000  # of a file that is written anew while the game runs: 2 s


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
        self.traces = PersonalTraces(self.people, assistant)
        self.gone = 0  # rows and records so far

    def steps(self) -> Iterator[int]:
        """Forget in steps of a few ms; yields after each how many rows or records went.

        Raises StoreUnavailable if the database is busy; then a new run is needed.
        """
        for gone in self._steps():
            self.gone += gone
            yield gone

    def _steps(self) -> Iterator[int]:
        if not any(is_known(person, self.assistant) for person in self.people):
            return
        yield from self.traces.find()
        if self._hold(self.traces.assistants):
            yield from self.traces.find()  # what these wrote meanwhile
        yield from self._hide_words()
        yield from rewrite_summaries(self.traces)
        yield from self._forget_records()
        for place in (*PLACES, *ADDED):
            is_theirs = place.by_one or self.assistant is None
            if is_theirs and place.law in (
                ErasureRule.DELETED,
                ErasureRule.EMPTIED,
                ErasureRule.CUT,
            ):
                yield from self._forget_in(place)
        yield from self._excuse_retries()
        yield from self._delete_found()

    def _hide_words(self) -> Iterator[int]:
        """Take their words out of rows that are not theirs."""
        for model, hidden in self.traces.hidden.items():
            for ids in chunks(hidden):
                with brief_transaction():
                    for id_ in ids:
                        model.objects.filter(id=id_).update(**hidden[id_])
                    if model is models.Message:
                        raw_delete(models.LineVector.objects.filter(message_id__in=ids))
                yield len(ids)

    def _forget_in(self, place: PersonalColumn) -> Iterator[int]:
        """Apply the law of a place to the rows that are theirs."""
        followed = self.traces.levels.get(place.model, {})
        for page in pages(place.suspects(self.people, self.assistant), *place.columns):
            rows = [row for row in page if row.id not in followed and self._is_theirs(place, row)]
            if rows:
                with brief_transaction():
                    self._apply(place, rows)
            yield len(rows)

    def _apply(self, place: PersonalColumn, rows: Collection[Any]) -> None:
        ids = [row.id for row in rows]
        if place.law is ErasureRule.DELETED:
            delete_rows(place.model, ids)
        elif place.law is ErasureRule.EMPTIED:
            place.model.objects.filter(id__in=ids).update(**place.emptied)
        else:
            self._take_out(place, rows)

    def _is_theirs(self, place: PersonalColumn, row: Any) -> bool:
        """Return True if a row names these people, answers them, or repeats their words."""
        named = [getattr(row, name) for name in place.named]
        if place.alone:
            is_named = any(is_about_only(value, self.people) for value in named)
        else:
            is_named = not self.people.isdisjoint(DBREF.findall(str(named)))
        if is_named:
            return True
        if place.law is not ErasureRule.CUT and self._answers(place, row):
            return True
        return any(self.traces.words.is_in(str(getattr(row, name))) for name in place.words)

    def _answers(self, place: PersonalColumn, row: Any) -> bool:
        if place.turn == "assistant_id":
            return row.assistant_id in self.traces.assistants
        return bool(place.turn) and getattr(row, place.turn) in self.traces.turns

    def _take_out(self, place: PersonalColumn, rows: Iterable[Any]) -> None:
        """Take them out of a column; of a turn that answers them, everybody.

        `FORGOTTEN` takes their place among authors, so that no tool trusts a text more than before.
        """
        (name,) = place.named
        for row in rows:
            value = getattr(row, name)
            kept: Any
            if isinstance(value, str):
                kept = people_field({*value.split()} - self.people | {FORGOTTEN})
            else:
                others = {*value} - self.people
                instead = {FORGOTTEN} if name == "speakers" else set()
                kept = [] if self._answers(place, row) else sorted(others | instead)
            place.model.objects.filter(id=row.id).update(**{name: kept})

    def _forget_records(self) -> Iterator[int]:
        """Remove or change the records of every character that knows them or heard of them."""
        words = self.traces.words
        law = ToForget(self.people, self.traces.messages, words.is_in, words.without, words.names)
        gone: dict[int, set[str]] = {}
        for row_id, key, kind in self._attributes():
            yield 0
            owners = ObjectDB._base_manager.filter(db_attributes=row_id)  # of all servers
            for character in owners:
                ids = gone.setdefault(character.id, set())
                with lock.reaching_all():
                    count = forget_segment(character, kind, key, law, ids)
                yield count
            if not owners:
                yield int(Attribute.objects.filter(id=row_id).delete()[0])

    def _attributes(self) -> list[tuple[int, str, str]]:
        """Return the Attributes to look into, the journals first: id, key and kind."""
        ids = self.traces.assistants if self.assistant is None else [self.assistant]
        owners = ScriptDB.objects.filter(id__in=ids).exclude(db_obj=None).values("db_obj_id")
        wanted = Q(objectdb__id__in=owners) & ~Q(db_key__startswith="broken")
        for dbref in self.people if self.assistant is None else ():
            wanted |= Q(db_strvalue__contains=f" {dbref} ")
        rows = Attribute.objects.filter(wanted, db_attrtype__in=list(STORES)).distinct()
        order = list(STORES)
        attributes = rows.values_list("id", "db_key", "db_attrtype")
        return sorted(attributes, key=lambda row: (order.index(row[2]), row[1]))

    def _excuse_retries(self) -> Iterator[int]:
        """Close what waits for another try by an excuse if acts go that it would do again."""
        for ids in chunks(self.traces.calls):
            done = models.ToolCall.objects.filter(
                id__in=ids, world=True, state__in=MAYBE_DONE, turn__outcome__in=UNANSWERED
            )
            with brief_transaction():
                for assistant_id, turn_id in done.values_list("assistant_id", "turn_id").distinct():
                    tried = models.Event.objects.filter(
                        assistant_id=assistant_id, turn_id__gte=turn_id, attempts__gt=0
                    )
                    tried.filter(state=WAITING).update(state=DOUBTFUL)
            yield 0

    def _delete_found(self) -> Iterator[int]:
        """Delete the rows that were found; their own words last, which lead to all others."""
        yield from self._delete_levels(lambda level: level != OWN)
        for place in PLACES:
            if place.law is ErasureRule.CUT_LAST:
                yield from self._forget_in(place)
        yield from self._delete_levels(lambda level: level == OWN)
        by_people = Q(speaker__in=self.people)
        for model in (models.Message, models.Event):  # what they said meanwhile
            while gone := delete_newest(self.traces.rows(model).filter(by_people)):
                yield gone

    def _delete_levels(self, is_due: Callable[[int], bool]) -> Iterator[int]:
        """Delete the rows of some levels, the highest level first."""
        for level, model, row_ids in self.traces.by_level():
            for ids in chunks(row_ids if is_due(level) else ()):
                with brief_transaction():
                    delete_rows(model, ids)
                yield len(ids)


def forget_segment(character: Any, kind: str, key: str, law: ToForget, gone: set[str]) -> int:
    """Change or remove records of one Attribute; returns how many. ``gone`` gets removed ids."""
    changed, removed = [key], set[str]()

    def left_of(record: Record) -> Record | None:
        left = law.left_of(record, gone)
        if left is None:
            removed.add(record["id"])
        return left

    if key.isdecimal():
        store = STORES[kind].of(character)
        changed = store.change_segment(int(key), left_of)
    else:  # it was set aside, since it could not be read
        attributes_of(character, kind).filter(db_key=key).delete()
    gone.update(removed)
    if changed:
        mark_for_deletion(character.id)
    return len(changed)


def delete_newest(rows: Any) -> int:
    """Delete the newest `PAGE` of some rows; returns how many."""
    # Newest first, since a compaction refers to the one before it.
    ids = list(rows.order_by("-id").values_list("id", flat=True)[:PAGE])
    with brief_transaction():
        delete_rows(rows.model, ids)
    return len(ids)


def count_rows(assistant_id: int) -> dict[str, int]:
    """Return how many rows an assistant has in each table, by the table's model name."""
    return {
        model.__name__: model.objects.filter(assistant_id=assistant_id).count() for model in LOGS
    }


def erase_chunk(assistant_id: int) -> int:
    """Delete up to 100 rows, children first, then records; returns how many, 0 at the end."""
    for model in LOGS:
        if deleted := delete_newest(model.objects.filter(assistant_id=assistant_id)):
            return deleted
    for character in ObjectDB.objects.filter(scriptdb=assistant_id):
        for store in STORES.values():
            store.drop(character)
        ids = attributes_of(character, *STORES).values_list("id", flat=True)[:SEGMENTS_A_CHUNK]
        mark_for_deletion(character.id)
        return int(Attribute.objects.filter(id__in=list(ids)).delete()[0])
    return 0


def database_file() -> Path | None:
    """Return the SQLite file of the game, None for another database or one in memory."""
    path = Path(str(connection.settings_dict["NAME"]))
    return path if connection.vendor == "sqlite" and path.is_file() else None


def is_too_large(path: Path) -> bool:
    """Return True if writing a file anew would make the game's own writes wait too long."""
    return path.stat().st_size > MOST_BYTES


def overwrite_deleted(path: Path) -> tuple[float, bool]:
    """Write an SQLite file anew without what was deleted.

    Returns the seconds that it took and whether the write-ahead log is empty.

    Other connections can read meanwhile, but not write. It uses a connection of its own, so that
    any thread may call it. Of a file `is_too_large`, only the log is emptied. Raises
    `sqlite3.OperationalError` if others hold the file for more than `WAIT_S` seconds.
    """
    began = time.perf_counter()
    with closing(sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)) as own:
        own.execute("PRAGMA secure_delete=ON")
        if not is_too_large(path):
            own.execute("VACUUM")
        busy, *_ = own.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return time.perf_counter() - began, not busy


DIGEST = "digest"


def rewrite_summaries(traces: PersonalTraces) -> Iterator[int]:
    """Rewrite every part of a summary that may hold the words of some people; yields 0 at times.

    An assistant's compactions are rewritten oldest first, since each continues the one before. A
    compaction that does not say whose words it holds is deleted if its assistant heard them.
    """
    rows = traces.rows(models.Compaction).exclude(reason=MASK).order_by("id")
    texts: dict[int, dict[str, str]] = {}
    for id_ in list(rows.values_list("id", flat=True)):
        yield 0
        row = models.Compaction.objects.get(id=id_)
        if row.summary and not row.speakers and row.assistant_id in traces.assistants:
            with brief_transaction():  # its messages come back into view
                models.Compaction.objects.filter(previous_id=id_).update(previous=row.previous_id)
                delete_rows(models.Compaction, [id_])
            continue
        by_people = [
            key
            for key, part_text in row.summary.items()
            if not traces.people.isdisjoint(row.speakers.get(key, ()))
            or traces.words.is_in(part_text)
        ]
        if by_people:
            yield from rewrite(row, by_people, traces, texts.get(row.previous_id or 0, {}))
        texts[id_] = dict(row.summary)


def rewrite(
    row: models.Compaction, theirs: list[str], traces: PersonalTraces, before: dict[str, str]
) -> Iterator[int]:
    """Replace some parts of a summary by a digest of the lines that are left, and store it.

    ``before`` has the parts of the compaction before it. The journal's entries of this summary are
    written anew soon after.
    """
    messages: dict[str, list[ChatMessage]] = defaultdict(list)
    facts: dict[str, list[Fact]] = defaultdict(list)
    for page in evicted(row):
        yield 0
        for message in page:
            key = part_key(audience_of(message))
            if key in theirs and message["metadata"]["seq"] not in traces.messages:
                messages[key].append(message)
                facts[key] += facts_in(message)
    for key in theirs:
        yield 0
        bullets = as_bullets(distinct(facts[key]), SUMMARY_ROOM)
        row.summary[key] = make_digest(messages[key], before.get(key, ""), bullets, SUMMARY_ROOM)
        speakers_left = {message["metadata"].get("speaker", "") for message in messages[key]} - {""}
        row.speakers[key] = sorted(speakers_left.union(row.speakers.get(key, ())) - traces.people)
    row.prefix_hash, row.rung, row.archived = "", DIGEST, False
    row.facts_found = row.facts_kept = row.facts_rescued = 0
    row.summary_token_count = sum(map(estimate_tokens, row.summary.values()))
    with brief_transaction():
        row.save()


def evicted(row: models.Compaction) -> Iterator[list[ChatMessage]]:
    """Yield the messages that a compaction evicted, as they are shown now, in pages."""
    rows = models.Message.objects.filter(
        assistant_id=row.assistant_id, id__gte=row.from_seq, id__lte=row.upto_seq
    )
    rows = rows.exclude(role=EXCUSE).order_by("id")
    ids, amended = list(rows.values_list("id", flat=True)), amended_at(row.assistant_id)
    for start in range(0, len(ids), PAGE):
        page = rows.filter(id__in=ids[start : start + PAGE])
        yield amend((message_from_row(row_evicted) for row_evicted in page), amended)
