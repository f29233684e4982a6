"""Checks of a day of play by its screens, requests, tables and logs, each by itself."""

import json
import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from evennia_ai.store.turns import INTERRUPTED
from evennia_ai.turn.prompt_contexts import CONTEXT_PRE_COMPACTION
from tests.e2e.crash.evidence import MARK, of, read_journal
from tests.e2e.day.course import Day
from tests.invariants import EventRow, Evidence, RequestRow, Violation
from tests.invariants.confidence import circles, confidence_of_request

TURN_OF_REQUEST = re.compile(r"turn-(\d+)-")
IN_FLIGHT_S = 1.5
LAST_MOMENTS_S = 5.0
LONGEST_TURN_S = 30.0
SPEECH = ("say", "whisper", "emote")
TRACEBACK = "Traceback (most recent call last)"
RAISED = re.compile(r"^(?:\t|\S+ \S+ \[!!\] )((?:\w+\.)*)(\w+): ", re.M)  # by Twisted, by Evennia
PLANNED = frozenset({"OperationalError", "InterfaceError", "DatabaseError"})
DRIVER = "psycopg2."
MOST_EXPLAINED = 500
EXACT, CHANGED, ERASED = "exact", "changed", "erased"
HAS_EXPLANATIONS = find_spec("evennia_ai.contrib.explanations") is not None
EXPLAINED = "EXPLAINED"
EXPLAIN = """
import json
from evennia_ai import models
from evennia_ai.messages import is_excuse
from evennia_ai.contrib.explanations.why import explain, words_said
from evennia_ai.store.rows import message_from_row
rows = models.Message.objects.filter(role="assistant", turn__isnull=False).order_by("id")
told = []
for row in rows[:: 1 + rows.count() // {most}]:
    message = message_from_row(row)
    if words_said(message) and not is_excuse(message):
        why = explain(message, [])
        is_told = why.call is not None
        state = "exact" if why.is_offline else why.state
        told.append([row.turn_id, state, is_told, why.text[:200]])
print("EXPLAINED" + json.dumps(told))
"""
TURNS = """
SELECT turn.id, turn.context, turn.audience, '#' || script.db_obj_id AS dbref
FROM evennia_ai_turn AS turn JOIN scripts_scriptdb AS script ON script.id = turn.assistant_id
"""
DBREFS = "SELECT db_key, '#' || id AS dbref FROM objects_objectdb"
# Tables that may hold words.
WORDS = (
    "event", "message", "turn", "toolcall", "compaction", "modelcall", "sharedentry", "prompttext",
)  # fmt: skip


def dbrefs(day: Day) -> dict[str, str]:
    """Return all characters by name."""
    return {row["db_key"]: row["dbref"] for row in day.game.sql(DBREFS)}


def check_secrets_on_screens(day: Day, evidence: Evidence) -> list[Violation]:
    """Check that what was whispered is on no screen but its speaker's."""
    owner = {mark: who for who, marks in day.typed.items() for mark in marks}
    whispered = {mark for row in evidence.events if row.secret for mark in MARK.findall(row.text)}
    return [
        Violation("P9", "", f"{player.name} read {mark}, which {owner.get(mark)} had whispered")
        for player in day.players.values()
        for mark in whispered & set(MARK.findall(player.clean))
        if owner.get(mark) != player.name
    ]


def check_requests(day: Day, evidence: Evidence) -> list[Violation]:
    """Check that no request tells a secret or what was forgotten, and each has a cause."""
    found = []
    turns = {row["id"]: row for row in day.game.sql(TURNS)}
    named = {row.id: row.events for row in evidence.turns}
    secret = {mark: row.secret for row in evidence.events if row.secret for mark in marks_of(row)}
    circle = circles(evidence.events)
    for record in lines_of(day.model.log):
        if "body" not in record:
            continue
        text = "\n".join(str(m.get("content")) for m in record["body"]["messages"])
        marks = set(MARK.findall(text))
        told = {secret[mark]: circle[secret[mark]] for mark in marks if mark in secret}
        told = {words: ears for words, ears in told.items() if words in text}
        number = TURN_OF_REQUEST.match(record.get("request_id") or "")
        turn = turns.get(int(number[1])) if number else None
        is_asked = turn is not None and turn["context"] != CONTEXT_PRE_COMPACTION.name
        if is_asked and not named.get(turn["id"], True):
            found.append(Violation("P7", turn["dbref"], f"turn {turn['id']} had no cause"))
        if turn is not None or number is None:
            audience = frozenset(json.loads(turn["audience"])) if turn else None
            row = RequestRow(turn["dbref"] if turn else "", 0, 0, audience, text)
            found += confidence_of_request(row, told)
        found += [
            Violation("forget me", "", f"a request names {sorted(one.marks & marks)} of {one.who}")
            for one in day.forgotten
            if record["at"] > one.at + IN_FLIGHT_S and one.marks & marks
        ]
    return found


def marks_of(row: EventRow) -> list[str]:
    """Return the marks of a line."""
    return MARK.findall(row.text)


def lines_of(log: Any) -> Iterator[dict[str, Any]]:
    """Yield the records of a provider's log, one at a time: it may have a gigabyte."""
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield json.loads(line)


def check_words_are_gone(day: Day, marks: frozenset[str]) -> list[Violation]:
    """Check that no table holds a mark that was forgotten."""
    found = []
    for table in WORDS if marks else ():
        for number, row in enumerate(day.game.sql(f"SELECT * FROM evennia_ai_{table}")):
            left = sorted(marks & set(MARK.findall(" ".join(map(str, dict(row).values())))))
            if left:
                found.append(Violation("forget me", "", f"row {number} of {table} holds {left}"))
    return found


def check_lonely(day: Day) -> list[Violation]:
    """Check that an assistant whom nobody meets does nothing."""
    named = dbrefs(day)
    busy = {row["dbref"] for row in day.game.sql(TURNS)}
    return [
        Violation("P7", named[name], f"{name} had a turn, and nobody was there")
        for name in sorted(day.cast.lonely)
        if named[name] in busy
    ]


def check_sums(day: Day) -> list[Violation]:
    """Check that the daily sums hold each call that was logged."""
    calls = day.game.sql(
        "SELECT assistant_id, SUM(prompt_tokens) AS tokens FROM evennia_ai_modelcall"
        " WHERE prompt_tokens > 0 GROUP BY assistant_id"
    )
    sums = {
        row["assistant_id"]: row["tokens"]
        for row in day.game.sql(
            "SELECT assistant_id, SUM(prompt_tokens) AS tokens FROM evennia_ai_dailyuse"
            " GROUP BY assistant_id"
        )
    }
    return [
        Violation("budget", str(row["assistant_id"]), f"{dict(row)} of {sums}")
        for row in calls
        if sums.get(row["assistant_id"], 0) < row["tokens"]
    ]


def check_things(day: Day) -> list[Violation]:
    """Check that nothing which can be given was doubled or lost."""
    rooms = 1 + max(day.cast.minds.values())
    things = day.game.sql(
        "SELECT COUNT(*) AS count FROM objects_objectdb"
        " WHERE db_key IN ('pewter mug', 'coin') AND db_location_id IS NOT NULL"
    )
    wanted = rooms + len(day.cast.players) + 1  # one is in the demo's own tavern
    if things[0]["count"] == wanted:
        return []
    return [Violation("P2", "", f"there are {things[0]['count']} things of {wanted}")]


def check_shown(day: Day) -> list[Violation]:
    """Check that who heard a line has it on the screen.

    Lines of a server's last moments are left out, and those who came or went meanwhile: an audience
    is that of the prompt.
    """
    named = {dbref: name for name, dbref in dbrefs(day).items()}
    screens = {name: shown_marks(player.clean) for name, player in day.players.items()}
    found = []
    for deed in of(read_journal(day.game), "deed"):
        at = deed["steady"]
        if deed["name"] not in SPEECH or any(
            began - LAST_MOMENTS_S < at < ended for began, ended in day.restarts
        ):
            continue
        marks = {(deed["speaker"], mark) for mark in MARK.findall(deed["arguments"])}
        for who in {named.get(dbref, "") for dbref in deed["heard_by"]} & set(screens):
            walked = any(-1 < at - walk < LONGEST_TURN_S for walk in day.walks.get(who, ()))
            if not walked and (missing := marks - screens[who]):
                words = f"{who} heard {sorted(missing)} and read nothing of it"
                found.append(Violation("shown", deed["character"], words))
    return found


def shown_marks(screen: str) -> set[tuple[str, str]]:
    """Return each mark on a screen with the first word of its line."""
    return {
        (line.split(maxsplit=1)[0], mark)
        for line in screen.splitlines()
        if line.strip()
        for mark in MARK.findall(line)
    }


def check_log(day: Day) -> list[Violation]:
    """Check that the server's log has no traceback, but for a database that was taken away."""
    found = []
    for file in sorted((day.game.folder / "server" / "logs").glob("server.log*")):
        for part in file.read_text(errors="replace").split(TRACEBACK)[1:]:
            error = RAISED.search(part)
            if error is None or not (error[1].startswith(DRIVER) or error[2] in PLANNED):
                found.append(Violation("log", "", part[:1_500]))
    return found


def check_explained(day: Day, evidence: Evidence) -> list[Violation]:
    """Check that `aiwhy` finds the call, and its prompt as it was sent, of each line."""
    if not HAS_EXPLANATIONS:
        return []
    answer = day.game.python(EXPLAIN.format(most=MOST_EXPLAINED))
    known = {turn.id: turn for turn in evidence.turns}
    found = []
    for turn_id, state, has_call, text in json.loads(answer.split(EXPLAINED, 1)[1]):
        if turn_id not in known or known[turn_id].outcome == INTERRUPTED:
            continue  # it was forgotten, or the server was killed before it stored the call
        if not has_call or state not in (EXACT, *([ERASED, CHANGED] if day.forgotten else ())):
            words = f"turn {turn_id} ({known[turn_id].outcome}), {state}: {text}"
            found.append(Violation("P12", known[turn_id].assistant, words))
    return found
