"""Read what a killed game leaves behind into the rows that `tests.invariants` judges.

The sources are its tables, the journal of `crash_points`, and the players' screens.
"""

import json
import re
from collections import Counter
from collections.abc import Container, Iterable
from datetime import UTC, datetime
from typing import Any

from evennia_ai.policy.conversation.tool_call_rules import own_call_id
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.turn.fallback import EXCUSE_STEP
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION
from tests.e2e.crash.crash_game import CrashGame
from tests.e2e.telnet import TelnetPlayer
from tests.invariants import (
    ActRow,
    CompactionRow,
    Deed,
    EventRow,
    Evidence,
    MessageRow,
    Put,
    TurnRow,
    Violation,
)
from tests.invariants.words import NO_WORDS

MARK = re.compile(r"\b[km]\d+\b")
ECHO = re.compile(r"^You (?:say|whisper)\b.*?\b(k\d+)\b", re.M)
ACT = r'^(?:{names}) (?:says, |whispers: |waves )"?(?P<shown>.*?)"?$'
SPEAKERS = ("Mira",)
CHARS = 8_000
EXCUSE_END = own_call_id(0, EXCUSE_STEP, 0)[-4:]
WHISPER = "whisper"
QUOTING = "I heard:"  # the words of a model whose reply has a fault: they have others' marks
MASK = "mask"

SELECT = """
SELECT row.*, '#' || script.db_obj_id AS dbref FROM evennia_ai_{table} AS row
JOIN scripts_scriptdb AS script ON script.id = row.assistant_id ORDER BY row.id
"""
Record = dict[str, Any]


def collect(game: CrashGame) -> Evidence:
    """Return all rows to judge."""
    journal = read_journal(game)
    named = {record["turn_id"]: record["events"] for record in journal if record["what"] == "turn"}
    calls = {row["call_id"]: row for row in rows(game, "toolcall")}
    safe = {record["call_id"] for record in of(journal, "deed") if record["safe_to_retry"]}
    dbrefs = {row["assistant_id"]: row["dbref"] for row in rows(game, "event")}
    turns = rows(game, "turn")
    unlogged = {row["id"] for row in turns if row["context"] == CONTEXT_PRE_COMPACTION.name}
    return Evidence(
        puts=[
            Put(dbrefs.get(record["assistant"], "?"), record["event_id"], record["text"])
            for record in of(journal, "put")
        ],
        events=[event_row(row) for row in rows(game, "event")],
        turns=[turn_row(row, named.get(row["id"], ())) for row in turns],
        acts=[
            act_row(row, row["call_id"] in safe, row["turn_id"] not in unlogged)
            for row in calls.values()
        ],
        messages=[message_row(row) for row in rows(game, "message")],
        deeds=[deed(record, calls, named) for record in of(journal, "deed") if record["world"]],
        compactions=[
            compaction_row(row) for row in rows(game, "compaction") if row["reason"] != MASK
        ],
    )


def rows(game: CrashGame, table: str) -> list[Record]:
    """Return a table's rows with their character's dbref."""
    return [dict(row) for row in game.sql(SELECT.format(table=table))]


def read_journal(game: CrashGame) -> list[Record]:
    """Return all lines of the journal; none if the server never did anything."""
    if not game.journal.exists():
        return []
    return [json.loads(line) for line in game.journal.read_text().splitlines()]


def of(journal: Iterable[Record], what: str) -> list[Record]:
    """Return the lines of a kind."""
    return [record for record in journal if record["what"] == what]


def seconds(value: str | None) -> float | None:
    """Return a time of the database in unix seconds."""
    return None if value is None else datetime.fromisoformat(value).replace(tzinfo=UTC).timestamp()


def event_row(row: Record) -> EventRow:
    return EventRow(
        assistant=row["dbref"],
        id=row["id"],
        text=row["text"],
        state=row["state"],
        reason=row["reason"],
        turn_id=row["turn_id"],
        secret=row["text"] if row["kind"] == WHISPER else "",
        audience=frozenset(json.loads(row["audience"])) | {row["speaker"]},
    )


def turn_row(row: Record, events: Iterable[int]) -> TurnRow:
    began = seconds(row["at"])
    assert began is not None
    ended = seconds(row["ended_at"])
    # One process or several: a turn begins only after the one before has ended, or was recovered.
    return TurnRow(row["dbref"], row["id"], 0, tuple(events), began, ended, row["outcome"])


def act_row(row: Record, safe_to_retry: bool, logged: bool) -> ActRow:
    return ActRow(
        assistant=row["dbref"],
        turn_id=row["turn_id"],
        call_id=row["call_id"],
        name=row["name"],
        arguments=row["arguments"],
        world=bool(row["world"]),
        state=row["state"],
        safe_to_retry=safe_to_retry,
        moment=seconds(row["at"]),
        logged=logged,
    )


def message_row(row: Record) -> MessageRow:
    return MessageRow(
        assistant=row["dbref"],
        seq=row["id"],
        role=row["role"],
        content=row["content"],
        event_id=row["event_id"],
        turn_id=row["turn_id"],
        private=bool(row["private"]),
        audience=frozenset(json.loads(row["audience"])),
        calls=tuple(call["id"] for call in json.loads(row["tool_calls"])),
        call_id=row["tool_call_id"],
        moment=seconds(row["at"]),
    )


def deed(record: Record, calls: dict[str, Record], named: dict[int, list[int]]) -> Deed:
    """Return a journalled act as a row, with the turn of its stored intent."""
    turn_id = calls[record["call_id"]]["turn_id"] if record["call_id"] in calls else 0
    words = json.loads(record["arguments"] or "{}").get("text", "")
    return Deed(
        assistant=record["character"],
        name=record["name"],
        arguments=record["arguments"],
        call_id=record["call_id"],
        turn_id=turn_id,
        events=tuple(named.get(turn_id, ())),
        text=spoken_words(words, record["speaker"], CHARS),
        heard_by=frozenset(record["heard_by"]),
        excuse=record["call_id"].endswith(EXCUSE_END),
        safe_to_retry=record["safe_to_retry"],
        moment=record["at"],
    )


def compaction_row(row: Record) -> CompactionRow:
    return CompactionRow(
        assistant=row["dbref"],
        id=row["id"],
        from_seq=row["from_seq"],
        upto_seq=row["upto_seq"],
        undone=row["undone_at"] is not None,
        count=row["compacted_count"],
        parts=read_parts(row["summary"]),
    )


def read_parts(stored: str) -> dict[str, str]:
    """Return the parts of a summary; PostgreSQL has them as JSON in a string, in their order."""
    parts = json.loads(stored)
    return json.loads(parts) if isinstance(parts, str) else parts


# --- the screens ------------------------------------------------------------------------------


def check_screens(
    players: Iterable[TelnetPlayer],
    evidence: Evidence,
    speakers: Iterable[str] = SPEAKERS,
    forgotten: Container[str] = (),
) -> list[Violation]:
    """Check the screens: each line a player said is in the inbox, no marked act shows twice.

    Nothing is shown that is no words. ``speakers`` are the assistants, ``forgotten`` the marks that
    the game had to forget.
    """
    found = []
    inbox = {mark for row in evidence.events for mark in MARK.findall(row.text)}
    act = re.compile(ACT.format(names="|".join(speakers)), re.M)
    for player in players:
        screen = player.clean
        for mark in ECHO.findall(screen):
            if mark not in inbox and mark not in forgotten:
                words = f"{player.name} saw himself say {mark}, which is not in the inbox"
                found.append(Violation("P1", "", words))
        shown = list(act.finditer(screen))
        found += [
            Violation("P13", "", f"{player.name} saw {line[0]!r}")
            for line in shown
            if NO_WORDS.search(line["shown"])
        ]
        own = [line[0] for line in shown if not line["shown"].startswith(QUOTING)]
        acts = [(*line.split()[:2], mark) for line in own for mark in marks(line)]
        for (who, verb, mark), times in Counter(acts).items():
            if times > 1:
                words = f"{player.name} saw {times} times how {who} {verb} {mark}"
                found.append(Violation("P2", "", words))
    return found


def marks(line: str) -> set[str]:
    """Return the marks of a line, each once."""
    return set(MARK.findall(line))
