"""What a character knows of others, by their dbrefs: `character.ai_profiles`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from evennia_ai.messages import Audience
from evennia_ai.policy.consolidation.attribute_synthesis import Finding
from evennia_ai.policy.consolidation.entity_consolidation import plan_consolidation
from evennia_ai.policy.records.entity_profiles import (
    ATTRIBUTE,
    OBSERVATION,
    RELATIONSHIP,
    after_contact,
    apply_attribute,
    attribute_name,
    change_profile_record,
    current_values,
    make_attribute,
    make_observation,
    merge_observations,
    new_relationship,
    read_profile_record,
    sentiment_after,
)
from evennia_ai.policy.records.forgetting import sources_in_use
from evennia_ai.policy.records.journal_entry import sameness
from evennia_ai.policy.records.provenance import Record, copy_of, select_known
from evennia_ai.store.record_store import RecordStore


class EntityProfiles(RecordStore):
    """Observations, values of attributes and relationships, as plain dicts with the fields of the
    models in `evennia_ai.policy.records.entity_profiles`."""

    kind = "ai_profiles"
    prefix = "p"

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        self._ids_about: defaultdict[str, set[str]] = defaultdict(set)
        self._new: dict[str, None] = {}

    # --- observations ---------------------------------------------------------------------------

    def observe(self, entity: str, content: str, **fields: Any) -> str:
        """Keep something noticed of somebody; returns its id.

        The same words about the same for the same ears are kept once, with the sources of both.
        Raises BadRecord and StoreUnavailable as `Journal.add`.

        Args:
            entity: dbref.
            content: what was noticed.
            **fields: any of `Observation`'s.
        """
        new = make_observation(self.segments.next_id, entity, content, self.now(), fields)
        same = sameness(new)
        for known in self._of(entity, OBSERVATION):
            if sameness(known) == same:
                merged = merge_observations(known, new)
                if merged != known:
                    self.segments.change({known["id"]: merged})
                return str(known["id"])
        self.put(new)
        return str(new["id"])

    def observations(
        self, entity: str, audience: Audience | None = None, discretion: str = "strict"
    ) -> list[Record]:
        """What was noticed of somebody, oldest first, as far as an audience may know it; None is
        what is public."""
        known = select_known(self._of(entity, OBSERVATION), audience, discretion)
        return [copy_of(record) for record in known]

    def new_observations(self, most: int) -> list[Record]:
        """What no attributes have been made of yet, the oldest of it; of profiles that are
        loaded."""
        oldest = islice(self._new, most)
        return [copy_of(record) for record in self.segments.select(oldest)]

    def count_new(self) -> int:
        """How many observations no attributes have been made of yet; as far as is loaded."""
        return len(self._new)

    def consolidate(
        self,
        ids: Iterable[str],
        findings: Sequence[Finding],
        *,
        inferred: bool = False,
        sentiment: float | None = None,
    ) -> int:
        """Make attributes of observations, and mark these, in one transaction; returns how many
        values were new. What is marked already, or gone, is passed over, so that it may be done
        again. Raises BadRecord and StoreUnavailable as `Journal.add`.

        Args:
            ids: observations of one entity and one audience.
            findings: what was made of them.
            inferred: whether a model drew these conclusions.
            sentiment: how its talk went, -1 to 1; None where nothing tells.
        """
        observations = self.segments.select(known for known in ids if known in self._new)
        if not observations:
            return 0
        entity = observations[0]["entity"]
        new_ids = self.segments.next_ids()
        values = self._of(entity, ATTRIBUTE)
        plan = plan_consolidation(observations, values, findings, new_ids, inferred=inferred)
        changed = dict(plan.changed)
        if sentiment is not None:
            for known in self._of(entity, RELATIONSHIP):
                felt = sentiment_after(known["sentiment"], sentiment)
                changed[known["id"]] = {**known, "sentiment": felt}
        self.segments.change(changed, *plan.added)
        return len(plan.added)

    # --- attributes -----------------------------------------------------------------------------

    def set_attribute(self, subject: str, attribute: str, value: str, **fields: Any) -> str:
        """Learn a value; returns its id, or that of the same value which holds already.

        The newest value holds; what it ends is kept with its ``valid_to``, and values of different
        sources name each other. Raises BadRecord and StoreUnavailable as `Journal.add`.

        Args:
            subject: dbref.
            attribute: its name, in any case.
            value: in words.
            **fields: any of `AttributeValue`'s.
        """
        new = make_attribute(self.segments.next_id, subject, attribute, value, self.now(), fields)
        known = [r for r in self._of(subject, ATTRIBUTE) if r["attribute"] == new["attribute"]]
        changes = apply_attribute(known, new)
        held = list(changes)[-1]
        added = changes.pop(new["id"], None)
        self.segments.change(changes, *filter(None, [added]))
        return held

    def attributes(
        self, subject: str, audience: Audience | None = None, discretion: str = "strict"
    ) -> list[Record]:
        """The newest value of each attribute, as far as an audience may know it."""
        known = select_known(self._of(subject, ATTRIBUTE), audience, discretion)
        return [copy_of(record) for record in current_values(known)]

    def history(self, subject: str, attribute: str) -> list[Record]:
        """Every value an attribute ever had, whoever may know it, in the order they held."""
        name = attribute_name(attribute)
        values = [r for r in self._of(subject, ATTRIBUTE) if r["attribute"] == name]
        ordered = sorted(values, key=lambda r: datetime.fromisoformat(r["valid_from"]))
        return [copy_of(record) for record in ordered]

    # --- relationships --------------------------------------------------------------------------

    def relationship(self, entity: str) -> Record:
        """How it stands with somebody; with a stranger where they never met."""
        known = self._of(entity, RELATIONSHIP)
        return copy_of(known[0]) if known else new_relationship("stranger", entity)

    def note_contact(
        self, entity: str, sentiment: float | None = None, at: datetime | None = None
    ) -> Record:
        """They met; returns how it stands now. StoreUnavailable as `Journal.add`.

        Args:
            entity: dbref.
            sentiment: how it went, -1 to 1; None where nobody can tell.
            at: when, now by default.
        """
        known = self._of(entity, RELATIONSHIP)
        before = known[0] if known else new_relationship(self.segments.next_id, entity)
        after = after_contact(before, at or self.now(), sentiment)
        if known:
            self.segments.change({after["id"]: after})
        else:
            self.put(after)
        return copy_of(after)

    # --- all of it --------------------------------------------------------------------------------

    def live_sources(self) -> frozenset[str]:
        """Ids of what values that still hold were made of; of profiles that are loaded."""
        return sources_in_use(r for r in self.segments.held() if r["kind"] == ATTRIBUTE)

    def about(self, entity: str) -> list[Record]:
        """Everything there is about somebody, whoever may know it, in the order it was stored."""
        return [copy_of(record) for record in self._about(entity)]

    def entities(self) -> list[str]:
        """Dbrefs of everybody there is something about."""
        self._load_all()
        return [dbref for dbref, ids in self._ids_about.items() if ids]

    def read(self, raw: Any) -> Record:
        """A stored record; raises BadRecord."""
        return read_profile_record(raw)

    def changed(self, record: Record, fields: Mapping[str, Any]) -> Record:
        """A record with some fields changed; raises BadRecord."""
        return change_profile_record(record, fields)

    def noticed(self, old: Record | None, new: Record | None) -> None:
        """Keep the records of each entity together."""
        if old:
            self._ids_about[entity_of(old)].discard(old["id"])
            self._new.pop(old["id"], None)
        if new:
            self._ids_about[entity_of(new)].add(new["id"])
            if new["kind"] == OBSERVATION and not new["consolidated"]:
                self._new[new["id"]] = None

    def _of(self, entity: str, kind: str) -> list[Record]:
        """The records of one kind about somebody, in the order they were stored."""
        return [record for record in self._about(entity) if record["kind"] == kind]

    def _about(self, entity: str) -> list[Record]:
        """All records about somebody, in the order they were stored."""
        self._load_all()
        return self.segments.select(self._ids_about.get(entity, ()))

    def _load_all(self) -> None:
        for _ in self.load_steps():
            pass


def entity_of(record: Record) -> str:
    """Dbref of whom a record is about."""
    return str(record["subject"] if record["kind"] == ATTRIBUTE else record["entity"])
