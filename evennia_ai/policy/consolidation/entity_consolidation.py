"""The records to store when observations become attributes; all at once and idempotent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.messages import Audience
from evennia_ai.policy.authors import of_records
from evennia_ai.policy.consolidation.attribute_synthesis import Finding
from evennia_ai.policy.records.entity_profiles import apply_attribute, make_attribute, moment
from evennia_ai.policy.records.provenance import TRUST, Record, newest_said


@dataclass(frozen=True)
class Group:
    """New observations of one entity with one audience, by id."""

    entity: str
    audience: Audience | None
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """The records to store: changed ones by id, and new ones in order of id."""

    changed: Mapping[str, Record]
    added: tuple[Record, ...]


def group_observations(observations: Iterable[Record], most: int) -> list[Group]:
    """Return new observations by entity and audience, oldest first, in small groups."""
    groups: defaultdict[tuple[str, Audience | None], list[str]] = defaultdict(list)
    for item in observations:
        audience = None if item["audience"] is None else frozenset(item["audience"])
        groups[item["entity"], audience].append(item["id"])
    return [
        Group(entity, audience, tuple(ids[start : start + most]))
        for (entity, audience), ids in groups.items()
        for start in range(0, len(ids), most)
    ]


def plan_consolidation(
    observations: Sequence[Record],
    values: Sequence[Record],
    findings: Sequence[Finding],
    new_ids: Iterator[str],
    *,
    inferred: bool,
) -> Changes:
    """Return the records to store after observations became attributes.

    The observations have one entity and one audience; ``values`` are all values of that entity. A
    finding with a forgotten source is left out. ``new_ids`` yields ids in order. ``inferred`` says
    whether a model drew the conclusions; these get less trust.
    """
    here = {item["id"]: item for item in observations}
    before = {value["id"]: value for value in values}
    after: dict[str, Record] = dict(before)
    cited = [
        (finding, [here[source] for source in finding.sources])
        for finding in findings
        if all(source in here for source in finding.sources)
    ]
    new_id = next(new_ids)
    for finding, items in sorted(cited, key=lambda pair: newest(pair[1])):
        new = attribute_from(new_id, finding, items, inferred=inferred)
        alike = [value for value in after.values() if value["attribute"] == new["attribute"]]
        after |= apply_attribute(alike, new)
        if new_id in after:
            new_id = next(new_ids)
    changed = {known: after[known] for known, value in before.items() if after[known] != value}
    marked = {known: {**item, "consolidated": True} for known, item in here.items()}
    added = tuple(value for known, value in after.items() if known not in before)
    return Changes({**changed, **marked}, added)


def newest(items: Iterable[Record]) -> datetime:
    """Return the time of the latest observation."""
    return max(moment(item["at"]) for item in items)


def attribute_from(id: str, finding: Finding, items: Sequence[Record], *, inferred: bool) -> Record:
    """Return a finding as a value, with the origin of its observations."""
    return make_attribute(
        id,
        items[0]["entity"],
        finding.attribute,
        finding.value,
        newest(items),
        {**common_origin(items, inferred=inferred), "sources": list(finding.sources)},
    )


def common_origin(items: Sequence[Record], *, inferred: bool) -> dict[str, object]:
    """Return the common origin of observations: all authors, a shared source, the lowest trust."""
    entities = {item["source_entity"] for item in items}
    kinds = {item["source_type"] for item in items}
    kind = "inference" if inferred or len(kinds) > 1 else kinds.pop()
    return {
        "source_type": kind,
        "source_entity": entities.pop() if len(entities) == 1 else "",
        "speakers": sorted(of_records(items)),
        "source_seqs": [seq for item in items for seq in item["source_seqs"]],
        "said_at": newest_said(items),
        "audience": items[0]["audience"],
        "trust": min([*(item["trust"] for item in items), TRUST[kind]]),
    }
