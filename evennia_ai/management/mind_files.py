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
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from evennia_ai.store import server_settings
from evennia_ai.store.attributes import assistants, attributes_of, own_settings
from evennia_ai.store.rows import rows_of
from evennia_ai.store.who_knows import PLACES, STORES, Law

FORMAT = 1
MIND = "mind_id"  # an Attribute of the script: the same mind in every world
LOGS = (models.Turn, models.Event, models.Message, models.ToolCall, models.Compaction,
        models.Amendment)  # fmt: skip
CHUNK, TOLD_EVERY = 500, 20_000  # rows

NOBODY = 2_000_000_000  # no object has this number or a higher one
# Columns with people's words, in which a number means nobody; summaries have people as keys.
WORDS = frozenset(
    name for place in PLACES if place.law is not Law.REWRITTEN for name in place.words
)
NUMBER = re.compile(r"#\d+")
WHO = rf"(?:#\d++|{GAME}|{BUILDER}|{STRANGER})"
PEOPLE = re.compile(rf"\A[\s,]*+{WHO}(?:[\s,]++{WHO})*+[\s,]*+")

Say = Callable[[str], Any]
Rename = Callable[[str], str]
Row = dict[str, Any]


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
            write(file, renamed(mind_of(script), note))
            for rows, row in enumerate(rows_in(script.id), 1):
                renamed_fields(row["fields"], note)
                write(file, row)
                if rows % TOLD_EVERY == 0:
                    say(f"{script.obj.key}: {rows:,} rows ...")
            say(f"{script.obj.key}: saved, with {rows:,} rows.")
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
    records = {int(n): renamed(one, rename) for n, one in segment["records"].items()}
    version = int(segment["version"] or 0) + newer
    return Segment(segment["used"], records, version).as_columns()


def put_rows(rows: Iterator[Row], script: Any, rename: Rename, say: Say) -> None:
    count = 0
    for _table, of_table in groupby(rows, itemgetter("model")):
        while some := [*islice(of_table, CHUNK)]:
            for row in some:
                row["fields"] = renamed_fields(row["fields"], rename)
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
    if not is_stranger(old):
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
                segment = segment_of(row.db_value, row.db_strvalue)
                columns = columns_of(segment, rename, newer=1)
                Attribute.objects.filter(id=row.id).update(**columns)
                changed += 1
    say(f"{old} is {new} now, in {changed:,} rows.")


def write(file: IO[str], line: Row) -> None:
    file.write(json.dumps(line, cls=DjangoJSONEncoder, ensure_ascii=False) + "\n")


# --- who is who -------------------------------------------------------------------------------


@dataclass
class Matching:
    """Who of the old world is who in the new one, by number."""

    people: Mapping[str, Row]  # of the old world: name, and account and its time if a player's
    by_hand: Mapping[str, str] = field(default_factory=dict)  # old number or name: new number
    players_by_name: bool = False

    def __post_init__(self) -> None:
        self.players = players()
        self.next_stranger = max(NOBODY, server_settings.stored(server_settings.NEXT_STRANGER) or 0)
        self.strangers: dict[str, str] = {}  # who is not here: the number that stands for them
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
            named = ObjectDB.objects.filter(db_key__iexact=then["name"]).values_list("id")
            same = {f"#{number}" for (number,) in named} - self.players.keys()
        else:
            sure = ("name", "account") if self.players_by_name else ("name", "account", "joined")
            wanted = [then[name] for name in sure]
            same = {one for one, now in self.players.items() if wanted == [now[n] for n in sure]}
        return same.pop() if len(same) == 1 else ""

    def rename(self, old: str) -> str:
        """Return the new number of somebody; whoever is not here gets one that was never used."""
        if old == FORGOTTEN:
            return old
        if old not in self.found and old not in self.strangers:
            self.strangers[old] = f"#{self.next_stranger}"
            self.next_stranger += 1
        return self.found.get(old) or self.strangers[old]

    def missing(self) -> list[str]:
        lost = [(one["name"], self.rename(old)) for old, one in self.people.items()
                if old not in self.found]  # fmt: skip
        return [f"{name} ({number})" for name, number in sorted(lost)]

    def keep_numbers(self) -> None:
        """Note that no later load may use the numbers of strangers; raises StoreUnavailable."""
        server_settings.write(server_settings.NEXT_STRANGER, self.next_stranger)


def players() -> dict[str, Row]:
    """Return the characters of players by number, with the accounts that tell who they are."""
    accounts = {account.id: account for account in AccountDB.objects.all()}
    owned = [(one, account) for account in accounts.values() for one in listed_by(account)]
    for one in ObjectDB.objects.filter(db_lock_storage__contains="puppet:"):
        numbers = PUPPETEERS.findall(str(one.locks.get("puppet")))
        owned += [(one, accounts[int(n)]) for n in numbers if int(n) in accounts]
    return {
        one.dbref: {"name": one.key, "account": account.username,
                    "joined": account.date_joined.isoformat()} for one, account in owned
    }  # fmt: skip


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
    return {n: v if n in WORDS else renamed(v, rename) for n, v in fields.items()}


def described(dbrefs: set[str]) -> dict[str, Row]:
    """Return who stands behind numbers of objects, as far as they still exist."""
    ids = [int(dbref[1:]) for dbref in dbrefs if not is_stranger(dbref)]
    named = ObjectDB.objects.filter(id__in=ids).values_list("id", "db_key")
    own = players()
    here = {f"#{number}": own.get(f"#{number}", {"name": key}) for number, key in named}
    return here | {dbref: {"name": dbref} for dbref in dbrefs if is_stranger(dbref)}


def is_stranger(dbref: str) -> bool:
    """Return True for a number that `load` gave to somebody who was not there."""
    return bool(NUMBER.fullmatch(dbref)) and int(dbref[1:]) >= NOBODY


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
