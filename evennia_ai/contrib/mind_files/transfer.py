"""What minds know, kept over a rebuild of the world: a file, and taking it in again.

``evennia ai_minds`` runs this in its own process. Rows keep their own numbers, to which records
refer. Numbers of objects differ in the new world, so each one is replaced: by that of the same
character, and for a player who is not found by one that nobody has, so that no stranger is told
their secrets (P9).
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from tempfile import mkstemp
from typing import IO, Any, cast
from uuid import uuid4

from django.apps import apps
from django.core import serializers
from django.core.management.color import no_style
from django.core.serializers.json import DjangoJSONEncoder
from django.db import Error, connection, transaction
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.contrib.mind_files.mind_lines import (
    FORMAT,
    LOGS,
    TABLES,
    MindLine,
    RowLine,
    SegmentLine,
    kind_of,
    read_lines,
)
from evennia_ai.contrib.mind_files.mind_people import (
    NOBODY,
    Matching,
    Rename,
    Row,
    described,
    existing,
    is_stranger,
    renamed,
    renamed_fields,
)
from evennia_ai.errors import BadRecord, ConfigError
from evennia_ai.policy.records.record import RecordSegment, make_record
from evennia_ai.policy.records.stored_values import unpacked
from evennia_ai.policy.texts import counted
from evennia_ai.store.attributes import assistants, attributes_of, own_settings, stored_columns
from evennia_ai.store.personal_data import STORES
from evennia_ai.store.rows import rows_of

ASKERS = "evennia_ai.migrations.0003_turn_askers"
MIND = "mind_id"  # an Attribute of the script: the same mind in every world
SEQS = ("seq", "from_seq", "upto_seq")  # columns with numbers of messages
CHUNK, TOLD_EVERY = 500, 20_000  # rows

Say = Callable[[str], Any]


# --- saving -----------------------------------------------------------------------------------


def save(path: Path, names: Iterable[str], say: Say) -> None:
    """Write minds into a new file that only its owner reads; raises ConfigError and OSError."""
    scripts = sorted(assistants(), key=lambda script: (script.obj.key.lower(), script.id))
    wanted = {name.lower() for name in names}
    if missing := sorted(wanted - {script.obj.key.lower() for script in scripts}):
        raise ConfigError(f"No NPC is called '{missing[0]}'.")
    chosen = [item for item in scripts if not wanted or item.obj.key.lower() in wanted]
    seen: set[str] = set()

    def note(dbref: str) -> str:
        seen.add(dbref)
        return dbref

    with new_file(path) as file, transaction.atomic():
        write(file, {"format": FORMAT})
        for script in chosen:
            rows = 0
            write(file, renamed(mind_of(script), note))
            for segment in segments_of(script.obj, say):
                write(file, renamed(segment, note))
            for rows, row in enumerate(rows_in(script.id), 1):
                renamed_fields(row["fields"], note)
                write(file, row)
                if rows % TOLD_EVERY == 0:
                    say(f"{script.obj.key}: {counted(rows, 'row')} ...")
            say(f"{script.obj.key}: saved, with {counted(rows, 'row')}.")
        write(file, {"people": described(seen), "minds": len(chosen)})


@contextmanager
def new_file(path: Path) -> Iterator[IO[str]]:
    """Open a file that has its name once it is whole; raises OSError, also if there is one."""
    if path.exists():
        raise FileExistsError(f"{path} exists already. Name another file.")
    descriptor, part = mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as raw, gzip.open(raw, "wt", encoding="utf-8") as file:
            yield file
        read_head(Path(part))  # what `load` would refuse
        Path(part).rename(path)
    finally:
        Path(part).unlink(missing_ok=True)


def mind_of(script: Any) -> Row:
    """Return who a mind is, its settings and its records; it gets an id of its own if need be."""
    if not script.attributes.has(MIND):
        script.attributes.add(MIND, uuid4().hex)
    return {"mind": script.attributes.get(MIND), "who": script.obj.dbref,
            "settings": own_settings(script)}  # fmt: skip


def segments_of(character: Any, say: Say) -> Iterator[Row]:
    """Yield the segments of a character's records, without records that cannot be read."""
    rows = stored_columns(attributes_of(character, *STORES)).order_by("db_attrtype", "db_key")
    columns = rows.values_list("db_attrtype", "db_key", "column", "db_strvalue")
    for kind, key, column, text in columns.iterator(CHUNK):
        if not key.isdecimal():  # one that was damaged and set aside
            continue
        segment = segment_of(column, text)
        sound = {n: item for n, item in segment["records"].items() if is_sound(kind, item)}
        if lost := len(segment["records"]) - len(sound):
            say(f"{character.key}: left out {lost} of its records, which cannot be read.")
        yield {"kind": kind, "number": key, **segment, "records": sound}


def is_sound(kind: str, record: Any) -> bool:
    """Return True for a record that `load` would take."""
    try:
        return bool(make_record(STORES[kind].model_of(record), record))
    except BadRecord:
        return False


def segment_of(column: str | None, text: str | None) -> Row:
    content = unpacked(column, text)
    return {"used": content["used"], "records": content["records"],
            "version": (text or "").partition(" ")[0]}  # fmt: skip


def rows_in(assistant: int) -> Iterator[Row]:
    """Yield the rows of a mind's log, each table after those that it refers to."""
    for model in LOGS:
        rows = rows_of(model, assistant).order_by("id").iterator(CHUNK)
        yield from serializers.serialize("python", rows)


# --- loading ----------------------------------------------------------------------------------


def read_head(path: Path) -> dict[str, Row]:
    """Return the people in a file that `load` takes; raises ConfigError and OSError."""
    last: Row = {}
    for line in read_lines(path):
        last = line
    return cast("dict[str, Row]", last["people"])


def load(path: Path, matching: Matching, say: Say, dry_run: bool = False) -> None:
    """Take in the minds that have a place here: if one fails, none. Raises ConfigError, OSError."""
    try:
        with transaction.atomic():
            scripts = put_lines(read_lines(path), matching, say)
            for script, seqs in scripts:
                check_own(models.Message, seqs, script.id)
            import_module(ASKERS).find_askers(apps, None)  # which older files do not tell
            with connection.cursor() as cursor:
                for statement in connection.ops.sequence_reset_sql(no_style(), LOGS):
                    cursor.execute(statement)
            matching.keep_numbers()
            transaction.set_rollback(dry_run)
    except Error as error:
        raise ConfigError(f"{path.name}: the database does not take it ({error}).") from error


def put_lines(lines: Iterator[Row], matching: Matching, say: Say) -> list[tuple[Any, set[int]]]:
    """Store minds; return each assistant with the numbers of the messages its records name."""
    scripts: list[tuple[Any, set[int]]] = []
    script: Any = None
    for kind, part in groupby(lines, kind_of):
        if kind is MindLine:
            for line in part:
                script = put_mind(line, matching, say)
                scripts += [(script, set())] if script else []
        elif script is not None and kind is SegmentLine:
            for line in part:
                put_segment(line, script, matching.rename)
                for record in line["records"].values():
                    scripts[-1][1].update(record["source_seqs"])
        elif script is not None and kind is RowLine:
            put_rows(part, script, matching.rename, say)
    return scripts


def put_mind(mind: Row, matching: Matching, say: Say) -> Any:
    """Store a mind's settings; return its assistant, None if it has no place."""
    script, why = place_for(mind, matching)
    if script is None:
        say(f"{matching.people.get(mind['who'], {}).get('name', mind['who'])}: {why}")
        return None
    own = own_settings(script)
    for name, value in {**mind["settings"], **own, MIND: mind["mind"]}.items():
        script.attributes.add(name, value)
    say(f"{script.obj.key}: loaded.")
    return script


def put_segment(segment: Row, script: Any, rename: Rename) -> None:
    row = Attribute(db_key=segment["number"], db_model="objectdb", db_attrtype=segment["kind"],
                    **columns_of(segment, rename))  # fmt: skip
    Attribute.objects.bulk_create([row])
    script.obj.db_attributes.add(row)


def place_for(mind: Row, matching: Matching) -> tuple[Any, str]:
    """Return the assistant that a mind is for, or None and why there is none."""
    who = matching.found.get(mind["who"])
    script = assistants().filter(db_obj_id=int(who[1:])).first() if who else None
    if assistants(**{MIND: mind["mind"]}).exists():
        return None, "its mind is here already."
    if script is None:
        return None, "no such character has an assistant here. Make it first, or use --map."
    has_log = any(rows_of(model, script.id).exists() for model in LOGS)
    if has_log or attributes_of(script.obj, *STORES).exists():
        return None, "it has lived here already. Load before anybody plays."
    return script, ""


def columns_of(segment: Row, rename: Rename, newer: int = 0) -> Row:
    """Return the columns of a segment of records in which people have other numbers."""
    records = {int(n): renamed(item, rename) for n, item in segment["records"].items()}
    version = int(segment["version"] or 0) + newer
    return RecordSegment(segment["used"], records, version).as_columns()


def put_rows(rows: Iterator[Row], script: Any, rename: Rename, say: Say) -> None:
    count = 0
    for _table, of_table in groupby(rows, itemgetter("model")):
        while some := [*islice(of_table, CHUNK)]:
            for row in some:
                row["fields"] = renamed_fields(row["fields"], rename)
                row["fields"]["assistant"] = script.id
            insert(some)
            check_references(some, script.id)
            count += len(some)
            if count % TOLD_EVERY < len(some):
                say(f"{script.obj.key}: {counted(count, 'row')} ...")
    say(f"{script.obj.key}: {counted(count, 'row')}.")


def insert(rows: list[Row]) -> None:
    """Insert rows of one table; raises ConfigError if others have their numbers."""
    objects = [item.object for item in serializers.deserialize("python", rows)]
    model = type(objects[0])
    if model.objects.filter(pk__in=[item.pk for item in objects]).exists():
        raise ConfigError("Other assistants have talked here already. Load before anybody plays.")
    model.objects.bulk_create(objects)


def check_references(rows: list[Row], assistant: int) -> None:
    """Raise ConfigError if rows of one table, which are stored, refer to those of another mind."""
    for column in TABLES[rows[0]["model"]]._meta.concrete_fields:
        if not column.is_relation or column.name == "assistant":
            continue
        ids = {row["fields"][column.name] for row in rows} - {None}
        if rows_of(column.related_model, assistant).filter(pk__in=ids).count() < len(ids):
            raise ConfigError("A row refers to one that is not of its mind: save the minds again.")
    seqs = {row["fields"].get(name) for row in rows for name in SEQS} - {None}
    check_own(models.Message, seqs, assistant)


def check_own(model: Any, ids: Iterable[Any], assistant: int) -> None:
    """Raise ConfigError if some numbers are those of rows of another mind."""
    numbers = sorted(ids)
    for start in range(0, len(numbers), CHUNK):
        some = model.objects.filter(pk__in=numbers[start : start + CHUNK])
        if some.exclude(assistant=assistant).exists():
            raise ConfigError("A record names a line of another mind: save the minds again.")


def match(old: str, new: str, say: Say) -> None:
    """Give what is known of somebody who was not here to who they are now; raises ConfigError."""
    if not is_stranger(old):
        raise ConfigError(f"'{old}' is no number that `load` told, such as #{NOBODY + 12}.")
    existing(new)

    def rename(dbref: str) -> str:
        return new if dbref == old else dbref

    changed = 0
    with transaction.atomic():
        for script in assistants():
            for row in rows_in(script.id):
                fields = renamed_fields(row["fields"], rename)
                if fields != row["fields"]:
                    (item,) = serializers.deserialize("python", [{**row, "fields": fields}])
                    item.object.save(force_update=True)
                    changed += 1
            rows = attributes_of(script.obj, *STORES).filter(db_strvalue__contains=old)
            for row in stored_columns(rows):
                segment = segment_of(row.column, row.db_strvalue)
                columns = columns_of(segment, rename, newer=1)
                Attribute.objects.filter(id=row.id).update(**columns)
                changed += 1
    say(f"{old} is {new} now, in {changed:,} rows.")


def write(file: IO[str], line: Row) -> None:
    file.write(json.dumps(line, cls=DjangoJSONEncoder, ensure_ascii=False) + "\n")
