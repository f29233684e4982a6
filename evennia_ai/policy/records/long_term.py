"""The match between a journal and long-term memory (mem0).

The journal is the truth. A memory fits only if the entry it was made from still has the same
content and the same audience.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evennia_ai.policy.records.provenance import Record

LINK = "mem0:"
PUBLIC = "public"


@dataclass(frozen=True)
class MemoryItem:
    """One journal entry as long-term memory stores it."""

    entry: str
    text: str
    audience: str  # a key, see `audience_key`
    speakers: tuple[str, ...]  # dbrefs of those whose words may be in it
    digest: str  # a short hash of content and audience


@dataclass(frozen=True)
class MemoryRow:
    """One stored memory and its entry; ``score`` is its similarity to a query."""

    id: str
    entry: str
    audience: str = PUBLIC
    digest: str = ""
    score: float = 0.0


@dataclass(frozen=True)
class Stored:
    """The id of an item's memory, and whether it was already stored."""

    id: str
    was_there: bool = False


@dataclass(frozen=True)
class Match:
    """The memory of an entry to keep, empty for none, and those to remove."""

    keep: str = ""
    superfluous: tuple[str, ...] = ()


def agent_of(character_id: int) -> str:
    """Return a character's name in long-term memory."""
    return f"npc_{character_id}"


def audience_key(audience: Iterable[str] | None) -> str:
    """Return a name for an audience that a store can filter by: "public", "5_7"."""
    if audience is None:
        return PUBLIC
    return "_".join(sorted(dbref.lstrip("#") for dbref in audience)) or "nobody"


def make_item(entry: Record) -> MemoryItem:
    """Return a journal entry as long-term memory stores it."""
    key = audience_key(entry["audience"])
    return MemoryItem(
        entry["id"], entry["content"], key, tuple(entry["speakers"]), digest_of(entry)
    )


def digest_of(entry: Record) -> str:
    """Return a short hash of an entry's content and audience."""
    said = f"{audience_key(entry['audience'])}\0{entry['content']}"
    return hashlib.blake2b(said.encode(), digest_size=12).hexdigest()


def memory_of(entry: Record) -> str:
    """Return the id of an entry's memory from its links, empty if there is none."""
    return next((link[len(LINK) :] for link in entry["links"] if link.startswith(LINK)), "")


def linked(entry: Record, memory_id: str) -> dict[str, object]:
    """Return the entry fields that name its memory; an empty id removes the link."""
    others = [link for link in entry["links"] if not link.startswith(LINK)]
    link = [f"{LINK}{memory_id}"] if memory_id else []
    return {"links": [*others, *link], "consolidated": bool(memory_id)}


def needs_linking(entry: Record, memory_id: str) -> bool:
    """Return True if an entry's fields do not name exactly this memory."""
    fields = linked(entry, memory_id)
    return any(entry[name] != value for name, value in fields.items())


def match_memories(entry: Record, rows: Sequence[MemoryRow]) -> Match:
    """Choose which of an entry's memories stays; the one that it names comes first."""
    digest, named = digest_of(entry), memory_of(entry)
    fitting = sorted((row.id for row in rows if row.digest == digest), key=named.__ne__)
    keep = fitting[0] if fitting else ""
    return Match(keep, tuple(row.id for row in rows if row.id != keep))


def best_rows(rows: Iterable[MemoryRow], limit: int) -> list[MemoryRow]:
    """Return the best rows of a search, each memory once."""
    by_id = {row.id: row for row in rows}
    return sorted(by_id.values(), key=lambda row: (-row.score, row.id))[:limit]


@dataclass(frozen=True)
class Tally:
    """The figures of one pass of consolidation."""

    stored: int = 0  # new memories
    linked: int = 0  # entries that now name theirs
    already_there: int = 0  # such as after a lost acknowledgement
    failed: int = 0  # entries that could not be stored
    left: int = 0  # for a later pass

    def after(self, tried: int, stored: Mapping[str, Stored], linked: int) -> Tally:
        """Return these figures with another batch added."""
        there = sum(one.was_there for one in stored.values())
        return replace(
            self,
            stored=self.stored + len(stored) - there,
            linked=self.linked + linked,
            already_there=self.already_there + there,
            failed=self.failed + tried - len(stored),
        )
