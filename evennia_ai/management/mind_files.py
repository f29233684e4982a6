"""What minds know, kept over a rebuild of the world: a file, and taking it in again.

``evennia ai_minds`` runs this in its own process. Numbers of objects differ in the new world, so
each one is replaced: by that of the same character, and for a player who is not found by one that
nobody has, so that no stranger is told their secrets (P9). Rows keep their own numbers, to which
records refer.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from django.core import serializers
from django.core.management.color import no_style
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from evennia.accounts.models import AccountDB
from evennia.objects.models import ObjectDB
from evennia.typeclasses.attributes import Attribute

from evennia_ai import models
from evennia_ai.errors import ConfigError
from evennia_ai.game.authorship import PUPPETEERS, listed_by
from evennia_ai.policy.audience import BUILDER, GAME, STRANGER
from evennia_ai.policy.disclosure import unsealed
from evennia_ai.policy.records.forgetting import FORGOTTEN
from evennia_ai.policy.records.provenance import Segment
from evennia_ai.store.attributes import assistants, attributes_of, own_settings
from evennia_ai.store.rows import rows_of
from evennia_ai.store.who_knows import STORES

FORMAT = 1
MIND = "mind_id"  # an Attribute of the script: the same mind in every world
NOBODY = 2_000_000_000  # added to the number of somebody who is not here; no object has such a one
LOGS = (models.Turn, models.Event, models.Message, models.ToolCall, models.Compaction,
        models.Amendment)  # fmt: skip
# Columns with people's words, in which a number means nobody.
WORDS = frozenset({"text", "content", "arguments", "result", "detail", "comment", "locks"})
NUMBER = re.compile(r"#\d+")
WHO = rf"(?:#\d+|{GAME}|{BUILDER}|{STRANGER})"
PEOPLE = re.compile(rf"[\s,]*{WHO}(?:[\s,]+{WHO})*[\s,]*")
CHUNK, TOLD_EVERY = 500, 20_000  # rows

Rename = Callable[[str], str]
Row = dict[str, Any]
Say = Callable[[str], Any]


@dataclass
class Matching:
    """Who of the old world is who in the new one, by number."""

    people: Mapping[str, Row]  # of the old world: name, and account and its time if a player's
    by_hand: Mapping[str, str] = field(default_factory=dict)  # old number or name: new number
    players_by_name: bool = False

    def __post_init__(self) -> None:
        self.players = players()
        by_hand = {self.named(wanted) for wanted in self.by_hand}
        found = {old: new for old in self.people if (new := self.find(old))}
        taken = Counter(found.values())  # two of one name may both seem to be the only one here
        self.found = {old: new for old, new in found.items() if taken[new] == 1 or old in by_hand}

    def named(self, wanted: str) -> str:
        """Return the number of whom an admin names; raises ConfigError unless that is one."""
        found = [old for old, one in self.people.items() if wanted in (old, one["name"].lower())]
        if len(found) != 1:
            raise ConfigError(
                f"{len(found)} in the file are called '{wanted}'. "
                + ("Map each by number." if found else "See `load --dry-run` for who is in it.")
            )
        return found[0]

    def find(self, old: str) -> str:
        """Return the number of somebody in the new world, "" if that is not certain."""
        then = self.people[old]
        by_hand = self.by_hand.get(old) or self.by_hand.get(then["name"].lower())
        if by_hand:
            return by_hand
        if "account" not in then:
            named = ObjectDB.objects.filter(db_key__iexact=then["name"]).values_list(
                "id", flat=True
            )
            same = {f"#{number}" for number in named} - self.players.keys()
        else:
            sure = ("name", "account") if self.players_by_name else ("name", "account", "joined")
            same = {
                dbref
                for dbref, now in self.players.items()
                if all(now[name] == then[name] for name in sure)
            }
        return same.pop() if len(same) == 1 else ""

    def rename(self, old: str) -> str:
        """Return the new number of somebody; nobody has that of whoever is not here."""
        if old == FORGOTTEN:
            return old
        return self.found.get(old) or f"#{NOBODY + int(old[1:])}"

    def missing(self) -> list[str]:
        """Return who is not here, with the numbers that stand for them."""
        lost = [(one["name"], self.rename(old)) for old, one in self.people.items()
                if old not in self.found]  # fmt: skip
        return [f"{name} ({number})" for name, number in sorted(lost)]


def players() -> dict[str, Row]:
    """Return the characters of players by number, with the accounts that tell who they are."""
    accounts = {account.id: account for account in AccountDB.objects.all()}
    owned = [(one, account) for account in accounts.values() for one in listed_by(account)]
    for one in ObjectDB.objects.filter(db_lock_storage__contains="puppet:"):
        numbers = PUPPETEERS.findall(str(one.locks.get("puppet")))
        owned += [(one, accounts[int(n)]) for n in numbers if int(n) in accounts]
    return {
        one.dbref: {
            "name": one.key,
            "account": account.username,
            "joined": account.date_joined.isoformat(),
        }
        for one, account in owned
    }


def renamed(value: Any, rename: Rename) -> Any:
    """Return plain data in which every text of nothing but people has other numbers."""
    if isinstance(value, str):
        if "#" not in value or not PEOPLE.fullmatch(value):
            return value
        text = NUMBER.sub(lambda found: rename(found[0]), value)
        return ",".join(in_order(value.split(","), text.split(",")))
    if isinstance(value, Mapping):
        return {renamed(key, rename): renamed(one, rename) for key, one in value.items()}
    if isinstance(value, list | tuple):
        new = [renamed(one, rename) for one in value]
        return in_order(list(value), new) if all(isinstance(one, str) for one in new) else new
    return value


def in_order(old: list[str], new: list[str]) -> list[str]:
    """Return people sorted if they were: keys of summaries and of memories compare them so."""
    return sorted(new) if old != new and old == sorted(old) else new


def renamed_fields(fields: Mapping[str, Any], rename: Rename) -> Row:
    """Return the columns of a row, those with words unchanged."""
    return {n: v if n in WORDS else renamed(v, rename) for n, v in fields.items()}


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

    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with gzip.open(os.fdopen(descriptor, "wb"), "wt") as file, transaction.atomic():
        write(file, {"format": FORMAT})
        for script in chosen:
            rows = 0
            write(file, renamed(mind_of(script), note))
            for row in rows_in(script.id):
                renamed_fields(row["fields"], note)
                write(file, row)
                rows += 1
                if rows % TOLD_EVERY == 0:
                    say(f"{script.obj.key}: {rows:,} rows ...")
            say(f"{script.obj.key}: saved, with {rows:,} rows.")
        write(file, {"people": people_of(seen), "minds": len(chosen)})


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
    """Return a segment of records as plain data."""
    content = unsealed(raw)
    return {"used": content["used"], "records": content["records"],
            "version": (text or "").partition(" ")[0]}  # fmt: skip


def rows_in(assistant: int) -> Iterator[Row]:
    """Yield the rows of a mind's log, each table after those that it refers to."""
    for model in LOGS:
        found = rows_of(model, assistant).order_by("id").iterator(CHUNK)
        yield from serializers.serialize("python", found)


def people_of(dbrefs: set[str]) -> dict[str, Row]:
    """Return who stands behind numbers of objects, as far as they still exist."""
    ids = [int(dbref[1:]) for dbref in dbrefs if int(dbref[1:]) < NOBODY]
    named = ObjectDB.objects.filter(id__in=ids).values_list("id", "db_key")
    own = players()
    return {f"#{number}": own.get(f"#{number}", {"name": key}) for number, key in named}


# --- loading ----------------------------------------------------------------------------------


def read_head(path: Path) -> dict[str, Row]:
    """Return the people in a file that was written to its end; raises ConfigError and OSError."""
    try:
        with gzip.open(path, "rt") as file:
            first = last = json.loads(file.readline())
            for line in file:
                last = json.loads(line)
    except (ValueError, EOFError, gzip.BadGzipFile) as error:
        raise ConfigError(f"{path.name} is no whole file of minds: {error}") from error
    if first.get("format") != FORMAT:
        raise ConfigError(f"{path.name} is no file of minds of format {FORMAT}.")
    if "people" not in last:
        raise ConfigError(f"{path.name} ends too early: save the minds again.")
    people: dict[str, Row] = last["people"]
    return people


def load(path: Path, matching: Matching, say: Say, dry_run: bool = False) -> None:
    """Take minds in, each as a whole or not at all; raises ConfigError and OSError."""
    with gzip.open(path, "rt") as file, transaction.atomic():
        lines = (json.loads(line) for line in islice(file, 1, None))
        mind = next(lines)
        while "mind" in mind:
            script, why = place_for(mind, matching)
            if script is None:
                say(f"{matching.people.get(mind['who'], {}).get('name', mind['who'])}: {why}")
            else:
                put_records(script, mind, matching.rename)
            mind, count = put_rows(lines, script, matching.rename, say)
            if script is not None:
                say(f"{script.obj.key}: loaded, with {count:,} rows.")
        with connection.cursor() as cursor:
            for statement in connection.ops.sequence_reset_sql(no_style(), LOGS):
                cursor.execute(statement)
        transaction.set_rollback(dry_run)


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


def put_records(script: Any, mind: Row, rename: Rename) -> None:
    """Store a mind's id, its records, and the settings that the new assistant does not have."""
    own = own_settings(script)
    for name, value in {**mind["settings"], **own, MIND: mind["mind"]}.items():
        script.attributes.add(name, value)
    for one in mind["records"]:
        records = {
            int(number): renamed(record, rename) for number, record in one["records"].items()
        }
        segment = Segment(one["used"], records, int(one["version"] or 0))
        row = Attribute(db_key=one["number"], db_model="objectdb", db_attrtype=one["kind"],
                        **segment.as_columns())  # fmt: skip
        Attribute.objects.bulk_create([row])
        script.obj.db_attributes.add(row)


def put_rows(lines: Iterator[Row], script: Any, rename: Rename, say: Say) -> tuple[Row, int]:
    """Store the rows of a mind, or pass over them; return the line after them, and their number."""
    count, waiting = 0, list[Row]()
    for line in lines:
        if "model" not in line:
            break
        if script is None:
            continue
        if waiting and (waiting[0]["model"] != line["model"] or len(waiting) == CHUNK):
            insert(waiting)
            waiting = []
        fields = renamed_fields(line["fields"], rename) | {"assistant": script.id}
        waiting.append({**line, "fields": fields})
        count += 1
        if count % TOLD_EVERY == 0:
            say(f"{script.obj.key}: {count:,} rows ...")
    if waiting:
        insert(waiting)
    return line, count


def insert(rows: list[Row]) -> None:
    """Insert rows of one table; raises ConfigError if others have their numbers."""
    objects = [one.object for one in serializers.deserialize("python", rows)]
    model = type(objects[0])
    if model.objects.filter(pk__in=[one.pk for one in objects]).exists():
        raise ConfigError("Other assistants have talked here already. Load before anybody plays.")
    model.objects.bulk_create(objects)


def existing(dbref: str) -> str:
    """Return the number of an object that is here; raises ConfigError for anything else."""
    if not NUMBER.fullmatch(dbref):
        raise ConfigError(f"'{dbref}' is no number of an object, such as #12.")
    if not ObjectDB.objects.filter(id=int(dbref[1:])).exists():
        raise ConfigError(f"There is no object {dbref}.")
    return dbref


def read_map(pairs: Iterable[str]) -> dict[str, str]:
    """Return what pairs such as "Ann=#12" say; raises ConfigError."""
    split = (pair.rpartition("=") for pair in pairs)
    return {old.strip().lower(): existing(new.strip()) for old, _, new in split}


def match(old: str, new: str, say: Say) -> None:
    """Give what is known of somebody who was not here to who they are now; for all minds.

    Raises ConfigError.
    """
    if not NUMBER.fullmatch(old) or int(old[1:]) < NOBODY:
        raise ConfigError(f"'{old}' is no number that `load` told, such as #{NOBODY + 12}.")
    existing(new)

    def rename(dbref: str) -> str:
        return new if dbref == old else dbref

    changed = 0
    with transaction.atomic():
        for script in assistants():
            for row in rows_in(script.id):
                found = renamed_fields(row["fields"], rename)
                if found != row["fields"]:
                    (one,) = serializers.deserialize("python", [{**row, "fields": found}])
                    one.object.save(force_update=True)
                    changed += 1
            for row in attributes_of(script.obj, *STORES).filter(db_strvalue__contains=old):
                one = segment_of(row.db_value, row.db_strvalue)
                segment = Segment(
                    one["used"], renamed(one["records"], rename), int(one["version"]) + 1
                )
                Attribute.objects.filter(id=row.id).update(**segment.as_columns())
                changed += 1
    say(f"{old} is {new} now, in {changed:,} rows.")


def write(file: IO[str], line: Row) -> None:
    file.write(json.dumps(line, cls=DjangoJSONEncoder, ensure_ascii=False) + "\n")
