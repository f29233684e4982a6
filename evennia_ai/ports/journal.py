"""A character's journal and its archive: `character.journal` and `character.journal.archive`."""

from collections import Counter, deque
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from evennia_ai.messages import Audience
from evennia_ai.policy.records.journal_entry import (
    ArchivedEntry,
    JournalEntry,
    brought_back,
    make_entry,
    sameness,
)
from evennia_ai.policy.records.record import Record, copy_of, iso_utc, select_known
from evennia_ai.policy.retrieval.relevance import score_documents
from evennia_ai.policy.retrieval.words import find_words
from evennia_ai.ports.records import RecordStore, anew


class JournalArchive(RecordStore):
    """Pruned journal entries. No search, prompt or index uses them; "forget me" removes them."""

    kind = "ai_archive"
    prefix = "a"
    model = ArchivedEntry

    @anew
    def put_away(self, journal: RecordStore, *ids: str) -> int:
        """Move entries here; returns how many existed. A second call completes it after a crash."""
        entries = [entry for entry in map(journal.get, ids) if entry]
        now = iso_utc(self.now())
        new = [{**e, "archived_at": now} for e in entries if not self.find(e["id"])]
        self.change({}, *new)
        return journal.remove(*ids)

    @anew
    def bring_back(self, journal: RecordStore, id: str) -> Record:
        """Move an entry back into its journal; returns it. Raises KeyError.

        Its importance counts as given by hand, so that pruning does not archive it again.
        """
        back = brought_back(self.require(id))
        if journal.get(id) is None:
            journal.change({}, back)
        self.remove(id)
        return back

    def over(self, now: datetime, days: float) -> list[str]:
        """Return the ids of loaded entries that were archived at least ``days`` ago."""
        latest = now - timedelta(days=days)
        times = ((entry["id"], entry["archived_at"]) for entry in self.held())
        return [known for known, at in times if datetime.fromisoformat(at) <= latest]


class Journal(RecordStore):
    """Journal entries as plain dicts with the fields of `JournalEntry`."""

    kind = "ai_journal"
    prefix = "j"
    model = JournalEntry

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        self._ids_by_content: dict[bytes, str] = {}
        self._words: dict[str, tuple[str, ...]] = {}
        self._pinned: dict[str, Record] = {}
        self._waiting: dict[str, None] = {}
        self.recalls: Counter[str] = Counter()  # look-ups not stored yet, by entry id

    def pinned(self, audience: Audience | None = None, everything: bool = False) -> list[Record]:
        """Return the loaded pinned entries that all of an audience may know."""
        return self.copies_known(self._pinned.values(), audience, everything)

    def newest(
        self, limit: int, audience: Audience | None = None, everything: bool = False
    ) -> list[Record]:
        """Return those of the newest ``limit`` entries that all of an audience may know."""
        return self.copies_known(deque(self.held(), limit), audience, everything)

    @anew
    def add(
        self, content: str, *, named: bool = False, first_meeting: bool = False, **fields: Any
    ) -> str:
        """Store an entry, one fact; returns its id.

        If an entry with the same words and the same audience exists, it takes over the sources,
        tags and links of the new one. If the ``id`` given exists, nothing changes. Without
        ``importance``, a rule scores it: higher if the speaker ``named`` the character, or at a
        ``first_meeting``. Raises BadRecord if a field is unknown or its value does not fit.
        """
        own_id = fields.pop("id", None)
        if own_id is not None and self.find(own_id):
            return str(own_id)
        score = {"named": named, "first_meeting": first_meeting}
        entry = make_entry(own_id or self.next_id, content, self.now(), fields, **score)
        return self.keep(entry, self._find_same(entry))

    @anew
    def add_all(self, entries: Iterable[Mapping[str, Any]]) -> int:
        """Store several entries, each given by its fields, in one transaction; raises BadRecord.

        Those whose id, or whose words and audience exist are skipped. Returns how many are new.
        """
        new: dict[bytes, Record] = {}
        for fields in entries:
            own = {name: fields[name] for name in fields if name not in ("id", "content")}
            entry = make_entry(fields["id"], fields["content"], self.now(), own)
            if not self.find(entry["id"]) and not self._find_same(entry):
                new.setdefault(sameness(entry), entry)
        self.change({}, *new.values())
        return len(new)

    @property
    def archive(self) -> JournalArchive:
        """Return the archive of pruned entries."""
        return JournalArchive.of(self.obj)

    def count_recalls(self, ids: Iterable[str]) -> None:
        """Count look-ups of entries in memory; `store_recalls` writes them."""
        self.recalls.update(ids)

    @anew
    def store_recalls(self, ids: Sequence[str]) -> int:
        """Store the counted look-ups of some entries; returns how many still exist."""
        entries = [entry for entry in map(self.find, ids) if entry]
        grown = {e["id"]: {**e, "recalls": e["recalls"] + self.recalls[e["id"]]} for e in entries}
        self.change(grown)
        for known in ids:
            del self.recalls[known]
        return len(grown)

    def has(self, content: str, audience: Audience | None = None) -> bool:
        """Return True if an entry with this content and this audience exists."""
        fields = {"audience": None if audience is None else sorted(audience)}
        return self._find_same(make_entry("new", content, self.now(), fields)) is not None

    def search(self, words: str, audience: Audience | None = None, limit: int = 10) -> list[Record]:
        """Return the entries that all may know and match best (BM25); newest first if equal."""
        known = select_known(self.told(self.every()), audience)
        scores = score_documents(words, [self._words[entry["id"]] for entry in known])
        scored = [(score, index) for index, score in enumerate(scores) if score > 0]
        best = sorted(scored, reverse=True)[:limit]
        return [copy_of(known[index]) for _score, index in best]

    @property
    def waiting_count(self) -> int:
        """Return how many loaded entries are not in long-term memory."""
        return len(self._waiting)

    def waiting(self, limit: int, but: Container[str] = ()) -> list[Record]:
        """Return loaded entries that are not in long-term memory, except ``but``."""
        ids = (entry_id for entry_id in self._waiting if entry_id not in but)
        return [copy_of(entry) for entry in self.select(islice(ids, limit))]

    def noticed(self, old: Record | None, new: Record | None) -> None:
        """Update what is derived from entries: words, contents, pins, waiting."""
        if old:
            self._waiting.pop(old["id"], None)
            self._pinned.pop(old["id"], None)
            self._words.pop(old["id"], None)
            if self._ids_by_content.get(sameness(old)) == old["id"]:
                del self._ids_by_content[sameness(old)]
        if new:
            if not new["consolidated"]:
                self._waiting[new["id"]] = None
            if new["pinned"]:
                self._pinned[new["id"]] = new
            self._words[new["id"]] = tuple(find_words(" ".join([new["content"], *new["tags"]])))
            self._ids_by_content.setdefault(sameness(new), new["id"])

    def _find_same(self, entry: Record) -> Record | None:
        """Return the entry with the same words and audience, None if there is none."""
        self.load_all()
        known = self._ids_by_content.get(sameness(entry))
        return self.find(known) if known else None
