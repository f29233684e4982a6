"""The origin of a stored record: its source, its authors, and its audience."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

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
from evennia_ai.policy.audience import BUILDER, GAME, STRANGER, people_among
from evennia_ai.policy.records.stored_values import SegmentColumns, stored, unpacked
from evennia_ai.policy.sanitize import cut_text, storable

Record = dict[str, Any]
SourceType = Literal[
    "direct", "observation", "inference", "environmental", "compaction", "reflection", "builder"
]

# Trust in each kind of source, 0 to 1. "direct" is the claim of whoever said it to the character.
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
NOTHING: Mapping[str, object] = MappingProxyType({})
# The fields of any record that hold dbrefs; "speakers" also holds other authors.
ABOUT, PEOPLE = ("entity", "subject", "source_entity"), ("speakers", "audience")
PLAIN: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "null": type(None),
}


def cleaned(text: str) -> str:
    """Return storable text, stripped, shortened, with line breaks; raises ValueError if empty."""
    kept = cut_text(storable(text).strip(), LONGEST_CONTENT)
    if not kept:
        raise ValueError("there are no words in it")
    return kept


def iso_utc(value: object) -> str:
    """Return a time as ISO-8601 in UTC; raises ValueError without a time zone and before year 1."""
    at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    if at.tzinfo is None:
        raise ValueError("a time needs a time zone")
    try:
        return at.astimezone(UTC).isoformat()
    except OverflowError as error:
        raise ValueError("there is no such time in UTC") from error


SORTED_ONCE = AfterValidator(lambda values: sorted(set(values)))
ONCE_IN_ORDER = AfterValidator(lambda values: list(dict.fromkeys(values)))

Words = Annotated[str, AfterValidator(cleaned)]
Time = Annotated[str, BeforeValidator(iso_utc)]
Dbref = Annotated[str, StringConstraints(pattern=r"^#\d+$")]
Dbrefs = Annotated[list[Dbref], SORTED_ONCE]
Author = Annotated[str, StringConstraints(pattern=rf"^(#\d+|{GAME}|{BUILDER}|{STRANGER})$")]
Labels = Annotated[list[Words], ONCE_IN_ORDER]


class BaseRecord(BaseModel):
    """The fields that every record has about its origin; ids are never used again."""

    # An older version keeps the fields that a newer version stored.
    model_config = ConfigDict(extra="allow")

    id: str = Field(min_length=1, max_length=80)
    source_type: SourceType = "direct"  # how the character came to know it
    # Empty if the source is not one entity.
    source_entity: Annotated[str, StringConstraints(pattern=r"^(#\d+)?$")] = ""
    # Its authors (`policy.audience`): tools' locks are asked of them, "forget me" removes it.
    speakers: Annotated[list[Author], SORTED_ONCE] = Field(default_factory=list)
    source_seqs: Annotated[list[int], SORTED_ONCE] = Field(default_factory=list)
    said_at: Time | None = None  # when these messages were said; None if unknown
    audience: Dbrefs | None = None  # None if it is public
    trust: float = Field(ge=0.0, le=1.0)

    # The lists that a record which is made again takes over, and the fields that hold words.
    united: ClassVar[tuple[str, ...]] = ("speakers", "source_seqs")
    texts: ClassVar[tuple[str, ...]] = ("content",)

    @classmethod
    def changed(cls, record: Record, fields: Mapping[str, object]) -> Record:
        """Return a record with some fields changed, never its id; raises BadRecord."""
        if "id" in fields:
            raise BadRecord("id: an id never changes.")
        later = {name: value for name, value in record.items() if name not in cls.model_fields}
        known = {name: value for name, value in record.items() if name not in later}
        return {**later, **make_record(cls, {**known, **fields})}

    @classmethod
    def merged(
        cls, record: Record, again: Record, fields: Mapping[str, object] = NOTHING
    ) -> Record:
        """Return a record that was made again, with the sources and the higher trust of both.

        ``fields`` are what else changes. Raises BadRecord.
        """
        lists = {name: [*record[name], *again[name]] for name in cls.united}
        trust = max(record["trust"], again["trust"])
        return cls.changed(record, {**lists, "trust": trust, **fields})

    @model_validator(mode="before")
    @classmethod
    def trust_the_source(cls, data: Any) -> Any:
        """Fill in the usual trust for this kind of source if none was given."""
        if isinstance(data, Mapping) and data.get("trust") is None:
            kind = data.get("source_type", "direct")
            return {**data, "trust": TRUST.get(kind, 0.5) if isinstance(kind, str) else 0.5}
        return data


@cache
def kinds_of(model: type[BaseModel]) -> Mapping[str, tuple[type, ...]]:
    """Return the Python types that each field of a stored record may have."""
    properties = model.model_json_schema(mode="serialization")["properties"]
    return {
        name: tuple(PLAIN[kind["type"]] for kind in detail.get("anyOf", [detail]))
        for name, detail in properties.items()
    }


def is_sound(model: type[BaseModel], raw: object) -> bool:
    """Return True if a stored record has every field of its model, rightly typed."""
    # It was fully checked when stored; a full check takes 37 µs a record, this one 4 µs (measured).
    kinds = kinds_of(model)
    if type(raw) is not dict or not kinds.keys() <= raw.keys():
        return False
    if not all(type(raw[name]) in allowed for name, allowed in kinds.items()):
        return False
    lists = (value for value in raw.values() if type(value) is list)
    return all(type(item) in (str, int) for values in lists for item in values)


def read_record(model: type[BaseModel], raw: object) -> Record:
    """Return a stored record with missing fields filled in; raises BadRecord."""
    if isinstance(raw, dict) and is_sound(model, raw):
        return dict(raw)
    return checked_record(model, raw)


def checked_record(model: type[BaseModel], raw: object) -> Record:
    """Return a record after a full check of every field; raises BadRecord."""
    try:
        return model.model_validate(raw).model_dump()
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"][:1]) or "it"
        raise BadRecord(f"{where}: {problem['msg']}.") from error


def make_record(model: type[BaseModel], fields: Mapping[str, object]) -> Record:
    """Return a new record; raises BadRecord, also for an unknown field."""
    unknown = [name for name in fields if name not in model.model_fields]
    if unknown:
        known = ", ".join(model.model_fields)
        raise BadRecord(f"There is no field '{unknown[0]}'. Use one of {known}.")
    return checked_record(model, fields)


def copy_of(record: Record) -> Record:
    """Return a copy of a record, its lists copied too."""
    return {name: list(v) if isinstance(v, list) else v for name, v in record.items()}


def newest_said(records: Iterable[Record]) -> str | None:
    """Return when the newest words behind some records were said, None if unknown."""
    return max(filter(None, (record.get("said_at") for record in records)), default=None)


def time_of(record: Mapping[str, Any]) -> datetime:
    """Return when a record's words were said, else when it was written or last confirmed."""
    at = record.get("said_at") or record.get("timestamp") or record["confirmed_at"]
    return datetime.fromisoformat(at)


def people_in(record: Record) -> frozenset[str]:
    """Return who may have a record forgotten: all it is about, from, quotes, or private to."""
    named = (record.get(name, "") for name in ABOUT)
    return people_among({*named, *(item for name in PEOPLE for item in record[name] or ())})


def is_known_to(record: Record, audience: Audience | None) -> bool:
    """Return True if a record may enter a prompt for this audience; None stands for anybody."""
    confidants = record["audience"]  # as `visible` decides
    return confidants is None or bool(audience and audience <= frozenset(confidants))


def select_known(records: Iterable[Record], audience: Audience | None) -> Sequence[Record]:
    """Return the records that may enter a prompt for this audience, in order."""
    return [record for record in records if is_known_to(record, audience)]


SIZE = 32
LABEL = "{count} records of an assistant; aimemory and aigoals show them"


@dataclass(frozen=True)
class RecordSegment:
    """Part of the list: how many of its numbers are used, and records by number."""

    used: int = 0
    records: Mapping[int, Record] = field(default_factory=dict)
    version: int = 0  # how often it was written

    @property
    def mark(self) -> str:
        """Return what the column with everybody concerned begins with, "" before a version."""
        return f"{self.version or ''} "

    def as_columns(self) -> SegmentColumns:
        """Return the columns of the Attribute: version and everybody concerned ("3 #5 #12 ") first.

        ``db_strvalue`` begins with them.
        """
        content = {"used": self.used, "records": dict(self.records)}
        people = people_field(frozenset().union(*map(people_in, self.records.values())))
        label = LABEL.format(count=len(self.records))
        return stored(content, f"{self.mark[:-1]}{people}", label)


def people_field(people: Iterable[str]) -> str:
    """Return dbrefs as text in which " #5 " finds each one."""
    return " ".join(["", *sorted(people), ""])


def read_segment(
    column: str | None, segment: int, read: Callable[[object], Record], text: str | None = ""
) -> tuple[RecordSegment, bool]:
    """Return the readable part of an Attribute, and whether it was complete.

    If not, all of its numbers count as used. ``column`` is ``db_value``, ``text`` is
    ``db_strvalue``, which also tells the version.
    """
    content = None
    with suppress(BadRecord):
        content = unpacked(column, text)
    return parse_segment(content, segment, read, "?" if text is None else text.partition(" ")[0])


def parse_segment(
    raw: object, segment: int, read: Callable[[object], Record], version: str = ""
) -> tuple[RecordSegment, bool]:
    """Return the readable part of a segment's plain data, and whether it was complete."""
    if not isinstance(raw, dict) or not isinstance(raw.get("records"), dict):
        return RecordSegment(SIZE), False
    records: dict[int, Record] = {}
    for key, item in raw["records"].items():
        with suppress(BadRecord, ValueError):
            if segment_of(number := int(key)) == segment:
                records[number] = read(item)
    used = raw.get("used", -1)
    highest = max(map(place_in, records), default=0)
    whole = len(records) == len(raw["records"]) and used in range(highest, SIZE + 1)
    whole = whole and (version or "0").isdecimal()
    return RecordSegment(used if whole else SIZE, records, int(version or 0) if whole else 0), whole


def segment_of(number: int) -> int:
    """Return the segment of a number; numbers count from 1."""
    return (number - 1) // SIZE


def place_in(number: int) -> int:
    """Return a number's place in its segment, from 1."""
    return (number - 1) % SIZE + 1
