"""Retention: which log rows may be deleted, by age and number. Pure.

Rows come oldest first. A row over its table's `Limit` is deleted unless it is in use: for an answer
that is owed, for the model's view or an undo, or for "forget me" to find other data by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from evennia_ai.config.fields import brief
from evennia_ai.errors import ConfigError

# Each table stands before the tables it refers to.
BY_TURN = ("Message", "ToolCall", "ModelCall", "Event", "Turn")  # those that every turn adds to
TABLES = ("CallRecord", *BY_TURN, "Compaction", "SleepPass", "DailyUse", "SpeakerUse")
# The prompts and replies of model calls by the name that the setting has for them.
CALLS, RECORDS = "calls", "CallRecord"
DAYS_ONLY = frozenset({RECORDS, "DailyUse", "SpeakerUse"})
GAME_WIDE = frozenset({RECORDS, "SpeakerUse"})
# By default: prompts hold many words, and nobody asks about old ones.
RECORDS_DAYS = 14
# By default, of each assistant: a busy one takes about 53 MB of SQLite or 77 MB of PostgreSQL (from
# measured bytes a turn), and a quiet one forgets nothing. A turn adds three messages.
MESSAGES, ROWS = 100_000, 20_000
MOST = {"days": 36_500, "rows": 10**12}
# Rows younger than this always stay: recent conversations, today's budgets and others read them.
LEAST_AGE = timedelta(days=1)
UNDOS = 2

IN_VIEW = "in view, or would be after an undo"
IN_FORCE = "in force, or would be after an undo"
UNDER_WAY = "under way"
UNANSWERED = "for an answer that is owed"
REFERRED = "its words or acts are kept"
LAST_HEARD = "the last of a speaker"
LAST_CALL = "the last call"
UNSETTLED = "the journal does not have it yet, or has it still"


@dataclass(frozen=True, slots=True)
class Limit:
    """How long rows are kept, in days, and how many per assistant; None is unlimited."""

    days: int | None = None
    rows: int | None = None

    def __str__(self) -> str:
        """Return the limit as admins read it."""
        parts = [] if self.days is None else [f"{self.days:,} days"]
        parts += [] if self.rows is None else [f"{self.rows:,} rows"]
        return " or ".join(parts) or "everything"


def read_retention(value: object) -> dict[str, Limit]:
    """Return the limits by table; any mistake raises ConfigError, so that it deletes nothing."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"it must be a dictionary, not {brief(value)}.")
    value = {RECORDS if name == CALLS else name: entry for name, entry in value.items()}
    complaints = [
        f"There is no table '{name}'. Use {', '.join((CALLS, *TABLES[1:]))}."
        for name in value
        if name not in TABLES
    ]
    for name in TABLES:
        if name in value:
            complaints += [f"{name}: {wrong}" for wrong in _wrong_with(name, value[name])]
    if complaints:
        raise ConfigError(" ".join(complaints))
    return {name: Limit(**value[name]) for name in TABLES if name in value}


def limits_in_force(value: object) -> dict[str, Limit]:
    """Return the limits by table with the default ones, without those that delete nothing.

    Raises as `read_retention`.
    """
    limits = {**DEFAULTS, **read_retention(value)}
    return {table: limit for table, limit in limits.items() if limit != Limit()}


def _wrong_with(table: str, entry: object) -> list[str]:
    """Return what is wrong with one table's entry."""
    if not isinstance(entry, Mapping):
        return [f"it must be a dictionary such as {{'days': 365}}, not {brief(entry)}."]
    wrong = [f"'{key}' is not a limit. Use days or rows." for key in entry if key not in MOST]
    if table in DAYS_ONLY and "rows" in entry:
        wrong.append("rows is not allowed for this table. Use days.")
    for unit, most in MOST.items():
        number = entry.get(unit)
        if number is None:
            continue
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            wrong.append(f"{unit} must be a whole number from 0, not {brief(number)}.")
        elif number > most:
            wrong.append(f"{unit} must be at most {most}, not {brief(number)}.")
    return wrong


DEFAULTS = {
    RECORDS: Limit(RECORDS_DAYS),
    **dict.fromkeys(BY_TURN, Limit(rows=ROWS)),
    "Message": Limit(rows=MESSAGES),
}


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of a log. ``in_use`` says what needs it; empty if nothing does."""

    id: int
    at: datetime
    in_use: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """The limit now: rows ``before`` a time or ``below`` an id, if old enough."""

    now: datetime
    before: datetime | None = None
    below: int = 0

    def is_over(self, row: LogRow) -> bool:
        """Return True if a row is over the limit."""
        if row.at > self.now - LEAST_AGE:
            return False
        return row.id < self.below or (self.before is not None and row.at < self.before)


def edge_of(limit: Limit, now: datetime, below: int = 0) -> Edge:
    """Return what a limit means now; ``below`` is the oldest id to keep, 0 for all."""
    before = None if limit.days is None else now - timedelta(days=limit.days)
    return Edge(now, before, below)


@dataclass(frozen=True)
class ChunkPlan:
    """The rows to delete, and the number of rows over the limit that stay, by reason."""

    going: tuple[int, ...]
    kept: Mapping[str, int] = field(default_factory=dict)
    is_last: bool = False  # no row was over the limit; later ones are younger still


def plan_chunk(rows: Sequence[LogRow], edge: Edge) -> ChunkPlan:
    """Return which of some rows to delete; the rows are in order of id."""
    over = [row for row in rows if edge.is_over(row)]
    kept = Counter(row.in_use for row in over if row.in_use)
    return ChunkPlan(tuple(row.id for row in over if not row.in_use), kept, not over)


def oldest_needed(in_force: Sequence[CompactionState]) -> CompactionState | None:
    """Return the compaction in force after `UNDOS` undos; newest come first."""
    return in_force[UNDOS] if len(in_force) > UNDOS else None


@dataclass(frozen=True)
class Held:
    """The ids of the rows of one assistant's logs that are in use."""

    events: frozenset[int] = frozenset()  # those that are owed an answer
    turns: frozenset[int] = frozenset()  # open ones, and the latest of each of these events
    acts_since: datetime | None = None  # later acts without an answer count as done
    needed: CompactionState | None = None  # see `oldest_needed`

    @property
    def view_after(self) -> int:
        """The last message that no undo returns to the context window."""
        return self.needed.upto_seq if self.needed else 0


def use_of_message(held: Held, seq: int, event_id: int | None, turn_id: int | None) -> str:
    """Return what needs a message, empty if nothing does."""
    if seq > held.view_after:
        return IN_VIEW
    return UNANSWERED if event_id in held.events else use_of_turn(held, turn_id)


def use_of_turn(held: Held, turn_id: int | None) -> str:
    """Return what needs a row of a turn, empty if nothing does."""
    return UNDER_WAY if turn_id in held.turns else ""


def use_of_act(held: Held, at: datetime, has_ended: bool, turn_id: int | None) -> str:
    """Return what needs an act, empty if nothing does."""
    if not has_ended:
        return UNDER_WAY
    if held.acts_since is not None and at >= held.acts_since:
        return UNANSWERED
    return use_of_turn(held, turn_id)


@dataclass(frozen=True, slots=True)
class CompactionState:
    """A compaction, or a mask of tool results, up to the message ``upto_seq``."""

    id: int
    upto_seq: int
    is_mask: bool = False
    undone_at: datetime | None = None
    archived: bool = True  # the journal has the entries of its summary

    @property
    def is_settled(self) -> bool:
        """False if journal entries are still to be written or withdrawn."""
        return self.is_mask or self.archived == (self.undone_at is None)


def use_of_compaction(held: Held, row: CompactionState, now: datetime) -> str:
    """Return what needs a compaction or a mask, empty if nothing does."""
    if not row.is_settled:
        return UNSETTLED
    if row.undone_at is not None:  # it may still be the ``previous`` of one in progress
        return UNDER_WAY if row.undone_at > now - LEAST_AGE else ""
    if row.is_mask:
        return IN_FORCE if row.upto_seq > held.view_after else ""
    return IN_FORCE if held.needed is None or row.id >= held.needed.id else ""
