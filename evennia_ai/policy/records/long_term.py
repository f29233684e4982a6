"""What of a journal long-term memory holds, and what is out of step between the two.

The journal is the truth: a memory counts for nothing unless the entry it was made from still says
the same to the same ears.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evennia_ai.messages import Audience
from evennia_ai.policy.audience import visible
from evennia_ai.policy.records.provenance import Record, is_known_to

LINK = "mem0:"
PUBLIC = "public"


@dataclass(frozen=True)
class MemoryItem:
    """One journal entry as long-term memory is to hold it.

    ``audience`` is the key of those who alone may know of it, ``speakers`` are the dbrefs of those
    whose words may be in it, ``digest`` is short and differs where the words or the ears differ.
    """

    entry: str
    text: str
    audience: str
    speakers: tuple[str, ...]
    digest: str


@dataclass(frozen=True)
class MemoryRow:
    """One memory as it is stored: its id, and what it was made from. ``score`` is its likeness to
    what was searched for."""

    id: str
    entry: str
    audience: str = PUBLIC
    digest: str = ""
    score: float = 0.0


@dataclass(frozen=True)
class Stored:
    """Where an item is now: the id of its memory, and whether that was there before."""

    id: str
    was_there: bool = False


@dataclass(frozen=True)
class Match:
    """What becomes of one entry's memories: the id of the one that stays, empty for none, and the
    ids of those that go."""

    keep: str = ""
    superfluous: tuple[str, ...] = ()


def agent_of(character_id: int) -> str:
    """What a character is called in long-term memory, by its number."""
    return f"npc_{character_id}"


def audience_key(audience: Iterable[str] | None) -> str:
    """A name for an audience that a store can filter by: "public", or as "5_7"."""
    if audience is None:
        return PUBLIC
    return "_".join(sorted(dbref.lstrip("#") for dbref in audience)) or "nobody"


def make_item(entry: Record) -> MemoryItem:
    """A journal entry as long-term memory is to hold it."""
    key = audience_key(entry["audience"])
    return MemoryItem(
        entry["id"], entry["content"], key, tuple(entry["speakers"]), digest_of(entry)
    )


def digest_of(entry: Record) -> str:
    """What two entries share that say the same to the same ears."""
    said = f"{audience_key(entry['audience'])}\0{entry['content']}"
    return hashlib.blake2b(said.encode(), digest_size=12).hexdigest()


def memory_of(entry: Record) -> str:
    """The id of an entry's memory as its links name it, empty for none."""
    return next((link[len(LINK) :] for link in entry["links"] if link.startswith(LINK)), "")


def linked(entry: Record, memory_id: str) -> dict[str, object]:
    """The fields of an entry that name its memory; an empty id is for none."""
    others = [link for link in entry["links"] if not link.startswith(LINK)]
    link = [f"{LINK}{memory_id}"] if memory_id else []
    return {"links": [*others, *link], "consolidated": bool(memory_id)}


def needs_linking(entry: Record, memory_id: str) -> bool:
    """True where an entry does not name just this memory; an empty id is for none."""
    fields = linked(entry, memory_id)
    return any(entry[name] != value for name, value in fields.items())


def match_memories(entry: Record, rows: Sequence[MemoryRow]) -> Match:
    """Choose which of the memories made from an entry stays: one that says the same to the same
    ears, the one that the entry names before any other."""
    digest, named = digest_of(entry), memory_of(entry)
    fitting = sorted((row.id for row in rows if row.digest == digest), key=named.__ne__)
    keep = fitting[0] if fitting else ""
    return Match(keep, tuple(row.id for row in rows if row.id != keep))


def permitted_keys(
    audiences: Iterable[Audience | None], prompt_audience: Audience, discretion: str = "strict"
) -> list[str] | None:
    """Which memories may be searched for a prompt, by their audiences' keys; None is all of them.

    Args:
        audiences: those that the journal's entries have.
        prompt_audience: dbrefs of everybody who will hear what comes of it.
        discretion: the assistant's own.
    """
    if discretion == "trusting":
        return None
    permitted = {audience_key(a) for a in audiences if visible(a, prompt_audience)}
    return sorted({PUBLIC, *permitted})


def best_rows(rows: Iterable[MemoryRow], limit: int) -> list[MemoryRow]:
    """The rows nearest to what was searched for, each memory once."""
    by_id = {row.id: row for row in rows}
    return sorted(by_id.values(), key=lambda row: (-row.score, row.id))[:limit]


def select_true(
    rows: Iterable[MemoryRow],
    entry_of: Callable[[str], Record | None],
    audience: Audience,
    discretion: str = "strict",
) -> list[tuple[Record, float]]:
    """The entries that memories lead to, with their scores, once each and in the rows' order.

    What the journal does not hold any more, holds in other words, or may not tell this audience, is
    left out, whatever the store says.
    """
    found: dict[str, tuple[Record, float]] = {}
    for row in rows:
        entry = entry_of(row.entry)
        if entry is None or entry["id"] in found or digest_of(entry) != row.digest:
            continue
        if is_known_to(entry, audience, discretion):
            found[entry["id"]] = (entry, row.score)
    return list(found.values())


@dataclass(frozen=True)
class Tally:
    """What one pass of consolidation came to.

    ``stored`` memories are new; ``already_there`` were found in the store, such as after an
    acknowledgement that was lost; ``linked`` entries name their memory now; ``failed`` could not be
    stored; ``left`` wait for a later pass.
    """

    stored: int = 0
    linked: int = 0
    already_there: int = 0
    failed: int = 0
    left: int = 0

    def after(self, tried: int, stored: Mapping[str, Stored], linked: int) -> Tally:
        """The same with another batch counted."""
        there = sum(one.was_there for one in stored.values())
        return replace(
            self,
            stored=self.stored + len(stored) - there,
            linked=self.linked + linked,
            already_there=self.already_there + there,
            failed=self.failed + tried - len(stored),
        )
