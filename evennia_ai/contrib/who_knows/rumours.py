"""Rumours: their rows, a copy in memory, and the memories of those who heard them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q
from twisted.internet.defer import Deferred, DeferredLock, inlineCallbacks

from evennia_ai import models
from evennia_ai.contrib.who_knows.telling import Hearing, Rumour
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import of_record
from evennia_ai.policy.records.journal_entry import UNGUARDED
from evennia_ai.policy.records.record import Record, people_field, people_in
from evennia_ai.ports import MemoryMatch, MindContext
from evennia_ai.ports.records import WatchedRecords
from evennia_ai.scheduling import Coroutine, Enqueue, yield_to_reactor
from evennia_ai.store.rows import delete_rows, insert_rows, pages
from evennia_ai.store.transactions import brief_transaction

ONE_MIND = models.SharedEntry.ONE_MIND
UNTOLD = frozenset({"secret", UNGUARDED})
FIELDS = (
    "assistant_id", "entry", "scope", "teller", "source", "text", "learnt_at", "available_from",
    "speakers", "importance", "trust",
)  # fmt: skip


def why_untold(entry: Record) -> str:
    """Return why a journal entry cannot become a rumour, "" if it can: whispers never do."""
    if entry["audience"] is not None:
        return "It was told in private."
    if not UNTOLD.isdisjoint(tag.lower() for tag in entry["tags"]):
        return "It is tagged as a secret, or may hold what was whispered."
    lines = models.Message.objects.filter(id__in=entry["source_seqs"])
    if lines.filter(Q(private=True) | Q(event__private=True)).exists():
        return "It was made of what was whispered."
    return ""


class Rumours(WatchedRecords):
    """All rumours, an index watches their words; `load` reads the rows at the first use.

    Writing raises StoreUnavailable; then nothing has changed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.by_id: dict[int, Rumour] = {}
        self.known_by: dict[str, set[int]] = {}  # ids by dbref
        self._rows: dict[int, tuple[int, str]] = {}  # of each row: the rumour and the hearer
        self._one_at_a_time = DeferredLock()
        self.is_stale = True

    # --- what an index reads ---

    def get(self, id: str) -> Record | None:
        rumour = self.by_id.get(int(id.removeprefix("r"))) if id[1:].isdecimal() else None
        return record_of(rumour) if rumour else None

    def held(self) -> list[Record]:
        return [record_of(rumour) for rumour in self.by_id.values()]

    @inlineCallbacks
    def load(self, put: Enqueue) -> Coroutine[None]:
        """Read all rows in slices after the first start or after others wrote them."""
        yield self._one_at_a_time.acquire()
        try:
            if self.is_stale:
                yield self._read(put)
        finally:
            self._one_at_a_time.release()

    @inlineCallbacks
    def _read(self, put: Enqueue) -> Coroutine[None]:
        self.is_stale = False
        try:
            found: dict[int, Any] = {}
            rows = models.SharedEntry.objects.filter(scope__startswith=ONE_MIND)
            for page in pages(rows, *FIELDS):
                yield yield_to_reactor(put)
                found |= {row.id: row for row in page}
            for row_id in self._rows.keys() - found.keys():
                self._drop_row(row_id)
            firsts = {(rumour.assistant, rumour.entry): rumour for rumour in self.by_id.values()}
            orphans = [row.id for row in found.values() if not self._take_in(row, firsts)]
            for start in range(0, len(orphans), 100):
                delete_rows(models.SharedEntry, orphans[start : start + 100])
        except BaseException:
            self.is_stale = True
            raise

    def _take_in(self, row: Any, firsts: dict[tuple[int, str], Rumour]) -> bool:
        """Add a row; returns False for one whose rumour or teller is gone."""
        who, key = row.scope.removeprefix(ONE_MIND), (row.assistant_id, row.entry)
        if row.id in self._rows:
            return True
        rumour = firsts.get(key)
        if rumour is None and who == row.teller:
            rumour = firsts[key] = self.by_id[row.id] = Rumour(
                row.id, row.entry, row.teller, row.assistant_id, row.text, row.learnt_at,
                tuple(row.speakers), row.importance, row.trust,
            )  # fmt: skip
            self._note(row.id, rumour, who, Hearing("", row.available_from))
            self.tell_watchers(None, record_of(rumour))
            return True
        told_by = rumour.heard.get(row.source) if rumour else None
        if rumour is None or told_by is None:
            return False
        hearing = Hearing(row.source, row.available_from, told_by.hops + 1)
        self._note(row.id, rumour, who, hearing)
        return True

    def _note(self, row_id: int, rumour: Rumour, who: str, hearing: Hearing) -> None:
        rumour.heard[who] = hearing
        self.known_by.setdefault(who, set()).add(rumour.id)
        self._rows[row_id] = (rumour.id, who)

    # --- writing ---

    def seed(self, assistant: int, teller: str, entry: Record, now: datetime) -> Rumour:
        """Let a character know a journal entry of its own as a rumour; once for each entry."""
        for rumour in self.by_id.values():
            if (rumour.assistant, rumour.entry) == (assistant, entry["id"]):
                return rumour
        row = models.SharedEntry(
            assistant_id=assistant, at=now, entry=entry["id"], scope=f"{ONE_MIND}{teller}",
            teller=teller, text=entry["content"], learnt_at=now, available_from=now,
            importance=entry["importance"], trust=entry["trust"], source=entry["source_entity"],
            speakers=sorted(of_record(entry)), people=people_field(people_in(entry)),
        )  # fmt: skip
        with brief_transaction(assistant):
            row.save(force_insert=True)
        self._take_in(row, {})
        return self.by_id[row.id]

    def tell(self, told: Sequence[tuple[Rumour, str, str]], now: datetime, at: datetime) -> int:
        """Store that tellers told rumours to hearers, who know them from ``at`` on; returns how
        many are new.
        """
        new = [(r, who, to) for r, who, to in told if r.id in self.by_id and to not in r.heard]
        rows = [
            models.SharedEntry(
                assistant_id=rumour.assistant, at=now, entry=rumour.entry, scope=f"{ONE_MIND}{to}",
                teller=rumour.first, text="", learnt_at=rumour.learnt_at, available_from=at,
                importance=rumour.importance, trust=rumour.trust, source=who,
            )
            for rumour, who, to in new
        ]  # fmt: skip
        with brief_transaction():
            rows = insert_rows(rows)
        for row, (rumour, who, to) in zip(rows, new, strict=True):
            self._note(row.id, rumour, to, Hearing(who, at, rumour.heard[who].hops + 1))
        return len(rows)

    def retract(self, rumour: Rumour) -> int:
        """Let everybody forget a rumour; returns how many knew it."""
        ids = [row_id for row_id, (number, _who) in self._rows.items() if number == rumour.id]
        with brief_transaction(rumour.assistant):
            delete_rows(models.SharedEntry, ids)
        return len(ids)

    def drop(self, ids: Iterable[int]) -> None:
        """Note that rows were deleted; those who heard a rumour from its first row lose it, too."""
        wanted = set(ids)
        gone = wanted & self.by_id.keys()
        of_gone = [row_id for row_id, (number, _who) in self._rows.items() if number in gone]
        for row_id in wanted:
            self._drop_row(row_id)
        left = [row_id for row_id in of_gone if row_id not in wanted]
        if left:
            delete_rows(models.SharedEntry, left)

    def _drop_row(self, row_id: int) -> None:
        number, who = self._rows.pop(row_id, (0, ""))
        if not number:
            return
        self.known_by.get(who, set()).discard(number)
        rumour = self.by_id.get(number)
        if rumour is not None:
            rumour.heard.pop(who, None)
        if rumour is not None and number == row_id:
            del self.by_id[number]
            self.tell_watchers(record_of(rumour), None)


def record_of(rumour: Rumour) -> Record:
    """Return the words of a rumour as a record that can be recalled; public."""
    return {
        "id": f"r{rumour.id}",
        "content": rumour.text,
        "timestamp": rumour.learnt_at.astimezone(UTC).isoformat(),
        "audience": None,
        "source_type": "hearsay",
        "source_entity": "",
        "speakers": list(rumour.speakers),
        "importance": rumour.importance,
        "trust": rumour.trust,
    }


@dataclass(frozen=True, eq=False)
class HeardRumours:
    """The rumours that a character heard, a `ports.MemorySource`; its own stand in its journal."""

    _mind: MindContext
    _rumours: Rumours
    _index: Any

    def prepare(self, queries: Sequence[str]) -> Deferred[None]:
        ready: Deferred[None] = self._index.prepare(self._mind.services, queries)
        return ready

    def search(
        self,
        query: str,
        limit: int,
        audience: Audience | None,  # rumours are public
        now: datetime,
        keep: Callable[[Record], bool] | None = None,
    ) -> list[MemoryMatch]:
        """Return the rumours that it heard and that nobody has taken back, with the teller."""
        me, by_id = self._mind.character.dbref, self._rumours.by_id
        ids = self._rumours.known_by.get(me)
        if not ids:
            return []

        def hearing_of(record: Record) -> Hearing | None:
            rumour = by_id.get(int(record["id"][1:]))
            return rumour.heard.get(me) if rumour else None

        def is_heard(record: Record) -> bool:
            hearing = hearing_of(record)
            is_known = hearing is not None and bool(hearing.teller) and hearing.at <= now
            return is_known and (keep is None or keep(record))

        matches = self._index.search(query, len(by_id), None, now, keep=is_heard)[:limit]
        wanted = [int(match.record["id"][1:]) for match in matches]
        rows = models.SharedEntry.objects.filter(id__in=wanted)
        stored = frozenset(rows.values_list("id", flat=True))  # another server may have deleted it
        found: list[MemoryMatch] = []
        for match in matches:
            hearing = hearing_of(match.record)
            if hearing and int(match.record["id"][1:]) in stored:
                teller = self._mind.world.name_of(self._mind.character, hearing.teller)
                told = {"kind": "hearsay", "label": f", {teller or 'somebody'} told you"}
                record = {**match.record, **told, "timestamp": hearing.at.isoformat()}
                found.append(replace(match, record=record))
        return found
