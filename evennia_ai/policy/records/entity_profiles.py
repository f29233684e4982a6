"""Observations, attributes and relationships of people and things, by dbref."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Literal

from pydantic import Field

from evennia_ai.policy.records.journal_entry import normalised
from evennia_ai.policy.records.record import (
    BaseRecord,
    Dbref,
    Labels,
    Record,
    Time,
    Words,
    make_record,
)

OBSERVATION, ATTRIBUTE, RELATIONSHIP = "observation", "attribute", "relationship"

FAMILIARITY_GAIN = 0.05
FAMILIARITY_HALF_LIFE_S = 90 * 86_400.0
SENTIMENT_WEIGHT = 0.2
CONTACT_GAP_S = 600.0  # all lines of one conversation are one contact


class Observation(BaseRecord):
    """Something that the character noticed about an entity, unchanged."""

    kind: Literal["observation"] = "observation"
    entity: Dbref
    content: Words
    at: Time  # ISO-8601 UTC
    consolidated: bool = False  # attributes have been made from it


class AttributeValue(BaseRecord):
    """A value of one attribute of one subject, for as long as it holds."""

    kind: Literal["attribute"] = "attribute"
    subject: Dbref
    attribute: Words  # normalised, such as "debt"
    value: Words
    valid_from: Time
    valid_to: Time | None = None  # None while nothing newer is known
    confirmed_at: Time
    sources: Labels = Field(default_factory=list)  # ids of observations or entries
    contradicts: Labels = Field(default_factory=list)  # ids of values that other sources gave

    united: ClassVar[tuple[str, ...]] = (*BaseRecord.united, "sources")
    texts: ClassVar[tuple[str, ...]] = ("attribute", "value")


class Relationship(BaseRecord):
    """The character's relationship with an entity."""

    kind: Literal["relationship"] = "relationship"
    entity: Dbref
    familiarity: float = Field(default=0.0, ge=0.0, le=1.0)  # a stranger's is 0; half-life 90 days
    sentiment: float = Field(default=0.0, ge=-1.0, le=1.0)  # hostile to fond
    contacts: int = Field(default=0, ge=0)  # conversations
    first_contact: Time | None = None
    last_contact: Time | None = None

    texts: ClassVar[tuple[str, ...]] = ()


MODELS: Mapping[object, type[BaseRecord]] = {
    OBSERVATION: Observation,
    ATTRIBUTE: AttributeValue,
    RELATIONSHIP: Relationship,
}


def model_of(raw: object) -> type[BaseRecord]:
    """Return the model of a stored record by its kind, by default the observation's."""
    kind = raw.get("kind") if isinstance(raw, dict) else None
    return MODELS.get(kind, Observation) if isinstance(kind, str) else Observation


def make_observation(
    id: str, entity: str, content: str, at: datetime, fields: Mapping[str, object]
) -> Record:
    """Return a new observation; raises BadRecord."""
    base = {"source_type": "observation", "at": at}
    return make_record(
        Observation, {**base, **fields, "id": id, "entity": entity, "content": content}
    )


def make_attribute(
    id: str, subject: str, attribute: str, value: str, at: datetime, fields: Mapping[str, object]
) -> Record:
    """Return a new value; raises BadRecord."""
    name = normalised(attribute).replace("_", " ")  # "Home  town." → "home town"
    named = {"subject": subject, "attribute": name, "value": value}
    since = fields.get("valid_from") or at
    times = {"valid_from": since, "confirmed_at": since}
    return make_record(AttributeValue, {**fields, **times, **named, "id": id})


def covers(record: Record, other: Record) -> bool:
    """Return True if everybody who may know ``other`` may also know ``one``."""
    # Only then may ``one`` end ``other``: what Ann whispers must not change what Bob is told.
    if record["audience"] is None or other["audience"] is None:
        return record["audience"] is None
    return set(other["audience"]) <= set(record["audience"])


def apply_attribute(known: Sequence[Record], new: Record) -> dict[str, Record]:
    """Return the records to store when a new value is learned, by id, itself last.

    ``known`` are all values of the same subject and attribute. The newest ends the one before only
    if everybody who may know that may also know the new one. A value that already holds is
    confirmed. Values of two sources that differ name each other.
    """
    since = moment(new["valid_from"])

    def is_confirmed(record: Record) -> bool:
        return bool(
            record["valid_to"] is None
            and record["audience"] == new["audience"]
            and normalised(record["value"]) == normalised(new["value"])
            and moment(record["confirmed_at"]) <= since
        )

    same = next(filter(is_confirmed, known), None)
    others = [record for record in known if record is not same]
    changed = {  # what is not newer ends
        record["id"]: {**record, "valid_to": new["valid_from"]}
        for record in others
        if record["valid_to"] is None
        and moment(record["confirmed_at"]) <= moment(new["confirmed_at"])
        and covers(new, record)
    }
    if same:
        confirmed = {"confirmed_at": new["valid_from"]}
        return {**changed, same["id"]: AttributeValue.merged(same, new, confirmed)}
    ends = [  # what is learnt late held until something newer was so, or was confirmed
        record["valid_from" if moment(record["valid_from"]) > since else "confirmed_at"]
        for record in others
        if moment(record["confirmed_at"]) > since and covers(record, new)
    ]
    new = {**new, "valid_to": min(filter(None, (*ends, new["valid_to"])), default=None)}
    for record in others:
        if (
            record["valid_to"] is None
            and record["source_entity"] != new["source_entity"]
            and normalised(record["value"]) != normalised(new["value"])
        ):
            latest = changed.get(record["id"], record)
            named = [*latest["contradicts"], new["id"]]
            changed[record["id"]] = {**latest, "contradicts": named}
            new = {**new, "contradicts": [*new["contradicts"], record["id"]]}
    return {**changed, new["id"]: new}


def moment(time: str) -> datetime:
    return datetime.fromisoformat(time)


def current_values(records: Iterable[Record]) -> list[Record]:
    """Return the newest value of each attribute among those an audience may know."""
    held = [record for record in records if record["valid_to"] is None]
    ordered = sorted(held, key=lambda record: moment(record["confirmed_at"]))
    return list({record["attribute"]: record for record in ordered}.values())


def new_relationship(id: str, entity: str) -> Record:
    return make_record(Relationship, {"id": id, "entity": entity, "source_type": "observation"})


def seconds_since(time: str | None, at: datetime) -> float:
    """Return the seconds from a stored time to ``at``; infinite without a time."""
    if time is None:
        return float("inf")
    return max(0.0, (at - datetime.fromisoformat(time)).total_seconds())


def familiarity_at(relationship: Record, at: datetime) -> float:
    """Return how familiar an entity still is, 0 to 1."""
    half_lives = seconds_since(relationship["last_contact"], at) / FAMILIARITY_HALF_LIFE_S
    return float(relationship["familiarity"] * 0.5**half_lives)


def after_contact(relationship: Record, at: datetime) -> Record:
    """Return a relationship after a meeting; within ten minutes it is the same contact."""
    fields: dict[str, object] = {"last_contact": at}
    if seconds_since(relationship["last_contact"], at) >= CONTACT_GAP_S:
        familiarity = familiarity_at(relationship, at)
        fields["familiarity"] = familiarity + (1.0 - familiarity) * FAMILIARITY_GAIN
        fields["contacts"] = relationship["contacts"] + 1
        fields["first_contact"] = relationship["first_contact"] or at
    return Relationship.changed(relationship, fields)


def sentiment_after(before: float, sentiment: float) -> float:
    """Return the sentiment after a good or bad experience, -1 to 1."""
    new = max(-1.0, min(1.0, sentiment))
    return before + (new - before) * SENTIMENT_WEIGHT
