"""Where something remembered comes from, whose words are in it, and who may know of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from evennia_ai.errors import BadRecord
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import visible
from evennia_ai.policy.sanitize import cut_text, storable

Record = dict[str, Any]
SourceType = Literal[
    "direct", "observation", "inference", "environmental", "compaction", "reflection", "builder"
]

# How far a source is believed, from 0 to 1. What it was told to its face is its speaker's claim.
TRUST: Mapping[str, float] = {
    "builder": 1.0,
    "environmental": 0.9,
    "observation": 0.9,
    "compaction": 0.7,
    "direct": 0.6,
    "inference": 0.5,
    "reflection": 0.5,
}
LONGEST_CONTENT = 8_000
PLAIN: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "null": type(None),
}


def cleaned(text: str) -> str:
    """Text without white space around it that any database and encoder takes; raises ValueError
    where nothing is left. Line breaks stay: a synthesis has headings."""
    kept = cut_text(storable(text).strip(), LONGEST_CONTENT)
    if not kept:
        raise ValueError("there are no words in it")
    return kept


def iso_utc(value: object) -> str:
    """A time as ISO-8601 in UTC; raises ValueError where it is none, or has no time zone."""
    at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    if at.tzinfo is None:
        raise ValueError("a time needs a time zone")
    return at.astimezone(UTC).isoformat()


def sorted_once(values: list[Any]) -> list[Any]:
    """Each value once, in order."""
    return sorted(set(values))


def listed_once(values: list[Any]) -> list[Any]:
    """Each value once, in the order they were given."""
    return list(dict.fromkeys(values))


Words = Annotated[str, AfterValidator(cleaned)]
Time = Annotated[str, BeforeValidator(iso_utc)]
Dbref = Annotated[str, StringConstraints(pattern=r"^#\d+$")]
Dbrefs = Annotated[list[Dbref], AfterValidator(sorted_once)]
Labels = Annotated[list[Words], AfterValidator(listed_once)]


class Remembered(BaseModel):
    """What every record says of its origin.

    Attributes:
        id: stable, and never given to another record.
        source_type: how it came to be known.
        source_entity: dbref of who or what it comes from, empty where that is nobody alone.
        speakers: dbrefs of everybody whose words may be in it: a tool's lock is checked against
            them, and "forget me" takes it away.
        source_seqs: the messages it was made from.
        audience: who alone may know of it; None where anybody may.
        trust: how far it is believed, 0 to 1.
    """

    # What a later version stored beside these is kept when an earlier one writes.
    model_config = ConfigDict(extra="allow")

    id: str = Field(min_length=1, max_length=80)
    source_type: SourceType = "direct"
    source_entity: Annotated[str, StringConstraints(pattern=r"^(#\d+)?$")] = ""
    speakers: Dbrefs = Field(default_factory=list)
    source_seqs: Annotated[list[int], AfterValidator(sorted_once)] = Field(default_factory=list)
    audience: Dbrefs | None = None
    trust: float = Field(ge=0.0, le=1.0)

    @model_validator(mode="before")
    @classmethod
    def trust_the_source(cls, data: Any) -> Any:
        """Fill in how far this kind of source is believed, where nobody said."""
        if isinstance(data, Mapping) and data.get("trust") is None:
            kind = data.get("source_type", "direct")
            return {**data, "trust": TRUST.get(kind, 0.5) if isinstance(kind, str) else 0.5}
        return data


@cache
def kinds_of(model: type[BaseModel]) -> Mapping[str, tuple[type, ...]]:
    """The Python types that a field of a stored record may have, by the field's name."""
    properties = model.model_json_schema(mode="serialization")["properties"]
    return {
        name: tuple(PLAIN[kind["type"]] for kind in detail.get("anyOf", [detail]))
        for name, detail in properties.items()
    }


def is_sound(model: type[BaseModel], raw: object) -> bool:
    """True where a stored record has every field of its model, each of the right type.

    What was checked when it was stored need not be checked in full when it is loaded: that takes
    37 µs a record, this 4 µs (measured).
    """
    kinds = kinds_of(model)
    if type(raw) is not dict or not kinds.keys() <= raw.keys():
        return False
    if not all(type(raw[name]) in allowed for name, allowed in kinds.items()):
        return False
    lists = (value for value in raw.values() if type(value) is list)
    return all(type(item) in (str, int) for values in lists for item in values)


def read_record(model: type[BaseModel], raw: object) -> Record:
    """A stored record as plain data, what it lacks filled in; raises BadRecord."""
    if isinstance(raw, dict) and is_sound(model, raw):
        return dict(raw)
    return checked_record(model, raw)


def checked_record(model: type[BaseModel], raw: object) -> Record:
    """A record with everything in it checked; raises BadRecord."""
    try:
        return model.model_validate(raw).model_dump()
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"][:1]) or "it"
        raise BadRecord(f"{where}: {problem['msg']}.") from error


def make_record(model: type[BaseModel], fields: Mapping[str, object]) -> Record:
    """A new record of the fields given; raises BadRecord, too where there is no such field."""
    unknown = [name for name in fields if name not in model.model_fields]
    if unknown:
        known = ", ".join(model.model_fields)
        raise BadRecord(f"There is no field '{unknown[0]}'. There are: {known}.")
    return checked_record(model, fields)


def changed_record(model: type[BaseModel], record: Record, fields: Mapping[str, object]) -> Record:
    """A record with some fields changed; raises BadRecord. An id never changes."""
    if "id" in fields:
        raise BadRecord("id: an id never changes.")
    later = {name: value for name, value in record.items() if name not in model.model_fields}
    known = {name: value for name, value in record.items() if name not in later}
    return {**later, **make_record(model, {**known, **fields})}


def copy_of(record: Record) -> Record:
    """A record that may be changed without changing this one."""
    return {name: list(v) if isinstance(v, list) else v for name, v in record.items()}


def united(one: Record, other: Record, names: Iterable[str]) -> dict[str, list[Any]]:
    """Lists of two records put together."""
    return {name: [*one[name], *other[name]] for name in names}


def people_in(record: Record) -> frozenset[str]:
    """Dbrefs of everybody a record is about, comes from, or is private to: who may have it
    forgotten."""
    named = (record.get(name, "") for name in ("entity", "subject", "source_entity"))
    return frozenset({*named, *record["speakers"], *(record["audience"] or ())} - {""})


def is_known_to(record: Record, audience: Audience | None, discretion: str = "strict") -> bool:
    """True where a record may enter a prompt for this audience; None is for anybody at all."""
    if discretion == "trusting":
        return True
    confidants = record["audience"]
    return visible(None if confidants is None else frozenset(confidants), audience or frozenset())


def select_known(
    records: Iterable[Record], audience: Audience | None, discretion: str = "strict"
) -> Sequence[Record]:
    """The records that may enter a prompt for this audience, in their order."""
    return [record for record in records if is_known_to(record, audience, discretion)]
