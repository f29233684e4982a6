"""What an assistant looked at and looked up: kept across compactions, so that it is at hand again
when the talk in which it was consulted is out of view. Pure.

A tool's result names in its metadata what was read and what was changed; the rest follows from the
messages alone. Whoever may not know of a message may not know either that something was consulted
in it (P9): what is remembered is that, by whom it is for, and never a word of the thing itself.
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
AT_HAND = 5
MOST_KEPT = 50  # of each kind, in a record
LASTING_MESSAGES = 60


@dataclass(frozen=True, slots=True)
class Consulted:
    """One thing that was consulted.

    ``ref`` names it, see `entry_ref` and `entity_ref`; ``seq`` is the latest message it was
    consulted in; ``heard_by`` who alone may know of that, None for everybody; ``how`` is read or
    changed.
    """

    ref: str
    seq: int
    heard_by: Audience | None = None
    how: str = READ


def entry_ref(id: str) -> str:
    """The name of an entry of the journal."""
    return f"{ENTRY}:{id}"


def entity_ref(dbref: str) -> str:
    """The name of a person, a thing or a place."""
    return f"{ENTITY}:{dbref}"


def split_ref(ref: str) -> tuple[str, str]:
    """A name's kind and the id in it."""
    kind, _, id = ref.partition(":")  # noqa: A001
    return kind, id


def consulted_in(messages: Iterable[Message]) -> Iterator[Consulted]:
    """Everything that was consulted in some messages, oldest first."""
    for message in messages:
        metadata: Mapping[str, Any] = message["metadata"] if message["role"] == "tool" else {}
        for how, refs in metadata.get("consulted", {}).items():
            for ref in refs if how in (READ, CHANGED) else ():
                yield Consulted(ref, message["metadata"]["seq"], audience_of(message), how)


def newest_each(items: Iterable[Consulted]) -> list[Consulted]:
    """Each thing once for the same ears and in the same way, with the latest time; newest first."""
    latest: dict[tuple[str, Audience | None, str], Consulted] = {}
    for item in items:
        key = (item.ref, item.heard_by, item.how)
        if key not in latest or latest[key].seq <= item.seq:
            latest[key] = item
    return sorted(latest.values(), key=lambda item: -item.seq)


def keep_consulted(
    record: CompactionRecord | None, going: Sequence[Message]
) -> dict[str, list[list[Any]]]:
    """What a compaction's record holds of it: what was consulted in the messages that go, and what
    the record before had, the newest of each kind."""
    kept: dict[str, list[list[Any]]] = {READ: [], CHANGED: []}
    for item in newest_each([*read_consulted(record), *consulted_in(going)]):
        if len(kept[item.how]) < MOST_KEPT:
            kept[item.how].append([item.ref, item.seq, part_key(item.heard_by)])
    return kept


def read_consulted(record: CompactionRecord | None) -> list[Consulted]:
    """What a record holds of it; what cannot be read is passed over."""
    stored: Mapping[str, Any] = record.consulted if record is not None else {}
    found = []
    for how in (READ, CHANGED):
        for item in stored.get(how) or ():
            with suppress(TypeError, ValueError, AttributeError):
                ref, seq, key = item
                found.append(Consulted(str(ref), int(seq), part_audience(key), how))
    return found


def select_at_hand(
    record: CompactionRecord | None,
    messages: Sequence[Message],
    audience: Audience,
    discretion: str,
) -> list[Consulted]:
    """What should be at hand, newest first: of the `AT_HAND` things consulted last those whose
    result is out of view.

    Something consulted later takes the place of something earlier. After `LASTING_MESSAGES` of talk
    since the compaction nothing is at hand any more: what nobody came back to is not needed.

    Args:
        record: the compaction in force.
        messages: those in view.
        audience: who will hear the answer.
        discretion: ``trusting`` lets everybody know everything.
    """
    if record is None or not any(record.consulted.values()) or is_long_ago(record, messages):
        return []
    shown = [m for m in messages if m["role"] == "tool" and m["content"] != MASKED]
    in_view = {item.ref for item in consulted_in(shown)}
    allowed = [
        item
        for item in (*read_consulted(record), *consulted_in(messages))
        if discretion == "trusting" or visible(item.heard_by, audience)
    ]
    newest: dict[str, Consulted] = {}
    for item in newest_each(allowed):
        newest.setdefault(item.ref, item)
    return [item for item in list(newest.values())[:AT_HAND] if item.ref not in in_view]


def is_long_ago(record: CompactionRecord, messages: Sequence[Message]) -> bool:
    """True where `LASTING_MESSAGES` have come since a compaction."""
    if len(messages) < LASTING_MESSAGES:
        return False
    at: str = messages[-LASTING_MESSAGES]["metadata"]["at"]
    return at > record.compacted_at
