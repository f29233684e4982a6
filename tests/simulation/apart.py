"""What "forget me" must delete, and what of others it must leave as it was.

The bytes of all tables are searched, also in base64 and uncompressed. Rows are another's if the
forgotten one neither said, heard nor wrote them, and no word of theirs stands in them.
"""

import base64
import binascii
import re
import zlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.db import connection

from evennia_ai import models
from evennia_ai.store.call_records import read_packed
from tests.simulation.court import Court

CODE = re.compile(rb"[A-Za-z0-9+/]{16,}={0,2}")
DEEPEST = 4
Rows = dict[tuple[str, Any], dict[str, Any]]
# What may change in a row of another's: who was there, whether it was taken up, what was asked.
LOOSE = {
    "Event": {"state", "turn_id", "reason", "audience", "attempts", "authors"},
    "Message": {"audience", "authors"},
    "ToolCall": {"locks"},
    "Turn": {"audience"},
    "ModelCall": set[str](),
    "CallRecord": set[str](),
    "Compaction": {"speakers", "archived", "consulted"},
    "SharedEntry": {"speakers", "people"},
    "SleepPass": {"errors"},
}
DERIVED = (
    "compaction",
    "reflection",
    "inference",
)  # of records that are made anew or go with their sources
KEPT = ("content", "value", "audience", "source_type", "timestamp")  # of a record


# --- what is left --------------------------------------------------------------------------------


def readings(value: Any, depth: int = 0) -> Iterator[bytes]:
    """Yield a stored value as bytes, and what is coded or compressed in it."""
    if isinstance(value, str):
        value = value.encode("utf-8", "replace")
    if not isinstance(value, bytes | memoryview) or depth > DEEPEST:
        return
    raw = bytes(value)
    yield raw.lower()
    for inner in (*unpacked(raw), *decoded(raw)):
        yield from readings(inner, depth + 1)


def unpacked(raw: bytes) -> Iterator[bytes]:
    """Yield what zlib makes of some bytes."""
    for window in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        try:
            yield zlib.decompressobj(window).decompress(raw)
        except zlib.error:
            continue


def decoded(raw: bytes) -> Iterator[bytes]:
    """Yield what stands in base64 in some bytes."""
    for code in CODE.findall(raw):
        try:
            yield base64.b64decode(code + b"=" * (-len(code) % 4))
        except binascii.Error:
            continue


def places_of(words: Collection[str]) -> list[str]:
    """Return the columns of all tables that hold one of some words, with the word."""
    faults, codes = [], [word.encode() for word in words]
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                for name, value in zip(names, row, strict=True):
                    texts = b"\n".join(readings(value))
                    hits = [word.decode() for word in codes if word in texts]
                    faults += [f"{table}.{name} of {row[0]}: {word}" for word in hits]
    for row in models.CallRecord.objects.all():  # packed with a dictionary of shared texts
        text = str(read_packed(bytes(row.packed))).lower()
        faults += [f"a record of call {row.id}: {word}" for word in words if word in text]
    return faults


# --- what is another's ---------------------------------------------------------------------------


class Others:
    """The rows and records that belong to others than one player, as they are now."""

    def __init__(self, court: Court, dbref: str, name: str) -> None:
        self.court, self.dbref = court, dbref
        self.words = re.compile("|".join([*court.ledger.words_of(dbref), rf"\b{name}\b"]), re.I)
        events = models.Event.objects.exclude(turn=None).values()
        self.events = {row["turn_id"] for row in events if row["speaker"] == dbref}
        people = {person.dbref for person in court.players.values()} - {dbref}
        self.of_others = {row["turn_id"] for row in events if row["speaker"] in people}
        # What was whispered to the player, too, is answered in a turn that they are a party to.
        self.whispered = {
            row["turn_id"] for row in events if row["private"] and dbref in row["audience"]
        }
        self.private = dict(models.Turn.objects.filter(private=True).values_list("id", "audience"))
        self.turns = dict(models.Message.objects.values_list("id", "turn_id"))
        self.calls = self.calls_with_words()
        self.rows = {**dict(self.tables()), **dict(self.records())}

    def calls_with_words(self) -> set[str]:
        """Return the ids of the calls that repeat the player's words, or got them as a result."""
        rows = models.Message.objects.exclude(role="user").values()
        traces = [row for row in rows if self.has_words(row)]
        return {call.get("id") for row in traces for call in row["tool_calls"]} | {
            row["tool_call_id"] for row in traces
        } - {""}

    def has_words(self, row: Mapping[str, Any]) -> bool:
        return bool(self.words.search(str(row)))

    def is_apart(self, turn: int | None) -> bool:
        """Return True for a turn of others alone: a noted line makes nobody a party to it.

        A turn without another player may go: it may answer what was an answer to this one.
        """
        if turn is None or turn in self.whispered or turn not in self.of_others:
            return False
        alone = self.dbref not in self.private.get(turn, [self.dbref])
        return alone or turn not in self.events

    def tables(self) -> Iterator[tuple[tuple[str, Any], dict[str, Any]]]:
        """Yield the rows of tables, without what may change."""
        for name, loose in LOOSE.items():
            for row in getattr(models, name).objects.values():
                if getattr(self, f"is_{name.lower()}")(row):
                    yield (name, row["id"]), {k: v for k, v in row.items() if k not in loose}

    def is_event(self, row: Mapping[str, Any]) -> bool:
        """A line of another player."""
        people = self.court.players.values()
        return row["speaker"] in {person.dbref for person in people} - {self.dbref}

    def is_message(self, row: Mapping[str, Any]) -> bool:
        """A line of another player, or what a character said and did for others."""
        if row["speaker"]:
            return self.is_event(row) if row["role"] == "user" else False
        if self.calls & {row["tool_call_id"], *(call.get("id") for call in row["tool_calls"])}:
            return False
        return self.is_apart(row["turn_id"]) and not self.has_words(row)

    def is_toolcall(self, row: Mapping[str, Any]) -> bool:
        if row["call_id"] in self.calls:
            return False
        return self.is_apart(row["turn_id"]) and not self.has_words(row)

    def is_turn(self, row: Mapping[str, Any]) -> bool:
        # A turn that was broken off may have left its lines to a later one.
        asked = self.dbref in row["askers"].split()
        return self.is_apart(row["id"]) and not (asked or self.has_words(row))

    def is_modelcall(self, row: Mapping[str, Any]) -> bool:
        return not row["error"]

    def is_callrecord(self, row: Mapping[str, Any]) -> bool:
        return f"{self.dbref} " not in f"{row['people']} "

    def is_compaction(self, row: Mapping[str, Any]) -> bool:
        return not self.has_words(row) and self.dbref not in str(row["speakers"])

    def is_sharedentry(self, row: Mapping[str, Any]) -> bool:
        return f"{self.dbref} " not in f"{row['people']} " and not self.has_words(row)

    def is_sleeppass(self, row: Mapping[str, Any]) -> bool:
        return row["ended_at"] is not None

    def records(self) -> Iterator[tuple[tuple[str, Any], dict[str, Any]]]:
        """Yield what characters know in confidence of others than the player."""
        for character in self.court.characters.values():
            for store in (character.journal, character.ai_goals, character.ai_profiles):
                for record in filter(self.is_record, store.all()):
                    key = (f"{character.key}'s {store.kind}", record["id"])
                    yield key, {name: record.get(name) for name in KEPT}

    def is_record(self, record: Mapping[str, Any]) -> bool:
        """What was noted in turns of others alone, in confidence, and not about the player."""
        about = {record.get("entity"), record.get("source_entity")}
        audience, speakers = record["audience"], record.get("speakers") or ()
        if not audience or self.dbref in {*audience, *about} or self.has_words(record):
            return False
        if record.get("source_type") in DERIVED and self.dbref in speakers:
            return False
        return all(self.is_apart(self.turns.get(seq)) for seq in record.get("source_seqs") or ())

    def changed(self, now: Rows) -> list[str]:
        """Return what of the others' is gone or different now."""
        faults = []
        for key, row in self.rows.items():
            if key not in now:
                faults.append(f"{key} is gone: {row}"[:400])
            elif now[key] != row:
                parts = [f"{k}: {v!r} → {now[key].get(k)!r}" for k, v in row.items()
                         if now[key].get(k) != v]  # fmt: skip
                faults.append(f"{key} has changed: {parts}"[:400])
        return faults


def everything(court: Court) -> Rows:
    """Return all rows and records, in the form of `Others`."""
    rows: Rows = {}
    for name, loose in LOOSE.items():
        for row in getattr(models, name).objects.values():
            rows[name, row["id"]] = {k: v for k, v in row.items() if k not in loose}
    for character in court.characters.values():
        for store in (character.journal, character.ai_goals, character.ai_profiles):
            for record in store.all():
                key = (f"{character.key}'s {store.kind}", record["id"])
                rows[key] = {name: record.get(name) for name in KEPT}
    return rows


def forget(court: Court, player: Any) -> list[str]:
    """Let a player be forgotten; return what was wrong with it, as sentences."""
    court.rest()
    others = Others(court, player.dbref, player.character.key)
    court.forget(player)
    court.rest()  # long-term memory follows within moments
    left = [
        f"{place} is left of {player.character.key}" for place in places_of(court.ledger.forgotten)
    ]
    stored = court.game.service.semantic.stored.values()
    texts = [text for memories in stored for _, text in memories.values()]
    left += [f"long-term memory: {text}" for text in texts for word in court.ledger.forgotten
             if word in text.lower()]  # fmt: skip
    faults = [
        f"forgetting {player.character.key}: {fault}" for fault in others.changed(everything(court))
    ]
    return [*left, *faults]
