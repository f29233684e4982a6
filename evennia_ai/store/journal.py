"""A character's journal: `character.journal`, as Evennia's ``.traits`` or ``.buffs``."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from evennia_ai.messages import Audience
from evennia_ai.policy.records.journal_entry import (
    JournalEntry,
    change_entry,
    make_entry,
    merge_entries,
    sameness,
)
from evennia_ai.policy.records.provenance import Record, copy_of, select_known
from evennia_ai.policy.records.shared_memory import is_as_told
from evennia_ai.policy.retrieval.relevance import content_words, score_documents
from evennia_ai.store.archive import JournalArchive
from evennia_ai.store.record_store import RecordStore, copies_known
from evennia_ai.store.shared_entries import withdraw


class Journal(RecordStore):
    """Entries of `evennia_ai.policy.records.journal_entry.JournalEntry`'s fields, as plain
    dicts."""

    kind = "ai_journal"
    prefix = "j"
    model = JournalEntry

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        self._ids_by_content: dict[bytes, str] = {}
        self._words: dict[str, tuple[str, ...]] = {}
        self._pinned: dict[str, Record] = {}
        self._waiting: dict[str, None] = {}
        self._ears: Counter[tuple[str, ...] | None] = Counter()
        self.recalls: Counter[str] = Counter()
        self.asked_about: set[str] = set()
        # ISO time up to which a reflection saw to everything, though nothing may have come of it.
        self.reflected_upto = ""

    def pinned(self, audience: Audience | None = None, discretion: str = "strict") -> list[Record]:
        """The pinned entries that all of an audience may know, in the order they were pinned; of a
        journal that is loaded, which costs nothing."""
        return copies_known(self._pinned.values(), audience, discretion)

    def newest(
        self, limit: int, audience: Audience | None = None, discretion: str = "strict"
    ) -> list[Record]:
        """Of so many newest entries those that all of an audience may know, oldest first; of a
        journal that is loaded."""
        return copies_known(deque(self.held(), limit), audience, discretion)

    def add(
        self, content: str, *, named: bool = False, first_meeting: bool = False, **fields: Any
    ) -> str:
        """Write something down; returns the entry's id.

        What is there already, in the same words and for the same ears, is not written twice: that
        entry takes in the sources, tags and links. An ``id`` that is there already is left as it
        is. Everything is one transaction.

        Args:
            content: one fact.
            named: whether the character was called by its name; for the importance.
            first_meeting: whether it is about somebody new; likewise.
            **fields: any of the entry's. ``audience`` None is public, else the dbrefs of those
                who alone may know; without ``importance`` a rule of thumb gives one.

        Raises:
            BadRecord: a field does not fit, or there is none of that name.
            StoreUnavailable: the database cannot be written now; nothing has changed.
        """
        own_id = fields.pop("id", None)
        if own_id is not None and self.segments.get(own_id):
            return str(own_id)
        entry = make_entry(
            own_id or self.segments.next_id,
            content,
            self.now(),
            fields,
            named=named,
            first_meeting=first_meeting,
        )
        return self.put_or_merge(entry, self._find_same(entry), merge_entries)

    def add_all(self, entries: Iterable[Mapping[str, Any]]) -> int:
        """Write several entries down in one transaction; returns how many are new. Each is given by
        its fields, with an ``id`` of its own and what else `add` takes; one whose id is there
        already, or that says what another does to the same ears, is passed over. Raises BadRecord
        and StoreUnavailable."""
        new: dict[bytes, Record] = {}
        for fields in entries:
            own = {name: fields[name] for name in fields if name not in ("id", "content")}
            entry = make_entry(fields["id"], fields["content"], self.now(), own)
            if not self.segments.get(entry["id"]) and not self._find_same(entry):
                new.setdefault(sameness(entry), entry)
        if new:
            self.segments.change({}, *new.values())
        return len(new)

    @property
    def archive(self) -> JournalArchive:
        """Where entries went that faded."""
        return JournalArchive.of(self.obj)

    def count_recalls(self, ids: Iterable[str]) -> None:
        """Note that entries were looked up. It costs no write: see `store_recalls`."""
        self.recalls.update(ids)

    def store_recalls(self, ids: Sequence[str]) -> int:
        """Write down how often some entries were looked up since the last time; returns how many
        of them there still are. Raises StoreUnavailable."""
        entries = [entry for entry in map(self.segments.get, ids) if entry]
        grown = {e["id"]: {**e, "recalls": e["recalls"] + self.recalls[e["id"]]} for e in entries}
        if grown:
            self.segments.change(grown)
        for known in ids:
            del self.recalls[known]
        return len(grown)

    def has(self, content: str, audience: Audience | None = None) -> bool:
        """True where this is written down already, for the same ears."""
        fields = {"audience": None if audience is None else sorted(audience)}
        return self._find_same(make_entry("new", content, self.now(), fields)) is not None

    def search(
        self,
        words: str,
        audience: Audience | None = None,
        limit: int = 10,
        discretion: str = "strict",
    ) -> list[Record]:
        """The entries nearest to some words, best first, of equals the newest first (BM25).

        Args:
            words: what is looked for.
            audience: dbrefs of everybody who will hear what comes of it: only what all of them may
                know is looked at. None finds what is public.
            limit: how many at most.
            discretion: "trusting" looks at everything.
        """
        known = select_known(self.segments.all(), audience, discretion)
        scores = score_documents(words, [self._words[entry["id"]] for entry in known])
        found = [(score, index) for index, score in enumerate(scores) if score > 0]
        best = sorted(found, reverse=True)[:limit]
        return [copy_of(known[index]) for _score, index in best]

    @property
    def waiting_count(self) -> int:
        """How many entries that are loaded long-term memory does not have."""
        return len(self._waiting)

    def waiting(self, limit: int, but: Container[str] = ()) -> list[Record]:
        """Entries that long-term memory does not have, of a journal that is loaded, without some
        by their ids."""
        ids = (entry_id for entry_id in self._waiting if entry_id not in but)
        return [copy_of(entry) for entry in self.segments.select(islice(ids, limit))]

    def audiences(self) -> list[Audience | None]:
        """Every audience that an entry of a journal that is loaded has, once; None is public."""
        return [None if ears is None else frozenset(ears) for ears in +self._ears]

    # --- overridden -----------------------------------------------------------------------------

    def changed(self, record: Record, fields: Mapping[str, Any]) -> Record:
        """An entry with some fields changed; raises BadRecord."""
        return change_entry(record, fields)

    def noticed(self, old: Record | None, new: Record | None) -> None:
        """Keep the words, the way from content to id, and what there is for others to ask."""
        if old:
            self._waiting.pop(old["id"], None)
            self._ears[ears_of(old)] -= 1
            self._pinned.pop(old["id"], None)
            self._words.pop(old["id"], None)
            if self._ids_by_content.get(sameness(old)) == old["id"]:
                del self._ids_by_content[sameness(old)]
        if new:
            self._ears[ears_of(new)] += 1
            if not new["consolidated"]:
                self._waiting[new["id"]] = None
            if new["pinned"]:
                self._pinned[new["id"]] = new
            self._words[new["id"]] = tuple(content_words(" ".join([new["content"], *new["tags"]])))
            self._ids_by_content.setdefault(sameness(new), new["id"])

    def storing(self, replaced: list[tuple[Record, Record | None]]) -> None:
        """What others were told of an entry that says something else now, or nothing any more, is
        taken back in the same transaction."""
        other = [old["id"] for old, new in replaced if not is_as_told(old, new)]
        if other:
            withdraw(self.obj.dbref, other)

    def _find_same(self, entry: Record) -> Record | None:
        """The entry that says the same to the same ears."""
        self.segments.load_all()
        known = self._ids_by_content.get(sameness(entry))
        return self.segments.get(known) if known else None


def ears_of(entry: Record) -> tuple[str, ...] | None:
    """An entry's audience as it can be counted."""
    return None if entry["audience"] is None else tuple(entry["audience"])
