"""The match between a journal and long-term memory (mem0).

The journal is the truth. A memory fits only if the entry it was made from still has the same
content and the same audience.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    """One stored memory and its entry."""

    id: str
    entry: str
    audience: str = PUBLIC
    digest: str = ""


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


def match_memories(entry: Record, rows: Sequence[MemoryRow]) -> tuple[str, list[str]]:
    """Return which of an entry's memories to keep, empty for none, and which to delete."""
    # Of several that fit, the one that the entry names stays.
    digest, named = digest_of(entry), memory_of(entry)
    fitting = sorted((row.id for row in rows if row.digest == digest), key=named.__ne__)
    keep = fitting[0] if fitting else ""
    return keep, [row.id for row in rows if row.id != keep]
