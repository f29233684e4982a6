"""The journal entries of a compaction: one for each audience's part of the summary.

The entries follow from the compaction's record alone, so that they can be written after a crash
and removed by an undo.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from evennia_ai.messages import Message
from evennia_ai.policy.authors import of_messages
from evennia_ai.policy.context.projection import (
    PUBLIC,
    CompactionRecord,
    part_audience,
    split_by_audience,
)
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.retrieval.relevance import score_texts

TITLE = "[CONTEXT SYNTHESIS]"
SOURCE = "compaction"
TAGS = (SOURCE, "synthesis")
IMPORTANCE = 7
PREFIX = "compact_"


def synthesis_entries(record: CompactionRecord) -> dict[str, dict[str, Any]]:
    """Return the fields of each journal entry of a stored compaction, by the entry's id."""
    return {
        entry_id: entry_fields(record, key)
        for key, entry_id in synthesis_ids(record).items()
        if record.summary[key].strip()
    }


def synthesis_ids(record: CompactionRecord) -> dict[str, str]:
    """Return each part's entry id: the compaction's time and a number, 1 for the public part."""
    at = datetime.fromisoformat(record.compacted_at).astimezone(UTC)
    keys = sorted(record.summary, key=lambda key: (key != PUBLIC, key))
    return {key: f"{PREFIX}{at:%Y%m%dT%H%M%S%fZ}_{n}" for n, key in enumerate(keys, 1)}


def entry_fields(record: CompactionRecord, key: str) -> dict[str, Any]:
    """Return one part as fields of a journal entry, with its audience, authors and messages."""
    # ``source_seqs`` are the first and the last message of the range.
    audience = part_audience(key)
    return {
        "content": f"{TITLE}\n{record.summary[key].strip()}",
        "timestamp": record.compacted_at,
        "source_type": SOURCE,
        "speakers": list(record.speakers.get(key, ())),
        "source_seqs": [record.from_seq, record.upto_seq],
        "audience": None if audience is None else sorted(audience),
        "importance": IMPORTANCE,
        "tags": list(TAGS),
    }


def is_synthesis(entry: Mapping[str, Any]) -> bool:
    """Return True for an entry that a compaction wrote."""
    return bool(entry["source_type"] == SOURCE)


def speakers_of(
    messages: Iterable[Message], earlier: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return the authors of each part: the earlier ones, and those of the evicted messages."""
    found = {key: set(authors) for key, authors in earlier.items()}
    for key, evicted in split_by_audience(messages).items():
        found.setdefault(key, set()).update(of_messages(evicted))
    return {key: sorted(authors) for key, authors in found.items()}


def select_found(
    entries: Iterable[Record], record: CompactionRecord | None, most: int
) -> list[Record]:
    """Return the best search results, with at most one summary entry, as they are long."""
    # Entries of the compaction in force are left out, since the prompt holds them.
    in_view = set(synthesis_ids(record).values()) if record is not None else set()
    shown: list[Record] = []
    for entry in entries:
        crowds = is_synthesis(entry) and (entry["id"] in in_view or any(map(is_synthesis, shown)))
        if not crowds:
            shown.append(entry)
        if len(shown) == most:
            break
    return shown


def nearest_lines(content: str, words: str, most_chars: int) -> str:
    """Return the lines that match some words best, in order: at least one, and as many as fit."""
    lines = [line.strip() for line in content.splitlines() if line.strip() not in ("", TITLE)]
    scores = score_texts(words, lines)
    chosen: set[int] = set()
    for number in sorted(range(len(lines)), key=lambda number: -scores[number]):
        most_chars -= len(lines[number]) + 1
        if chosen and (most_chars < 0 or not scores[number]):
            break
        chosen.add(number)
    return " ".join(lines[number] for number in sorted(chosen))
