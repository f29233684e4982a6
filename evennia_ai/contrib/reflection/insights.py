"""Conclusions from several memories, by a model: the request, and what its reply is worth.

After Generative Agents (Park et al. 2023): when the importance of new memories adds up to 150, the
character asks for a few insights, each with its sources.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evennia_ai.messages import WireMessage
from evennia_ai.policy.context.projection import part_key
from evennia_ai.policy.records.entity_consolidation import common_origin
from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.record import Record, time_of
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.texts import fenced, read_line_object, reply_lines, request

SOURCE = "reflection"
# Entries made from other entries; reflecting on them would count the same facts twice.
MADE = frozenset({SOURCE, "compaction"})
MOST_INSIGHTS = 5
LEAST_CITED = 2
MOST_CITED = 12
LEAST_ENTRIES = 3  # for each audience; fewer allow no conclusion
MOST_ENTRIES = 80  # for each audience, in one call; the newest are taken
ENTRY_CHARS = 300
MOST_CHARS = 400
IMPORTANCE = 6
ID_PREFIX = "reflect_"


@dataclass(frozen=True)
class Insight:
    """One conclusion and the ids of its source entries."""

    content: str
    because: tuple[str, ...]


@dataclass(frozen=True)
class ReflectionReply:
    """The conclusions in a model's reply."""

    insights: tuple[Insight, ...] = ()
    refused: int = 0  # number of rejected lines


def unreflected(entries: Iterable[Record], since: str = "") -> dict[str, list[Record]]:
    """Return the entries without a reflection by audience (P9), public ones first.

    A reflection has the time when its entries were gathered and covers its audience up to then, so
    it is the only mark that an interrupted pass leaves. ``since`` is the ISO time up to which every
    audience was handled; empty for never.
    """
    entries = list(entries)
    marks: dict[str, str] = {}
    for entry in entries:
        if entry["source_type"] == SOURCE:
            key = key_of(entry)
            marks[key] = max(entry["timestamp"], marks.get(key, ""))
    groups: dict[str, list[Record]] = {part_key(None): []}
    for entry in entries:
        key = key_of(entry)
        if entry["source_type"] not in MADE and entry["timestamp"] > max(since, marks.get(key, "")):
            groups.setdefault(key, []).append(entry)
    return {key: own for key, own in groups.items() if own}


def key_of(entry: Record) -> str:
    confidants = entry["audience"]
    return part_key(None if confidants is None else frozenset(confidants))


def weight(groups: Mapping[str, Sequence[Record]]) -> int:
    """Return the importance of all entries together."""
    return sum(entry["importance"] for entries in groups.values() for entry in entries)


def select_groups(groups: Mapping[str, Sequence[Record]]) -> list[Sequence[Record]]:
    """Return the groups to reflect on: the newest entries of each large enough one."""
    return [own[-MOST_ENTRIES:] for own in groups.values() if len(own) >= LEAST_ENTRIES]


def reflection_request(
    prompt: str,
    name: str,
    entries: Sequence[Record],
    names: Mapping[str, str],
    day_of: Callable[[datetime], str],
) -> list[WireMessage]:
    """Return the request for insights; all entries must have the same audience.

    ``prompt`` has the field ``name``; ``names`` are the character's names for sources, by dbref;
    ``day_of`` returns the world's day of a time.
    """
    word = {dbref: f", {name}'s word" for dbref, name in names.items() if name}
    lines = [
        f"{entry['id']} ({day_of(time_of(entry))}{word.get(entry['source_entity'], '')}): "
        f"{clean_heard(entry['content'], ENTRY_CHARS)}"
        for entry in entries
    ]
    return request(prompt.format(name=name), fenced("entries", "\n".join(lines)))


def read_insights(reply: str, entries: Sequence[Record]) -> ReflectionReply:
    """Return the insights that cite two or more shown entries. Never raises.

    A citation in another spelling is matched, and one of an entry that was not shown is removed.
    """
    ids = [entry["id"] for entry in entries]
    shared = Counter(map(spelling, ids))
    known = {spelling(id_): id_ for id_ in ids if shared[spelling(id_)] == 1} | {i: i for i in ids}
    known_contents = {normalised(entry["content"]) for entry in entries}
    insights: list[Insight] = []
    refused = 0
    for line in reply_lines(reply):
        insight = read_insight(line, known)
        if (
            insight
            and len(insights) < MOST_INSIGHTS
            and normalised(insight.content) not in known_contents
        ):
            known_contents.add(normalised(insight.content))
            insights.append(insight)
        else:
            refused += 1
    return ReflectionReply(tuple(insights), refused)


def spelling(id_: str) -> str:
    """Return an id in lower case, with its letters and digits only."""
    return "".join(char for char in id_.lower() if char.isalnum())


def read_insight(line: str, known: Mapping[str, str]) -> Insight | None:
    fields = read_line_object(line)
    because = fields.get("because")
    if not isinstance(fields.get("insight"), str) or not isinstance(because, list):
        return None
    content = clean_heard(fields["insight"], MOST_CHARS)
    cited = [
        known.get(reference) or known.get(spelling(reference))
        for reference in because
        if isinstance(reference, str)
    ]
    shown = tuple(dict.fromkeys(filter(None, cited)))
    if not content or len(shown) < LEAST_CITED:
        return None
    return Insight(content, shown[:MOST_CITED])


def insight_entry(insight: Insight, cited: Sequence[Record], looked_at: str) -> dict[str, Any]:
    """Return the fields of an insight's journal entry."""
    # Its id derives from the content and the sources, so the same insight is stored once. ``cited``
    # are its sources as they are now, of one audience, gathered at ``looked_at`` (ISO time).
    links = [entry["id"] for entry in cited]
    identity = "\0".join([key_of(cited[0]), *links, normalised(insight.content)])
    digest = hashlib.blake2b(identity.encode(), digest_size=8).hexdigest()
    return {
        **common_origin(cited, SOURCE),
        "id": f"{ID_PREFIX}{digest}",
        "content": insight.content,
        "timestamp": looked_at,
        "importance": IMPORTANCE,
        "importance_by": "model",
        "tags": [SOURCE],
        "links": links,
    }
