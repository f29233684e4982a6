"""The materials that an assistant consulted, kept across compactions. Pure.

A tool result's metadata names what was read and what was changed; only the audience of that message
knows it (P9). The content is never kept: it is read again when it is restored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from evennia_ai.messages import Audience, Message
from evennia_ai.policy.audience import audience_of, visible
from evennia_ai.policy.context.projection import MASKED, CompactionRecord, part_audience, part_key

READ, CHANGED = "read", "changed"
ENTRY, ENTITY = "entry", "entity"
MOST_RESTORED = 5
MOST_KEPT = 50  # of each kind, in a record
LASTING_MESSAGES = 60


@dataclass(frozen=True, slots=True)
class Consulted:
    """One thing that was consulted."""

    ref: str  # see `entry_ref` and `entity_ref`
    seq: int  # the latest message it was consulted in
    heard_by: Audience | None = None  # that message's audience, None for everybody
    how: str = READ  # `READ` or `CHANGED`


def entry_ref(id: str) -> str:
    """Return the reference of a journal entry."""
    return f"{ENTRY}:{id}"


def entity_ref(dbref: str) -> str:
    """Return the reference of a person, a thing or a place."""
    return f"{ENTITY}:{dbref}"


def consulted_in(messages: Iterable[Message]) -> Iterator[Consulted]:
    """Yield everything that was consulted in some messages, oldest first."""
    for message in messages:
        metadata: Mapping[str, Any] = message["metadata"] if message["role"] == "tool" else {}
        for how, refs in metadata.get("consulted", {}).items():
            for ref in refs if how in (READ, CHANGED) else ():
                yield Consulted(ref, message["metadata"]["seq"], audience_of(message), how)


def newest_each(items: Iterable[Consulted]) -> list[Consulted]:
    """Return each thing once for each audience and way, as of its latest use; newest first."""
    latest: dict[tuple[str, Audience | None, str], Consulted] = {}
    for item in items:
        key = (item.ref, item.heard_by, item.how)
        if key not in latest or latest[key].seq <= item.seq:
            latest[key] = item
    return sorted(latest.values(), key=lambda item: -item.seq)


def keep_consulted(
    record: CompactionRecord | None, going: Sequence[Message]
) -> dict[str, list[list[Any]]]:
    """Return what a compaction's record stores: the newest things consulted, of each way."""
    # They come from the evicted messages and from the record before.
    kept: dict[str, list[list[Any]]] = {READ: [], CHANGED: []}
    for item in newest_each([*read_consulted(record), *consulted_in(going)]):
        if len(kept[item.how]) < MOST_KEPT:
            kept[item.how].append([item.ref, item.seq, part_key(item.heard_by)])
    return kept


def read_consulted(record: CompactionRecord | None) -> list[Consulted]:
    """Return what a record stores; unreadable items are left out."""
    stored: Mapping[str, Any] = record.consulted if record is not None else {}
    found = []
    for how in (READ, CHANGED):
        for item in stored.get(how) or ():
            with suppress(TypeError, ValueError, AttributeError):
                ref, seq, key = item
                found.append(Consulted(str(ref), int(seq), part_audience(key), how))
    return found


def select_restored(
    record: CompactionRecord | None, messages: Sequence[Message], audience: Audience
) -> list[Consulted]:
    """Select the `MOST_RESTORED` things consulted last, newest first, that are not in view."""
    # After `LASTING_MESSAGES` since the compaction in force, ``record``, nothing is restored.
    if record is None or not any(record.consulted.values()):
        return []
    lasting = messages[-LASTING_MESSAGES:]
    if len(lasting) == LASTING_MESSAGES and lasting[0]["metadata"]["at"] > record.compacted_at:
        return []
    shown = [m for m in messages if m["role"] == "tool" and m["content"] != MASKED]
    in_view = {item.ref for item in consulted_in(shown)}
    items = (*read_consulted(record), *consulted_in(messages))
    allowed = [item for item in items if visible(item.heard_by, audience)]
    newest: dict[str, Consulted] = {}
    for item in newest_each(allowed):
        newest.setdefault(item.ref, item)
    return [item for item in list(newest.values())[:MOST_RESTORED] if item.ref not in in_view]
