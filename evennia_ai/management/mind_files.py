"""What minds know, kept over a rebuild of the world: a file, and taking it in again.

``evennia ai_minds`` runs this in its own process. Numbers of objects are replaced by those of the
new world (`people`). Rows keep their own numbers, to which records refer.
"""

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from tempfile import mkstemp
from typing import IO, Any
from uuid import uuid4

from django.core import serializers
from django.core.management.color import no_style
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.errors import ConfigError
from evennia_ai.management import people
from evennia_ai.management.people import Matching, Rename, Row
from evennia_ai.policy.disclosure import unsealed
from evennia_ai.policy.records.provenance import Segment
from evennia_ai.store.attributes import assistants, attributes_of, own_settings
from evennia_ai.store.rows import rows_of
from evennia_ai.store.who_knows import STORES

FORMAT = 1
MIND = "mind_id"  # an Attribute of the script: the same mind in every world
LOGS = (models.Turn, models.Event, models.Message, models.ToolCall, models.Compaction,
        models.Amendment)  # fmt: skip
CHUNK, TOLD_EVERY = 500, 20_000  # rows

Say = Callable[[str], Any]


# --- saving -----------------------------------------------------------------------------------


def save(path: Path, names: Iterable[str], say: Say) -> None:
    """Write minds into a new file that only its owner reads; raises ConfigError and OSError."""
    scripts = sorted(assistants(), key=lambda script: (script.obj.key.lower(), script.id))
    wanted = {name.lower() for name in names}
    if missing := sorted(wanted - {script.obj.key.lower() for script in scripts}):
        raise ConfigError(f"No character with an assistant is called '{missing[0]}'.")
    chosen = [one for one in scripts if not wanted or one.obj.key.lower() in wanted]
    seen: set[str] = set()

    def note(dbref: str) -> str:
        seen.add(dbref)
        return dbref

    with new_file(path) as file, transaction.atomic():
        write(file, {"format": FORMAT})
        for script in chosen:
            rows = 0
            write(file, people.renamed(mind_of(script), note))
            for rows, row in enumerate(rows_in(script.id), 1):
                people.renamed_fields(row["fields"], note)
                write(file, row)
                if rows % TOLD_EVERY == 0:
                    say(f"{script.obj.key}: {rows:,} rows ...")
            say(f"{script.obj.key}: saved, with {rows:,} rows.")
        write(file, {"people": people.described(seen), "minds": len(chosen)})


@contextmanager
def new_file(path: Path) -> Iterator[IO[str]]:
    """Open a file that has its name once it is whole; raises OSError, also if there is one."""
    if path.exists():
        raise FileExistsError(f"{path} exists already. Name another file.")
    descriptor, part = mkstemp(dir=path.parent, prefix=f"{path.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as raw, gzip.open(raw, "wt", encoding="utf-8") as file:
            yield file
        Path(part).rename(path)
    finally:
        Path(part).unlink(missing_ok=True)


def mind_of(script: Any) -> Row:
    """Return who a mind is, its settings and its records; it gets an id of its own if need be."""
    if not script.attributes.has(MIND):
        script.attributes.add(MIND, uuid4().hex)
    records = [
        {"kind": kind, "number": key, **segment_of(raw, text)}
        for kind, key, raw, text in attributes_of(script.obj, *STORES).values_list(
            "db_attrtype", "db_key", "db_value", "db_strvalue"
        )
        if key.isdecimal()  # not one that was damaged and set aside
    ]
    return {"mind": script.attributes.get(MIND), "who": script.obj.dbref,
            "settings": own_settings(script), "records": records}  # fmt: skip


def segment_of(raw: Any, text: str | None) -> Row:
    content = unsealed(raw)
    return {"used": content["used"], "records": content["records"],
            "version": (text or "").partition(" ")[0]}  # fmt: skip


def rows_in(assistant: int) -> Iterator[Row]:
    """Yield the rows of a mind's log, each table after those that it refers to."""
    for model in LOGS:
        found = rows_of(model, assistant).order_by("id").iterator(CHUNK)
        yield from serializers.serialize("python", found)


# --- loading ----------------------------------------------------------------------------------


def read_head(path: Path) -> dict[str, Row]:
    """Return the people in a file that was written to its end; raises ConfigError and OSError."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            first = last = json.loads(file.readline())
            for line in file:
                last = json.loads(line)
    except (ValueError, EOFError, gzip.BadGzipFile) as error:
        raise ConfigError(f"{path.name} is no whole file of minds: {error}") from error
    if first.get("format") != FORMAT:
        raise ConfigError(f"{path.name} is no file of minds of format {FORMAT}.")
    if "people" not in last:
        raise ConfigError(f"{path.name} ends too early: save the minds again.")
    found: dict[str, Row] = last["people"]
    return found


def load(path: Path, matching: Matching, say: Say, dry_run: bool = False) -> None:
    """Take in the minds that have a place here: if one fails, none. Raises ConfigError, OSError."""
    with gzip.open(path, "rt", encoding="utf-8") as file, transaction.atomic():
        script: Any = None
        lines = map(json.loads, islice(file, 1, None))
        for are_rows, part in groupby(lines, lambda line: "model" in line):
            if are_rows and script is not None:
                put_rows(part, script, matching.rename, say)
            elif not are_rows:
                *_, script = [put_mind(one, matching, say) for one in part]
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), LOGS):
                cursor.execute(statement)
        matching.keep_numbers()
        transaction.set_rollback(dry_run)


def put_mind(mind: Row, matching: Matching, say: Say) -> Any:
    """Store what a mind knows besides its log; return its assistant, None if it has no place."""
    if "mind" not in mind:  # the last line
        return None
    script, why = place_for(mind, matching)
    if script is None:
        say(f"{matching.people.get(mind['who'], {}).get('name', mind['who'])}: {why}")
        return None
    own = own_settings(script)
    for name, value in {**mind["settings"], **own, MIND: mind["mind"]}.items():
        script.attributes.add(name, value)
    for one in mind["records"]:
        row = Attribute(db_key=one["number"], db_model="objectdb", db_attrtype=one["kind"],
                        **columns_of(one, matching.rename))  # fmt: skip
        Attribute.objects.bulk_create([row])
        script.obj.db_attributes.add(row)
    say(f"{script.obj.key}: loaded.")
    return script


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
    records = {int(n): people.renamed(one, rename) for n, one in segment["records"].items()}
    version = int(segment["version"] or 0) + newer
    return Segment(segment["used"], records, version).as_columns()


def put_rows(rows: Iterator[Row], script: Any, rename: Rename, say: Say) -> None:
    count = 0
    for _table, of_table in groupby(rows, itemgetter("model")):
        while some := [*islice(of_table, CHUNK)]:
            for row in some:
                row["fields"] = people.renamed_fields(row["fields"], rename)
                row["fields"]["assistant"] = script.id
            insert(some)
            count += len(some)
            if count % TOLD_EVERY < len(some):
                say(f"{script.obj.key}: {count:,} rows ...")
    say(f"{script.obj.key}: {count:,} rows.")


def insert(rows: list[Row]) -> None:
    """Insert rows of one table; raises ConfigError if others have their numbers."""
    objects = [one.object for one in serializers.deserialize("python", rows)]
    model = type(objects[0])
    if model.objects.filter(pk__in=[one.pk for one in objects]).exists():
        raise ConfigError("Other assistants have talked here already. Load before anybody plays.")
    model.objects.bulk_create(objects)


def match(old: str, new: str, say: Say) -> None:
    """Give what is known of somebody who was not here to who they are now; raises ConfigError."""
    if not people.is_stranger(old):
        raise ConfigError(f"'{old}' is no number that `load` told, such as #{people.NOBODY + 12}.")
    people.existing(new)

    def rename(dbref: str) -> str:
        return new if dbref == old else dbref

    changed = 0
    with transaction.atomic():
        for script in assistants():
            for row in rows_in(script.id):
                found = people.renamed_fields(row["fields"], rename)
                if found != row["fields"]:
                    (one,) = serializers.deserialize("python", [{**row, "fields": found}])
                    one.object.save(force_update=True)
                    changed += 1
            for row in attributes_of(script.obj, *STORES).filter(db_strvalue__contains=old):
                segment = segment_of(row.db_value, row.db_strvalue)
                columns = columns_of(segment, rename, newer=1)
                Attribute.objects.filter(id=row.id).update(**columns)
                changed += 1
    say(f"{old} is {new} now, in {changed:,} rows.")


def write(file: IO[str], line: Row) -> None:
    file.write(json.dumps(line, cls=DjangoJSONEncoder, ensure_ascii=False) + "\n")
