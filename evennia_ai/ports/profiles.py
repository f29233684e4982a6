"""A character's entity profiles, by dbref: `character.ai_profiles`."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from evennia_ai.messages import Audience
from evennia_ai.policy.records.entity_consolidation import InferredAttribute, plan_consolidation
from evennia_ai.policy.records.entity_profiles import (
    ATTRIBUTE,
    OBSERVATION,
    RELATIONSHIP,
    after_contact,
    current_values,
    make_observation,
    model_of,
    new_relationship,
    sentiment_after,
)
from evennia_ai.policy.records.forgetting import sources_in_use
from evennia_ai.policy.records.journal_entry import sameness
from evennia_ai.policy.records.record import BaseRecord, Record, copy_of, select_known
from evennia_ai.ports.records import RecordStore, anew


class EntityProfiles(RecordStore):
    """Observations, attribute values and relationships; see `policy.records.entity_profiles`."""

    kind = "ai_profiles"
    prefix = "p"

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        self._ids_about: defaultdict[str, set[str]] = defaultdict(set)
        self._new: dict[str, None] = {}

    @anew
    def observe(self, entity: str, content: str, **fields: Any) -> str:
        """Store an observation about a dbref, once for each audience; returns its id."""
        new = make_observation(self.next_id, entity, content, self.now(), fields)
        same = sameness(new)
        known = next(
            (
                observation
                for observation in self._of(entity, OBSERVATION)
                if sameness(observation) == same
            ),
            None,
        )
        return self.keep(new, known)

    def newest(self, limit: int) -> list[Record]:
        """Return the newest loaded observations about anybody, oldest first."""
        observations = (record for record in self.held() if record["kind"] == OBSERVATION)
        return [copy_of(record) for record in deque(observations, limit)]

    def observations(self, entity: str, audience: Audience | None = None) -> list[Record]:
        """Return the observations that all of an audience may know, oldest first."""
        return self.copies_known(self._of(entity, OBSERVATION), audience)

    def new_observations(self, most: int) -> list[Record]:
        """Return the oldest loaded observations that are not consolidated yet."""
        held = filter(None, map(self.find, self._new))
        oldest = [record["id"] for record in islice(self.told(held), most)]
        return [copy_of(record) for record in self.select(oldest)]

    def count_new(self) -> int:
        """Return how many loaded observations are not consolidated yet."""
        return len(self._new)

    @anew
    def consolidate(
        self,
        ids: Iterable[str],
        findings: Sequence[InferredAttribute],
        sentiment: float | None = None,
    ) -> int:
        """Store attributes made from observations, and mark these; returns how many are new.

        The observations are about one entity, for one audience; those marked already are skipped.
        ``sentiment`` is how the entity treats the character, -1 to 1; None if unknown. Raises
        BadRecord.
        """
        observations = self.select(known for known in ids if known in self._new)
        if not observations:
            return 0
        entity = observations[0]["entity"]
        values = self._of(entity, ATTRIBUTE)
        plan = plan_consolidation(observations, values, findings, self.next_ids())
        changed = dict(plan.changed)
        if sentiment is not None:
            for known in self._of(entity, RELATIONSHIP):
                mood = sentiment_after(known["sentiment"], sentiment)
                changed[known["id"]] = {**known, "sentiment": mood}
        self.change(changed, *plan.added)
        return len(plan.added)

    def attributes(self, subject: str, audience: Audience | None = None) -> list[Record]:
        """Return the newest value of each attribute that all of an audience may know."""
        known = select_known(self.told(self._of(subject, ATTRIBUTE)), audience)
        return [copy_of(record) for record in current_values(known)]

    def relationship(self, entity: str) -> Record:
        """Return the relationship with somebody; that with a stranger if they never met."""
        known = self._of(entity, RELATIONSHIP)
        return copy_of(known[0]) if known else new_relationship("stranger", entity)

    @anew
    def note_contact(self, entity: str) -> Record:
        """Store and return the relationship after a meeting."""
        known = self._of(entity, RELATIONSHIP)
        before = known[0] if known else new_relationship(self.next_id, entity)
        after = after_contact(before, self.now())
        self.change({after["id"]: after}, *([] if known else [after]))
        return copy_of(after)

    def live_sources(self) -> frozenset[str]:
        """Return the ids of the sources of all loaded values that are still valid."""
        return sources_in_use(r for r in self.held() if r["kind"] == ATTRIBUTE)

    def about(self, entity: str) -> list[Record]:
        """Return every record about somebody, whatever its audience, in the order stored."""
        return [copy_of(record) for record in self._about(entity)]

    def entities(self) -> list[str]:
        """Return the dbrefs of all entities that have a record."""
        self.load_all()
        return [dbref for dbref, ids in self._ids_about.items() if ids]

    @classmethod
    def model_of(cls, raw: Any) -> type[BaseRecord]:
        """Return the model of a record: that of its kind."""
        return model_of(raw)

    def noticed(self, old: Record | None, new: Record | None) -> None:
        """Update the ids by entity, and the ids of new observations."""
        if old:
            self._ids_about[entity_of(old)].discard(old["id"])
            self._new.pop(old["id"], None)
        if new:
            self._ids_about[entity_of(new)].add(new["id"])
            if new["kind"] == OBSERVATION and not new["consolidated"]:
                self._new[new["id"]] = None

    def _of(self, entity: str, kind: str) -> list[Record]:
        """Return the records of one kind about somebody, in the order stored."""
        return [record for record in self._about(entity) if record["kind"] == kind]

    def _about(self, entity: str) -> list[Record]:
        """Return all records about somebody, in the order stored."""
        self.load_all()
        return self.select(self._ids_about.get(entity, ()))


def entity_of(record: Record) -> str:
    """Return the dbref of the entity that a record is about."""
    return str(record["subject"] if record["kind"] == ATTRIBUTE else record["entity"])
