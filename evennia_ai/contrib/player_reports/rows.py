"""The reports of players, in the database."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from evennia_ai import models
from evennia_ai.messages import EMOTE, EXCUSE, SPEECH
from evennia_ai.policy.retrieval.words import beginnings
from evennia_ai.store.transactions import brief_transaction

LINES_A_REPORT = 12
MESSAGES_READ = 400
AUDIBLE = frozenset({*SPEECH, EMOTE})


def heard_lines(assistant_id: int, dbref: str) -> list[int]:
    """Return the numbers of the last messages that somebody heard of a character, oldest first."""
    rows = models.Message.objects.filter(assistant_id=assistant_id).order_by("-id")
    fields = ("id", "role", "content", "tool_calls", "speaker", "audience")
    newest = rows.values(*fields)[:MESSAGES_READ]
    ids = [row["id"] for row in newest if is_heard_by(dbref, row)]
    return ids[:LINES_A_REPORT][::-1]


def is_heard_by(dbref: str, row: dict[str, Any]) -> bool:
    """Return True for words and gestures that somebody heard or said themselves."""
    if dbref not in (row["speaker"], *row["audience"]):
        return False
    if row["role"] == "assistant":
        acts = {call["function"]["name"] for call in row["tool_calls"]}
        return bool(row["content"] or acts & AUDIBLE)
    return row["role"] in ("user", EXCUSE)


def find_reported_line(rows: Iterable[dict[str, Any]], reason: str) -> tuple[int | None, bool]:
    """Return the character's message that a reason is about, and whether it holds words of it.

    Without such words, it is the last one before the report; None if the character said nothing.
    """
    own = [row for row in rows if row["role"] != "user"]
    wanted = set(beginnings(reason))
    shared = {row["id"]: len(wanted.intersection(beginnings(said_in(row)))) for row in own}
    best = max(shared, key=lambda seq: (shared[seq], seq), default=None)
    return best, best is not None and shared[best] > 0


def said_in(row: dict[str, Any]) -> str:
    calls = (call["function"]["arguments"] for call in row["tool_calls"])
    return " ".join([row["content"], *calls])


def add_report(
    assistant_id: int, now: datetime, reporter: tuple[str, str], reason: str, seqs: Iterable[int]
) -> int:
    """Store a report by a player, given as (dbref, name); returns its number."""
    with brief_transaction():
        who = {"reporter": reporter[0], "reporter_name": reporter[1]}
        fields = {"assistant_id": assistant_id, "at": now, "reason": reason, "seqs": list(seqs)}
        return int(models.Report.objects.create(**who, **fields).id)


def reports(is_open: bool = True, **of: Any) -> Any:
    """Return the reports that nobody has closed yet, or those closed, as a queryset."""
    return models.Report.objects.filter(closed_at__isnull=is_open, **of)


def find_report(number: int) -> models.Report | None:
    """Return a report, open or closed; None if there is none with this number."""
    return next(iter(models.Report.objects.filter(id=number)), None)


def close_report(number: int, now: datetime, by: str) -> bool:
    """Close a report; returns False if it is not open."""
    with brief_transaction():
        return bool(reports(id=number).update(closed_at=now, closed_by=by))
