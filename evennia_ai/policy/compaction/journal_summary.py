"""What the journal keeps of a compaction: each audience's part of the summary, as an entry.

Which entries a compaction has follows from its record alone, so that what a crash left undone can
be made good at any time, and an undo knows what to take back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from evennia_ai.messages import Message
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
    """The journal's entries of a stored compaction, by id: the fields of each, its content among
    them. Always the same of the same record."""
    return {
        entry_id: entry_fields(record, key)
        for key, entry_id in synthesis_ids(record).items()
        if record.summary[key].strip()
    }


def synthesis_ids(record: CompactionRecord) -> dict[str, str]:
    """The id of each part's entry: the time of the compaction, and the part's number; the public
    part has 1, then come the others in the order of their names."""
    at = datetime.fromisoformat(record.compacted_at).astimezone(UTC)
    keys = sorted(record.summary, key=lambda key: (key != PUBLIC, key))
    return {key: f"{PREFIX}{at:%Y%m%dT%H%M%S%fZ}_{n}" for n, key in enumerate(keys, 1)}


def entry_fields(record: CompactionRecord, key: str) -> dict[str, Any]:
    """One part as an entry of the journal: known to whom the part is, and of the words of everybody
    who is in it."""
    audience = part_audience(key)
    return {
        "content": f"{TITLE}\n{record.summary[key].strip()}",
        "timestamp": record.compacted_at,
        "source_type": SOURCE,
        "speakers": list(record.speakers.get(key, ())),
        "audience": None if audience is None else sorted(audience),
        "importance": IMPORTANCE,
        "tags": list(TAGS),
    }


def is_synthesis(entry: Mapping[str, Any]) -> bool:
    """True for an entry that a compaction wrote."""
    return bool(entry["source_type"] == SOURCE)


def speakers_of(
    messages: Iterable[Message], earlier: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Whose words are in each part of a summary: those who were in it before, and those heard in
    what goes now."""
    found = {key: set(speakers) for key, speakers in earlier.items()}
    for key, heard in split_by_audience(messages).items():
        found.setdefault(key, set()).update(
            message["metadata"].get("speaker", "") for message in heard
        )
    return {key: sorted(speakers - {""}) for key, speakers in found.items()}


def select_found(
    entries: Iterable[Record], record: CompactionRecord | None, most: int
) -> list[Record]:
    """The entries of a search to be shown, best first: of syntheses the best alone, and none of the
    compaction in force, which the prompt holds already. They are long and repeat one another, and
    would crowd everything else out."""
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
    """The lines of a long text that are nearest to some words, in the text's order, as many as have
    room; the first at least."""
    lines = [line.strip() for line in content.splitlines() if line.strip() not in ("", TITLE)]
    scores = score_texts(words, lines)
    chosen: set[int] = set()
    for number in sorted(range(len(lines)), key=lambda number: -scores[number]):
        most_chars -= len(lines[number]) + 1
        if chosen and (most_chars < 0 or not scores[number]):
            break
        chosen.add(number)
    return " ".join(lines[number] for number in sorted(chosen))
