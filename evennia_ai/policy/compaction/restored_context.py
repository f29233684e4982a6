"""What a compaction keeps at hand: materials that were consulted, and summaries in the journal."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from evennia_ai.messages import Audience, ChatMessage
from evennia_ai.policy.audience import audience_of, of_messages, visible
from evennia_ai.policy.compaction.summary import COUNTED
from evennia_ai.policy.context import projection
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.retrieval.relevance import score_texts

READ, CHANGED = "read", "changed"
ENTRY, ENTITY = "entry", "entity"
MOST_RESTORED = 5
MOST_KEPT = 50  # of each kind, in a record
LASTING_MESSAGES = 60


@dataclass(frozen=True, slots=True)
class ToolReference:
    """One thing that was consulted."""

    ref: str  # see `entry_ref` and `entity_ref`
    seq: int  # the latest message it was consulted in
    heard_by: Audience | None = None  # that message's audience, None for everybody
    how: str = READ  # `READ` or `CHANGED`


def entry_ref(id: str) -> str:
    return f"{ENTRY}:{id}"


def entity_ref(dbref: str) -> str:
    """Return the reference of a person, a thing or a place."""
    return f"{ENTITY}:{dbref}"


def consulted_in(messages: Iterable[ChatMessage]) -> Iterator[ToolReference]:
    """Yield everything that was consulted in some messages, oldest first."""
    for message in messages:
        metadata: Mapping[str, Any] = message["metadata"] if message["role"] == "tool" else {}
        for how, refs in metadata.get("consulted", {}).items():
            for ref in refs if how in (READ, CHANGED) else ():
                yield ToolReference(ref, message["metadata"]["seq"], audience_of(message), how)


def newest_each(items: Iterable[ToolReference]) -> list[ToolReference]:
    """Return each thing once for each audience and way, as of its latest use; newest first."""
    latest: dict[tuple[str, Audience | None, str], ToolReference] = {}
    for item in items:
        key = (item.ref, item.heard_by, item.how)
        if key not in latest or latest[key].seq <= item.seq:
            latest[key] = item
    return sorted(latest.values(), key=lambda item: -item.seq)


def keep_consulted(
    record: projection.CompactionRecord | None, going: Sequence[ChatMessage]
) -> dict[str, list[list[Any]]]:
    """Return what a compaction's record stores: the newest things consulted, of each way."""
    # They come from the evicted messages and from the record before.
    kept: dict[str, list[list[Any]]] = {READ: [], CHANGED: []}
    for item in newest_each([*read_consulted(record), *consulted_in(going)]):
        if len(kept[item.how]) < MOST_KEPT:
            kept[item.how].append([item.ref, item.seq, projection.part_key(item.heard_by)])
    return kept


def read_consulted(record: projection.CompactionRecord | None) -> list[ToolReference]:
    """Return what a record stores; unreadable items are left out."""
    stored: Mapping[str, Any] = record.consulted if record is not None else {}
    references = []
    for how in (READ, CHANGED):
        for item in stored.get(how) or ():
            with suppress(TypeError, ValueError, AttributeError):
                ref, seq, key = item
                references.append(
                    ToolReference(str(ref), int(seq), projection.part_audience(key), how)
                )
    return references


def select_restored(
    record: projection.CompactionRecord | None, messages: Sequence[ChatMessage], audience: Audience
) -> list[ToolReference]:
    """Select the `MOST_RESTORED` things consulted last, newest first, that are not in view."""
    # After `LASTING_MESSAGES` since the compaction in force, ``record``, nothing is restored.
    if record is None or not any(record.consulted.values()):
        return []
    lasting = messages[-LASTING_MESSAGES:]
    if len(lasting) == LASTING_MESSAGES and lasting[0]["metadata"]["at"] > record.compacted_at:
        return []
    shown = [m for m in messages if m["role"] == "tool" and m["content"] != projection.MASKED]
    in_view = {item.ref for item in consulted_in(shown)}
    items = (*read_consulted(record), *consulted_in(messages))
    allowed = [item for item in items if visible(item.heard_by, audience)]
    newest: dict[str, ToolReference] = {}
    for item in newest_each(allowed):
        newest.setdefault(item.ref, item)
    return [item for item in list(newest.values())[:MOST_RESTORED] if item.ref not in in_view]


TITLE = "[CONTEXT SYNTHESIS]"
SOURCE = "compaction"
TAGS = (SOURCE, "synthesis")
IMPORTANCE = 7
PREFIX = "compact_"
MOST_VERSIONS = 20  # compactions that an entry names as its history

ReadRecord = Callable[[int], projection.CompactionRecord | None]  # a compaction in force, by its id


@dataclass(frozen=True)
class SynthesisChanges:
    """What to do so that the journal holds one entry for each part of a summary."""

    new: Mapping[str, Mapping[str, Any]]  # fields by id
    changed: Mapping[str, Mapping[str, Any]]
    gone: Sequence[str]  # ids


def plan_syntheses(
    record: projection.CompactionRecord | None, read: ReadRecord, held: Iterable[Record]
) -> SynthesisChanges:
    """Return the changes to ``held``, the journal's summaries, after a compaction or an undo.

    ``record`` is the compaction in force. An entry holds the newest summary of its audience's talk
    and is rewritten in place; its links name the compactions whose summaries it has held (``c7``).
    A digest is no memory: the entry keeps the summary before it.
    """
    meant = memories_of(record, read)
    new: dict[str, dict[str, Any]] = {}
    changed: dict[str, dict[str, Any]] = {}
    first: dict[str, Record] = {}
    gone = []
    for entry in held:
        audience = entry["audience"]
        key = projection.part_key(None if audience is None else frozenset(audience))
        if key not in meant or key in first:
            gone.append(entry["id"])
            continue
        first[key], fields = entry, entry_fields(meant[key], key, entry)
        if any(fields[name] != entry[name] for name in ("content", "speakers")):
            changed[entry["id"]] = fields
    for key, source in meant.items():
        if key not in first:
            audience = projection.part_audience(key)
            at = datetime.fromisoformat(source.compacted_at).astimezone(UTC)
            number = sorted(source.summary, key=public_first).index(key) + 1
            new[f"{PREFIX}{at:%Y%m%dT%H%M%S%fZ}_{number}"] = {
                **entry_fields(source, key),
                "source_type": SOURCE,
                "audience": None if audience is None else sorted(audience),
                "importance": IMPORTANCE,
                "tags": list(TAGS),
            }
    return SynthesisChanges(new, changed, gone)


def memories_of(
    record: projection.CompactionRecord | None, read: ReadRecord
) -> dict[str, projection.CompactionRecord]:
    """Return the compaction with the newest summary of each part, the public one first.

    Goes back from ``record`` where a part is a digest, or empty.
    """
    records: dict[str, projection.CompactionRecord] = {}
    for key in sorted(record.summary if record else (), key=public_first):
        source = record
        while source and not is_memory(source.summary.get(key, "")):
            source = read(source.previous_id) if source.previous_id else None
        if source:
            records[key] = source
    return records


def public_first(key: str) -> tuple[bool, str]:
    """Return what orders the keys of parts."""
    return key != projection.PUBLIC, key


def is_memory(text: str) -> bool:
    """Return True for a summary that somebody wrote; an empty part and a digest are none."""
    return bool(text.strip()) and COUNTED not in text


def entry_fields(
    record: projection.CompactionRecord, key: str, before: Record | None = None
) -> dict[str, Any]:
    """Return what an entry says of a part: its text, authors, messages and history.

    ``source_seqs`` are the first and the last message of the talk; ``before`` is the entry so far.
    """
    links = before["links"] if before else []
    versions = [link for link in links if is_version(link) and int(link[1:]) < record.id]
    seqs = before["source_seqs"] if before else []
    return {
        "content": f"{TITLE}\n{record.summary[key].strip()}",
        "timestamp": record.compacted_at,
        "speakers": list(record.speakers.get(key, ())),
        "source_seqs": [*(seqs[:1] or [record.from_seq]), record.upto_seq],
        "links": [
            *(link for link in links if not is_version(link)),
            *versions[1 - MOST_VERSIONS :],
            f"c{record.id}",
        ],
    }


def is_version(link: str) -> bool:
    return link[:1] == "c" and link[1:].isdecimal()


def is_synthesis(entry: Mapping[str, Any]) -> bool:
    return bool(entry["source_type"] == SOURCE)


def speakers_of(
    messages: Iterable[ChatMessage], earlier: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Return the authors of each part: the earlier ones, and those of the evicted messages."""
    authors_by_key = {key: set(authors) for key, authors in earlier.items()}
    for key, evicted in projection.split_by_audience(messages).items():
        authors_by_key.setdefault(key, set()).update(of_messages(evicted))
    return {key: sorted(authors) for key, authors in authors_by_key.items()}


def select_found(
    entries: Iterable[Record], record: projection.CompactionRecord | None, most: int
) -> list[Record]:
    """Return the best search results, with at most one summary entry, as they are long."""
    # A summary that the prompt holds is left out.
    parts = record.summary.values() if record is not None else ()
    shown: list[Record] = []
    has_summary = False
    for entry in entries:
        if is_synthesis(entry):
            text = entry["content"].removeprefix(TITLE).strip()
            if has_summary or any(text in part for part in parts):
                continue
            has_summary = True
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
