"""Which records are forgotten: faded journal entries, and those of people who ask for it.

An entry fades if it is of little importance, old, and rarely looked up. An entry that somebody
chose to keep never fades, nor does an entry that a current value or a reflection was made from.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evennia_ai.messages import Audience
from evennia_ai.policy.records.record import Record

DAY_S = 86_400.0
# Nothing automatic removes what a builder wrote, or the summary of evicted messages.
LASTING = frozenset({"builder", "compaction"})
# Entries of these kinds cite their sources in their links.
CITING = frozenset({"reflection"})


@dataclass(frozen=True)
class Fading:
    """The conditions under which an entry may be forgotten; all must hold."""

    retention: float = 0.05  # highest, 0 to 1
    importance: int = 4  # highest, 1 to 10
    age_days: float = 14.0  # lowest
    floor: int = 200  # entries that a journal always keeps


def retention(age_days: float, recalls: int, importance: int) -> float:
    """Return how much of a memory is left: e^(−t/S), S = 1 + recalls + importance/2, t in days.

    Ebbinghaus' curve as in MemoryBank, whose released code lets stronger memories fade faster.
    """
    return math.exp(-max(0.0, age_days) / (1.0 + recalls + importance / 2.0))


def age_in_days(entry: Record, now: datetime) -> float:
    return (now - datetime.fromisoformat(entry["timestamp"])).total_seconds() / DAY_S


def retention_of(entry: Record, now: datetime) -> float:
    return retention(age_in_days(entry, now), entry.get("recalls", 0), entry["importance"])


def is_lasting(entry: Record) -> bool:
    """Return True for what nothing automatic removes: pinned, given, a builder's, or a summary."""
    return entry["pinned"] or entry["source_type"] in LASTING or entry["importance_by"] == "given"


def is_faded(entry: Record, now: datetime, fading: Fading) -> bool:
    """Return True if an entry is unimportant, old and faded, and nobody kept it."""
    return (
        not is_lasting(entry)
        and entry["importance"] <= fading.importance
        and age_in_days(entry, now) >= fading.age_days
        and retention_of(entry, now) <= fading.retention
    )


def cited_by(entry: Record) -> list[str]:
    """Return the ids of the sources that must stay as long as this entry does."""
    return list(entry["links"]) if entry["source_type"] in CITING else []


def sources_in_use(values: Iterable[Record]) -> frozenset[str]:
    """Return the ids of the sources of all attribute values that still hold."""
    live = (value["sources"] for value in values if value["valid_to"] is None)
    return frozenset(source for ids in live for source in ids)


def select_to_forget(
    faded: Sequence[tuple[float, str]], kept: Collection[str], total: int, floor: int
) -> list[str]:
    """Return the ids to forget, most faded first; ``kept`` and ``floor`` of ``total`` stay."""
    most = max(0, total - floor)
    return [entry_id for _left, entry_id in sorted(faded) if entry_id not in kept][:most]


FORGOTTEN = "#0"
BUILDER, SUMMARY = "builder", "compaction"  # a summary names only the ends of its messages
# Fields whose values are one of a few fixed words.
FIXED = frozenset({"source_type", "importance_by", "kind", "state", "origin", "act"})
# Values that are ids, numbers of objects or times, not words.
NO_WORDS = re.compile(r"(?:[#a-z]\d+|\d{4}-\d\d-\d\d[T ][\d:.+Z-]+)?")


@dataclass(frozen=True)
class ToForget:
    """Who is forgotten, the messages that go, and how to know their words in a text.

    ``without_words`` takes each of their words out of a text, and their names if it is told so;
    ``names_them`` tells whether a text names them.
    """

    people: Audience
    seqs: Collection[int]
    holds_words: Callable[[str], bool]
    without_words: Callable[[str, bool], str] = lambda text, _and_names: text
    names_them: Callable[[str], bool] = lambda _text: False

    def left_of(self, record: Record, gone: Collection[str] = ()) -> Record | None:
        """Return what stays of a record: itself, a copy without their number, or None."""
        # ``gone`` has the ids of the character's records that were removed before.
        if is_builders(record):
            confidants = record["audience"]  # None, or those who alone may ever know it
            is_theirs = bool(confidants) and self.people.issuperset(confidants)
            return None if is_theirs else self.without_them(record, ())
        if self.is_theirs(record) or self.comes_from(record, gone):
            return None
        words = words_in(record)
        if self.holds_words(words):
            return None
        authors = record["speakers"]
        is_of_theirs = not self.people.isdisjoint(authors)
        if not authors or is_of_theirs or self.names_them(words):
            record = with_texts(record, lambda text: self.without_words(text, is_of_theirs))
        return self.without_them(record, (FORGOTTEN,))

    def is_theirs(self, record: Record) -> bool:
        """Return True if a record is about them, private to them, or theirs as far as is known."""
        # If several people's words may be in it and its messages are unknown, it is theirs.
        named = (record.get(name, "") for name in ("entity", "subject", "source_entity"))
        if self.people.intersection(named):
            return True
        others = set(record["speakers"]) - self.people - {FORGOTTEN}
        confidants = frozenset(record["audience"] or ())
        shared = confidants - self.people if others or record["source_entity"] else frozenset()
        if confidants & self.people and not shared:
            return True
        if self.people.isdisjoint(record["speakers"]):
            return False
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
        left = {
            "speakers": speakers,
            "source_seqs": [seq for seq in record["source_seqs"] if seq not in self.seqs],
        }
        if instead and record["audience"]:  # a builder's confidants stay those that were named
            left["audience"] = [item for item in record["audience"] if item not in self.people]
        is_same = all(record[name] == value for name, value in left.items())
        return record if is_same else {**record, **left}


def is_builders(record: Record) -> bool:
    return BUILDER in (record["source_type"], record.get("origin"))


def words_in(record: Record) -> str:
    texts_found: list[str] = []

    def note(text: str) -> str:
        texts_found.append(text)
        return text

    with_texts(record, note)
    return "\n".join(texts_found)


def with_texts(record: Record, change: Callable[[str], str]) -> Record:
    """Return a record after a change of each text that may hold words; itself if none changes."""

    def changed(value: Any) -> Any:
        return change(value) if isinstance(value, str) and not NO_WORDS.fullmatch(value) else value

    left = {
        name: [changed(item) for item in value] if isinstance(value, list) else changed(value)
        for name, value in record.items()
        if name not in FIXED
    }
    return record if all(record[name] == value for name, value in left.items()) else record | left
