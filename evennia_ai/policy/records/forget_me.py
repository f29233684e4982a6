"""What "forget me" leaves of a record of a character.

A record goes if it is about, from or private to somebody who is forgotten, if it was made of their
messages, or if it holds their words. What a builder wrote stays, unless only they may know it. In
all records that stay, `FORGOTTEN` takes the place of their number: it is nobody's, so that no tool
trusts such a record more than before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from evennia_ai.messages import Audience
from evennia_ai.policy.records.forgetting import cited_by
from evennia_ai.policy.records.provenance import Record

FORGOTTEN = "#0"
BUILDER, SUMMARY = "builder", "compaction"  # a summary names only the ends of its messages
# Fields whose values are one of a few fixed words.
FIXED = frozenset({"source_type", "importance_by", "kind", "state", "origin", "act"})
# Values that are ids, numbers of objects or times, not words.
NO_WORDS = re.compile(r"(?:[#a-z]\d+|\d{4}-\d\d-\d\d[T ][\d:.+Z-]+)?")


@dataclass(frozen=True)
class ToForget:
    """Who is forgotten, the messages that go, and how to know their words in a text."""

    people: Audience
    seqs: Collection[int]
    holds_words: Callable[[str], bool]

    def left_of(self, record: Record, gone: Collection[str] = ()) -> Record | None:
        """Return what stays of a record: itself, a copy without their number, or None."""
        # ``gone`` has the ids of the character's records that were removed before.
        if is_builders(record):
            confidants = record["audience"]  # None, or those who alone may ever know it
            is_theirs = bool(confidants) and self.people.issuperset(confidants)
            return None if is_theirs else self.without_them(record, ())
        if self.is_theirs(record) or self.comes_from(record, gone):
            return None
        if self.holds_words(words_in(record)):
            return None
        return self.without_them(record, (FORGOTTEN,))

    def is_theirs(self, record: Record) -> bool:
        """Return True if a record is about them, private to them, or theirs as far as is known."""
        # If several people's words may be in it and its messages are unknown, it is theirs.
        named = (record.get(name, "") for name in ("entity", "subject", "source_entity"))
        if self.people.intersection([*named, *(record["audience"] or ())]):
            return True
        if self.people.isdisjoint(record["speakers"]):
            return False
        others = set(record["speakers"]) - self.people - {FORGOTTEN}
        is_known = record["source_seqs"] and record["source_type"] != SUMMARY
        return not (others and is_known)

    def comes_from(self, record: Record, gone: Collection[str]) -> bool:
        """Return True if a record was made of a message or a record that goes."""
        # A record of others may name all messages of a turn in which these people were overheard.
        sources = {*cited_by(record), *record.get("sources", ())} if gone else set()
        if sources.intersection(gone):
            return True
        going = [seq in self.seqs for seq in record["source_seqs"]]
        others = record["speakers"] and self.people.isdisjoint(record["speakers"])
        return bool(going) and (all(going) if others else any(going))

    def without_them(self, record: Record, instead: Iterable[str]) -> Record:
        """Return a record without their number and their messages, itself if it has neither."""
        speakers = [dbref for dbref in record["speakers"] if dbref not in self.people]
        if len(speakers) != len(record["speakers"]):
            speakers = sorted({*speakers, *instead})
        seqs = [seq for seq in record["source_seqs"] if seq not in self.seqs]
        if speakers == record["speakers"] and seqs == record["source_seqs"]:
            return record
        return {**record, "speakers": speakers, "source_seqs": seqs}


def is_builders(record: Record) -> bool:
    """Return True for what a builder wrote by hand."""
    return BUILDER in (record["source_type"], record.get("origin"))


def words_in(record: Record) -> str:
    """Return all texts of a record as one."""
    found: list[str] = []
    for name, value in record.items():
        texts = value if isinstance(value, list) else [value] if name not in FIXED else []
        found += [one for one in texts if isinstance(one, str) and not NO_WORDS.fullmatch(one)]
    return "\n".join(found)
