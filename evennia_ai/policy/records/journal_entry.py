"""What an entry of a journal is, and when two entries say the same."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

from pydantic import Field

from evennia_ai.policy.records.importance_rule import score_importance
from evennia_ai.policy.records.long_term import LINK
from evennia_ai.policy.records.provenance import (
    Labels,
    Record,
    Remembered,
    Time,
    Words,
    changed_record,
    iso_utc,
    make_record,
    read_record,
    united,
)

BY_RULE, GIVEN = "rule", "given"
LOOSE_ENDS = " .!…;,\"'”“»«"


class JournalEntry(Remembered):
    """One entry.

    Attributes:
        timestamp: when it was written, ISO-8601 UTC.
        content: the fact, in the character's own words.
        importance: 1 to 10.
        importance_by: how that was scored: ``rule``, ``model``, or ``given`` by code or a builder.
        tags: free words.
        links: ids of what belongs to it in other stores, or of other entries.
        pinned: never removed by anything automatic.
        consolidated: whether long-term memory has it.
        recalls: how often it was looked up: what is, is forgotten later.
    """

    timestamp: Time
    content: Words
    importance: int = Field(ge=1, le=10)
    importance_by: str = BY_RULE
    tags: Labels = Field(default_factory=list)
    links: Labels = Field(default_factory=list)
    pinned: bool = False
    consolidated: bool = False
    recalls: int = Field(default=0, ge=0)


# Read a stored entry; raises BadRecord.
read_entry = partial(read_record, JournalEntry)


def make_entry(
    id: str,
    content: str,
    at: datetime,
    fields: Mapping[str, object],
    *,
    named: bool = False,
    first_meeting: bool = False,
) -> Record:
    """A new entry; raises BadRecord.

    Args:
        id: its id.
        content: the fact.
        at: when it is written, unless ``fields`` has a ``timestamp``.
        fields: any of `JournalEntry`'s. Without an importance the rule of thumb gives one.
        named: for that rule: the character was called by its name.
        first_meeting: for that rule: it is about somebody new.
    """
    scored = {
        "importance": score_importance(content, named=named, first_meeting=first_meeting),
        "importance_by": BY_RULE,
    }
    given = {name: value for name, value in fields.items() if value is not None}
    if "importance" in given:
        scored = {"importance_by": GIVEN}
    return make_record(
        JournalEntry, {"timestamp": at, **scored, **given, "id": id, "content": content}
    )


def change_entry(entry: Record, fields: Mapping[str, object]) -> Record:
    """An entry with some fields changed; raises BadRecord. Where it says something else now, or to
    other ears, long-term memory does not have it any more."""
    scored = {"importance_by": GIVEN} if "importance" in fields else {}
    differs = any(fields.get(name, entry[name]) != entry[name] for name in ("content", "audience"))
    anew = {"consolidated": False} if differs else {}
    return changed_record(JournalEntry, entry, {**scored, **anew, **fields})


def merge_entries(entry: Record, again: Record) -> Record:
    """An entry that was written a second time: it has the sources, tags and links of both, and
    whatever counts for more."""
    lists = united(entry, again, ("speakers", "source_seqs", "tags", "links"))
    weightier = max(entry, again, key=lambda item: item["importance"])
    return change_entry(
        entry,
        {
            **lists,
            "importance": weightier["importance"],
            "importance_by": weightier["importance_by"],
            "trust": max(entry["trust"], again["trust"]),
            "pinned": entry["pinned"] or again["pinned"],
        },
    )


def normalised(content: str) -> str:
    """A text as it is compared: without case, spacing, and what stands loose at its ends."""
    folded = unicodedata.normalize("NFKC", content).casefold()
    plain = " ".join(folded.split())
    return plain.strip(LOOSE_ENDS) or plain


def sameness(record: Record, *more: str) -> bytes:
    """A short key that two records share where they say the same to the same ears.

    ``more`` is whatever else must be alike.
    """
    audience = record["audience"]
    ears = "*" if audience is None else ",".join(audience)
    text = "\0".join([ears, *more, normalised(record["content"])])
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


class ArchivedEntry(JournalEntry):
    """An entry as it was; ``archived_at`` is when it was put away, ISO-8601 UTC."""

    archived_at: Time


def archived(entry: Record, at: datetime) -> Record:
    """An entry that is put away now."""
    return {**entry, "archived_at": iso_utc(at)}


def brought_back(entry: Record) -> Record:
    """An entry as it goes back into its journal. Somebody wanted it, so that its weight counts as
    given; long-term memory does not have it any more."""
    plain = {name: value for name, value in entry.items() if name != "archived_at"}
    links = [link for link in plain["links"] if not link.startswith(LINK)]
    return {**plain, "links": links, "consolidated": False, "importance_by": GIVEN}


# Read a stored archived entry, or return one with changed fields; both raise BadRecord.
read_archived = partial(read_record, ArchivedEntry)
change_archived = partial(changed_record, ArchivedEntry)


def is_over(entry: Record, now: datetime, days: float) -> bool:
    """True where an entry has been away for so many days."""
    return now - datetime.fromisoformat(entry["archived_at"]) >= timedelta(days=days)
