"""Reading a file of minds, which anybody may have written: bounded, and checked line by line.

A line is the head, a mind, a segment of its records, a row of its log, or the end. A file that
fits nothing of this ends in ConfigError with a sentence; it may name no table but the `LOGS`.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from evennia_ai import models
from evennia_ai.config.declared import by_present_names, check_value, known_setting
from evennia_ai.errors import BadRecord, ConfigError
from evennia_ai.messages import EXCUSE
from evennia_ai.policy.audience import BUILDER, GAME, STRANGER
from evennia_ai.policy.records.record import Author, Dbref, make_record, parse_segment
from evennia_ai.policy.sanitize import cut_text, one_line, storable
from evennia_ai.store.personal_data import STORES

FORMAT = 2  # in format 1 the line of a mind held its records
LOGS = (models.Turn, models.Event, models.Message, models.ToolCall, models.Compaction,
        models.Amendment)  # fmt: skip
# The columns that files of earlier versions lack.
ADDED = {"turn": ("askers",)}
FORMER_EVIDENCE = "nature"  # the name of a column in files of earlier versions
TABLES = {model._meta.label_lower: model for model in LOGS}

# A hostile line of this length takes 250 MB of memory (measured).
LINE_BYTES = 8 * 2**20
# A file may unpack to this much and so many times its size: talk packs to a tenth.
SPARE_BYTES, MOST_TIMES = 64 * 2**20, 100
MOST_DEPTH = 8
WHY_CHARS = 200
MOST_NUMBER = 10**15  # far from the last id of a table

Row = dict[str, Any]

# --- the lines --------------------------------------------------------------------------------

Number = Annotated[int, Field(strict=True, ge=0, le=MOST_NUMBER)]
SegmentNumber = Annotated[str, StringConstraints(pattern=r"^[0-9]{6}$")]


class Line(BaseModel):
    """A line of a file of minds."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Head(Line):
    """The first line."""

    format: Literal[1, 2]


class Somebody(Line):
    """Somebody of the old world."""

    name: str


class Player(Somebody):
    """A player, with the account and the time when it was made."""

    account: str
    joined: str


class End(Line):
    """The last line: everybody whom the lines before name by number."""

    people: dict[Dbref, Somebody | Player]
    minds: Number


class SegmentLine(Line):
    """A segment of the records of the mind before it."""

    kind: str
    number: SegmentNumber
    used: Number
    records: dict[str, dict[str, Any]]
    version: Annotated[str, StringConstraints(pattern=r"^[0-9]{0,12}$")]


class MindLine(Line):
    """Whose mind it is, and its settings."""

    mind: Annotated[str, StringConstraints(pattern=r"^[\w-]{1,80}$")]
    who: Dbref
    settings: dict[str, Any]
    records: list[SegmentLine] = []


class RowLine(Line):
    """A row of the log of the mind before it."""

    model: Literal[tuple(TABLES)]  # type: ignore[valid-type]
    pk: Annotated[Number, Field(ge=1)]
    fields: dict[str, Any]


KINDS: Mapping[str, type[Line]] = {
    "format": Head, "mind": MindLine, "used": SegmentLine, "pk": RowLine, "people": End
}  # fmt: skip


def kind_of(line: Row) -> type[Line]:
    """Return the class of a line; raises ConfigError if it has none."""
    for name, kind in KINDS.items():
        if name in line:
            return kind
    raise ConfigError("this is no line of a file of minds")


def read_lines(path: Path) -> Iterator[Row]:
    """Yield the checked lines of a file in order; raises ConfigError and OSError."""
    reader = MindFileReader()
    for number, raw in raw_lines(path):
        try:
            yield from reader.read(raw)
        except ConfigError as error:
            reason = cut_text(one_line(str(error)), WHY_CHARS).rstrip(".")
            raise ConfigError(f"{path.name}, line {number}: {reason}.") from error
    if reader.last is not End:
        raise ConfigError(f"{path.name} ends too early: save the minds again.")


def raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a packed file with their numbers, as far as they are bounded."""
    room = SPARE_BYTES + MOST_TIMES * path.stat().st_size
    try:
        with gzip.open(path) as file:
            for number in count(1):
                raw = file.readline(LINE_BYTES + 1)
                room -= len(raw)
                if len(raw) > LINE_BYTES or room < 0:
                    raise ConfigError(f"{path.name}, line {number}: this is longer than minds are.")
                if not raw:
                    return
                yield number, raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ConfigError(
            f"{path.name} is no whole file of minds: it is cut off, damaged, or not packed."
        ) from error


class MindFileReader:
    """Checks the lines of one file in turn."""

    def __init__(self) -> None:
        self.last: type[Line] | None = None
        self.minds = 0
        self.tables: list[str] = []  # in whose order the rows of a mind stand
        self.row = 0
        self.seen: set[tuple[str, str]] = set()  # the segments and records of a mind, by kind

    def read(self, raw: bytes) -> Iterator[Row]:
        """Yield a line, and after a mind of the former format its records; raises ConfigError."""
        line = parsed(raw)
        kind = kind_of(line)
        checked(kind, line)
        if (self.last is None) != (kind is Head) or self.last is End:
            raise ConfigError("this line stands in a wrong place")
        if self.last is Head and kind not in (MindLine, End):
            raise ConfigError("this line belongs to no mind")
        self.last = kind
        records = line.pop("records", []) if kind is MindLine else []
        self.check(kind, line)
        yield line
        for segment in records:
            self.check(SegmentLine, segment)
            yield segment

    def check(self, kind: type[Line], line: Row) -> None:
        """Raise ConfigError for a line that does not fit those before it."""
        if kind is MindLine:
            self.minds += 1
            self.seen.clear()
            self.row, self.tables = 0, list(TABLES)
            line["settings"] = by_present_names(line["settings"])
            for name, value in line["settings"].items():
                check_value(known_setting(name), value)
        elif kind is SegmentLine:
            names = [f"segment {line['number']}", *check_segment(line)]
            new = {(line["kind"], name) for name in names}
            if len(new) < len(names) or not self.seen.isdisjoint(new):
                raise ConfigError("a record stands there twice")
            self.seen |= new
        elif kind is RowLine:
            self.check_order(line)
            if FORMER_EVIDENCE in line["fields"]:
                line["fields"]["evidence"] = line["fields"].pop(FORMER_EVIDENCE)
            check_row(TABLES[line["model"]], line["fields"])
        elif kind is End and line["minds"] != self.minds:
            raise ConfigError(f"{line['minds']} minds were saved, and {self.minds} are there")

    def check_order(self, line: Row) -> None:
        """Raise ConfigError for a row that stands before others, or twice."""
        if line["model"] not in self.tables:
            raise ConfigError("this row stands in a wrong place")
        if line["model"] != self.tables[0]:
            del self.tables[: self.tables.index(line["model"])]
            self.row = 0
        if line["pk"] <= self.row:
            raise ConfigError("this row stands in a wrong place, or twice")
        self.row = line["pk"]


def parsed(raw: bytes) -> Row:
    """Return a line of JSON that is plain data; raises ConfigError."""
    try:
        line = json.loads(raw.decode())
        if not isinstance(line, dict):
            raise ConfigError("this is no line of a file of minds")
        ensure_plain(line)
    except (ValueError, RecursionError) as error:
        raise ConfigError("this is no line of a file of minds") from error
    return line


def ensure_plain(value: object, depth: int = 0) -> None:
    """Raise ConfigError for data that a table does not keep as it is."""
    if depth > MOST_DEPTH:
        raise ConfigError("it is nested too deeply")
    if isinstance(value, dict):
        for key in value:
            ensure_plain(key, depth + 1)
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            ensure_plain(item, depth + 1)
    elif isinstance(value, str):
        if (not value.isascii() or "\0" in value) and storable(value) != value:
            raise ConfigError("it holds characters that are no text")
    elif isinstance(value, int | float) and not abs(value) <= MOST_NUMBER:  # nor is NaN
        raise ConfigError("it holds a number that is too large")


def checked(kind: type[Line], line: Row) -> None:
    """Raise ConfigError for a line with other keys or values than those of its kind."""
    try:
        kind.model_validate(line)
    except ValidationError as error:
        # The sentence does not hold the value, which may be anything.
        problem = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise ConfigError(f"{where:.80}: {problem['msg'].lower()}") from error


# --- records ----------------------------------------------------------------------------------


def check_segment(line: Row) -> list[str]:
    """Return the ids of a segment's records; raises ConfigError."""
    if line["kind"] not in STORES:
        raise ConfigError("it has records of an unknown kind")
    model_of = STORES[line["kind"]].model_of
    try:
        records = {int(n): make_record(model_of(item), item) for n, item in line["records"].items()}
    except (BadRecord, ValueError) as error:
        raise ConfigError(f"a record does not fit: {error}") from error
    content = {"used": line["used"], "records": records}
    _segment, is_whole = parse_segment(content, int(line["number"]), cast("Any", dict))
    if not is_whole or [*map(str, records)] != [*line["records"]]:
        raise ConfigError("these records have other numbers than they may")
    line["records"] = records
    return [record["id"] for record in records.values()]


# --- rows -------------------------------------------------------------------------------------

PERSON = re.compile(r"(?:#[0-9]+)?")
AUTHORS = re.compile(rf"(?: (?:#[0-9]+|{GAME}|{BUILDER}|{STRANGER}))* ?")
Part = Annotated[str, StringConstraints(pattern=r"^(public|(#[0-9]+(,#[0-9]+)*)?)$")]
Ref = Annotated[str, StringConstraints(pattern=r"^(entry:.*|entity:#[0-9]+)$")]
How = Literal["read", "changed"]


class Function(Line):
    """What a tool call in a message calls; the arguments are JSON."""

    name: str
    arguments: str


class MindFileCall(Line):
    """A tool call in a message."""

    id: str
    type: Literal["function"]
    function: Function
    sent: dict[str, Any] = {}


def matches(pattern: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: bool(pattern.fullmatch(value))


def shaped(kind: Any) -> Callable[[Any], bool]:
    """Return what is True for plain data of a type."""
    adapter = TypeAdapter(kind)

    def fits(value: Any) -> bool:
        try:
            adapter.validate_python(value, strict=True)
        except ValidationError:
            return False
        return True

    return fits


def is_time(value: object) -> bool:
    """Return True for a time with its zone that any zone has, too."""
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
        return bool(at and at.tzinfo and at.astimezone(UTC))
    except (ValueError, OverflowError):
        return False


def whole(most: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and 0 <= value <= most


# By the type of a column, and what single columns have beside it, by table or for all.
TYPES: Mapping[str, Callable[[Any], bool]] = {
    "CharField": shaped(str),
    "TextField": shaped(str),
    "DateTimeField": is_time,
    "BooleanField": shaped(bool),
    "ForeignKey": whole(MOST_NUMBER),
    "BigIntegerField": whole(MOST_NUMBER),
    "PositiveIntegerField": whole(2**31 - 1),
    "PositiveSmallIntegerField": whole(2**15 - 1),
    "JSONField": shaped(dict[str, Any] | list[Any]),
}
SHAPES: Mapping[str, Callable[[Any], bool]] = {
    "speaker": matches(PERSON),
    "item": matches(PERSON),
    "authors": matches(AUTHORS),
    "audience": shaped(list[Author]),
    "message.role": shaped(Literal["user", "assistant", "tool", EXCUSE]),
    "message.tool_calls": shaped(list[MindFileCall]),
    "message.consulted": shaped(dict[How, list[Ref]]),
    "compaction.consulted": shaped(dict[How, list[list[Ref | int | Part]]]),
    "compaction.summary": shaped(dict[Part, str]),
    "compaction.speakers": shaped(dict[Part, list[Author]]),
    "compaction.cost": shaped(dict[str, int]),
}


def check_row(model: Any, fields: Row) -> None:
    """Raise ConfigError for a row with other columns or values than those of its table.

    A column that a later version added gets its default.
    """
    columns = {
        concrete_field.name: concrete_field
        for concrete_field in model._meta.concrete_fields
        if not concrete_field.primary_key
    }
    for name in ADDED.get(model._meta.model_name, ()):
        fields.setdefault(name, columns[name].get_default())
    if odd := sorted(columns.keys() ^ fields.keys()):
        raise ConfigError(f"{odd[0]:.80}: there is no such column, or it is missing")
    for name, column in columns.items():
        if not fits(column, fields[name]):
            raise ConfigError(f"{name}: this value does not fit")


def fits(column: Any, value: Any) -> bool:
    """Return True for a value that a column keeps as it is."""
    if value is None:
        return bool(column.null)
    if not TYPES[column.get_internal_type()](value):
        return False
    if column.max_length and len(value) > column.max_length:
        return False
    own = f"{column.model._meta.model_name}.{column.name}"
    return all(SHAPES[name](value) for name in (column.name, own) if name in SHAPES)
