"""Rumours: their rows, a copy in memory, and the memories of those who heard them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q
from twisted.internet.defer import Deferred, DeferredLock, inlineCallbacks

from evennia_ai import models
from evennia_ai.config import setting
from evennia_ai.config.declared import Bounds, seconds
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
KEPT = ("speakers", "importance", "trust")  # of a journal entry, for whoever recalls the rumour
READ = ("assistant_id", "entry", "scope", "teller", "source", "text", "learnt_at", *KEPT)


@dataclass(frozen=True)
class RumourSettings:
    """How a character passes rumours on."""

    rumour_delay: float = setting(
        3_600.0, "World time until another character knows a rumour it was told.", seconds(0.0)
    )
    rumour_loss: float = setting(
        0.3, "Chance that the character leaves a rumour out at a meeting.", Bounds(0.0, 1.0)
    )


@dataclass(frozen=True, slots=True)
class Retelling:
    """From whom a character has a rumour, "" for the first, and since when."""

    teller: str
    at: datetime


@dataclass(eq=False)
class Rumour:
    """A rumour: the number of its first row, the journal entry and the character it began with,
    its words as a record, and all who know it, by dbref.
    """

    id: int
    entry: str
    first: str
    assistant: int
    record: Record
    learnt_at: datetime
    hearers: dict[str, Retelling] = field(default_factory=dict)


def rumour_rows() -> Any:
    return models.SharedEntry.objects.filter(scope__startswith=ONE_MIND)


def why_untold(entry: Record) -> str:
    """Return why a journal entry cannot become a rumour, "" if it can."""
    if entry["audience"] is not None:
        return "it was told in private."
    if not UNTOLD.isdisjoint(tag.lower() for tag in entry["tags"]):
        return "it is tagged as a secret, or may hold what was whispered."
    lines = models.Message.objects.filter(id__in=entry["source_seqs"])
    is_whispered = lines.filter(Q(private=True) | Q(event__private=True)).exists()
    return "it was made of what was whispered." if is_whispered else ""


class RumourStore(WatchedRecords):
    """All rumours; `load` reads the rows at first use, and an index watches the words.

    A rumour goes with its first row, and a method that writes raises StoreUnavailable; then
    nothing has changed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.by_id: dict[int, Rumour] = {}
        self.known_by: dict[str, set[int]] = {}  # their ids, by who knows them
        self._by_key: dict[tuple[int, str], Rumour] = {}
        self._rows: dict[int, tuple[int, str]] = {}  # the rumour and the hearer, by row
        self._one_at_a_time = DeferredLock()
        self.is_stale = True

    def get(self, id: str) -> Record | None:
        rumour = self.by_id.get(int(id[1:])) if id[1:].isdecimal() else None
        return dict(rumour.record) if rumour else None

    def held(self) -> list[Record]:
        return [rumour.record for rumour in self.by_id.values()]

    def load(self, put: Enqueue) -> Deferred[None]:
        """Read the rows in slices if they changed elsewhere; fails with StoreUnavailable."""
        loaded: Deferred[None] = self._one_at_a_time.run(self._load, put)
        return loaded

    @inlineCallbacks
    def _load(self, put: Enqueue) -> Coroutine[None]:
        if not self.is_stale:
            return
        self.is_stale, stored = False, set[int]()
        try:
            for page in pages(rumour_rows(), *READ, "available_from"):
                yield yield_to_reactor(put)
                stored.update(row.id for row in page)
                lost = [row.id for row in page if not self._take_in(row)]
                delete_rows(models.SharedEntry, lost)
            self._drop(self._rows.keys() - stored)
        except BaseException:
            self.is_stale = True
            raise

    def _take_in(self, row: Any) -> bool:
        """Add a row; returns False if whoever told it does not know the rumour any more."""
        who, key = row.scope.removeprefix(ONE_MIND), (row.assistant_id, row.entry)
        if row.id in self._rows:
            return True
        if row.text:
            times = {"timestamp": row.learnt_at.astimezone(UTC).isoformat()}
            origin = {"source_type": "hearsay", "source_entity": "", "audience": None}
            record = {"id": f"r{row.id}", "content": row.text, **origin, **times}
            record |= {name: getattr(row, name) for name in KEPT}
            rumour = Rumour(row.id, row.entry, row.teller, row.assistant_id, record, row.learnt_at)
            self.by_id[row.id] = self._by_key[key] = rumour
            self._note(row.id, rumour, who, Retelling("", row.available_from))
            self.tell_watchers(None, record)
            return True
        known = self._by_key.get(key)
        if known is None or row.source not in known.hearers:
            return False
        self._note(row.id, known, who, Retelling(row.source, row.available_from))
        return True

    def _note(self, row_id: int, rumour: Rumour, who: str, telling: Retelling) -> None:
        rumour.hearers[who] = telling
        self.known_by.setdefault(who, set()).add(rumour.id)
        self._rows[row_id] = (rumour.id, who)

    def seed(self, assistant: int, teller: str, entry: Record, now: datetime) -> Rumour:
        """Make a journal entry of a character a rumour, once; returns it."""
        if known := self._by_key.get((assistant, entry["id"])):
            return known
        row = models.SharedEntry(
            assistant_id=assistant, at=now, entry=entry["id"], scope=f"{ONE_MIND}{teller}",
            teller=teller, text=entry["content"], learnt_at=now, available_from=now,
            importance=entry["importance"], trust=entry["trust"], source=entry["source_entity"],
            speakers=sorted(of_record(entry)), people=people_field(people_in(entry)),
        )  # fmt: skip
        with brief_transaction(assistant):
            row.save(force_insert=True)
        self._take_in(row)
        return self.by_id[row.id]

    def tell(
        self, news: Iterable[Rumour], teller: str, hearer: str, now: datetime, at: datetime
    ) -> int:
        """Store that somebody hears rumours, known from ``at`` on; returns how many are new."""
        new = [item for item in news if item.id in self.by_id and hearer not in item.hearers]
        rows = [
            models.SharedEntry(
                assistant_id=rumour.assistant, at=now, entry=rumour.entry, source=teller,
                scope=f"{ONE_MIND}{hearer}", teller=rumour.first, learnt_at=rumour.learnt_at,
                available_from=at, importance=1, trust=0.0,
            )
            for rumour in new
        ]  # fmt: skip
        with brief_transaction():
            rows = insert_rows(rows)
        return sum(map(self._take_in, rows))

    def retract(self, rumour: Rumour) -> int:
        """Let everybody forget a rumour; returns how many knew it."""
        count = len(rumour.hearers)
        with brief_transaction(rumour.assistant):
            delete_rows(models.SharedEntry, [rumour.id])  # `drop` deletes the others
        return count

    def drop(self, ids: Iterable[int]) -> None:
        """Note that rows were deleted; a rumour's other rows go with the first one."""
        if not self._rows.keys().isdisjoint(ids):
            self.is_stale = True  # their transaction may fail
            self._drop(set(ids))

    def _drop(self, gone: set[int]) -> None:
        firsts = gone & self.by_id.keys()
        rows = self._rows.items() if firsts else ()
        left = [at for at, (number, _) in rows if number in firsts and at not in gone]
        for number, who in (self._rows.pop(at) for at in gone & self._rows.keys()):
            self.by_id[number].hearers.pop(who, None)
            self.known_by[who].discard(number)
        if left:
            delete_rows(models.SharedEntry, left)  # tells us of them, while their rumour is known
        for rumour in map(self.by_id.pop, firsts):
            del self._by_key[rumour.assistant, rumour.entry]
            self.tell_watchers(rumour.record, None)


@dataclass(frozen=True, eq=False)
class HeardRumours:
    """The rumours that a character heard, a `ports.MemorySource`; its own stand in its journal."""

    _mind: MindContext
    _rumours: RumourStore
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
        by_id, me, world = self._rumours.by_id, self._mind.character.dbref, self._mind.world
        known = self._rumours.known_by.get(me, ())
        tellings = {number: by_id[number].hearers[me] for number in known}
        ids = [f"r{number}" for number, it in tellings.items() if it.teller and it.at <= now]
        matches = self._index.search(query, limit, None, now, keep, among=ids) if ids else []
        numbers = [int(match.record["id"][1:]) for match in matches]
        stored = set(rumour_rows().filter(id__in=numbers).values_list("id", flat=True))
        news: list[MemoryMatch] = []
        for number, match in zip(numbers, matches, strict=True):
            if number in stored:  # another server may have taken it back
                telling = tellings[number]
                teller = world.name_of(self._mind.character, telling.teller) or "somebody"
                origin = {"kind": "hearsay", "label": f", {teller} told you"}
                record = {**match.record, **origin, "timestamp": telling.at.isoformat()}
                news.append(replace(match, record=record))
        return news
