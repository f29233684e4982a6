"""What has to be stored where observations become attributes: all of it at once, so that nothing is
lost or done twice however often it is tried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.messages import Audience
from evennia_ai.policy.consolidation.attribute_synthesis import Finding
from evennia_ai.policy.records.entity_profiles import (
    apply_attribute,
    make_attribute,
    moment,
)
from evennia_ai.policy.records.provenance import TRUST, Record


@dataclass(frozen=True)
class Group:
    """New observations of one entity that the same people may know of."""

    entity: str
    audience: Audience | None
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Changes:
    """Records to store: ``changed`` by their ids, and new ones, which have the ids they will be
    given in this order."""

    changed: Mapping[str, Record]
    added: tuple[Record, ...]


def group_observations(observations: Iterable[Record], most: int) -> list[Group]:
    """New observations by entity and audience, the oldest first, at most so many in a group."""
    groups: defaultdict[tuple[str, Audience | None], list[str]] = defaultdict(list)
    for item in observations:
        ears = None if item["audience"] is None else frozenset(item["audience"])
        groups[item["entity"], ears].append(item["id"])
    return [
        Group(entity, ears, tuple(ids[start : start + most]))
        for (entity, ears), ids in groups.items()
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
    """The records after observations became attributes.

    Args:
        observations: of one entity and one audience, as they are now.
        values: all values there are of the entity's attributes.
        findings: what was made of the observations. One that cites an observation which is gone
            by now is left out: whoever had that forgotten is in it.
        new_ids: ids for new records, in their order.
        inferred: whether a model drew these conclusions, which is believed less.
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
    """When the latest of some observations was made."""
    return max(moment(item["at"]) for item in items)


def attribute_from(id: str, finding: Finding, items: Sequence[Record], *, inferred: bool) -> Record:
    """The value that a finding is, with the origin of what it was made of."""
    return make_attribute(
        id,
        items[0]["entity"],
        finding.attribute,
        finding.value,
        newest(items),
        {**common_origin(items, inferred=inferred), "sources": list(finding.sources)},
    )


def common_origin(items: Sequence[Record], *, inferred: bool) -> dict[str, object]:
    """Where what was made of several observations comes from: the speakers of all, a source only
    where it is one for all, and no more trust than the least of them has."""
    entities = {item["source_entity"] for item in items}
    kinds = {item["source_type"] for item in items}
    kind = "inference" if inferred or len(kinds) > 1 else kinds.pop()
    return {
        "source_type": kind,
        "source_entity": entities.pop() if len(entities) == 1 else "",
        "speakers": [dbref for item in items for dbref in item["speakers"]],
        "source_seqs": [seq for item in items for seq in item["source_seqs"]],
        "audience": items[0]["audience"],
        "trust": min([*(item["trust"] for item in items), TRUST[kind]]),
    }
