"""Which rows of the logs may go, by age and number, and which must stay since something needs them.

Pure. Rows come oldest first. A row goes where its table's `Limit` has no room for it, unless it is
in use: for an answer that is owed, for the model's view or an undo of it, or so that "forget me"
finds what else there is of somebody.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from evennia_ai.config.fields import brief
from evennia_ai.errors import ConfigError

# Each before those it refers to.
TABLES = (
    "Message",
    "ToolCall",
    "ModelCall",
    "Event",
    "Turn",
    "Compaction",
    "SleepPass",
    "DailyUse",
    "SpeakerUse",
)
SUMS = frozenset({"DailyUse", "SpeakerUse"})
GAME_WIDE = frozenset({"SpeakerUse"})
MOST = {"days": 36_500, "rows": 10**12}
# Whatever a limit says: who talked with it a moment ago, today's budgets and the like go by rows.
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
    """How long rows are kept, in days, and how many of each assistant; None is no limit."""

    days: int | None = None
    rows: int | None = None

    def __str__(self) -> str:
        """As admins read it."""
        parts = [] if self.days is None else [f"{self.days:,} days"]
        parts += [] if self.rows is None else [f"{self.rows:,} rows"]
        return " or ".join(parts) or "everything"


def read_retention(value: object) -> dict[str, Limit]:
    """The limits by table, in the order of `TABLES`.

    Raises ConfigError with a sentence for each thing that is wrong: where one is, none is used,
    since a wrong limit must not delete anything.
    """
    if not isinstance(value, Mapping):
        raise ConfigError(f"it must be a dictionary, not {brief(value)}.")
    complaints = [
        f"There is no table '{name}'. There are: {', '.join(TABLES)}."
        for name in value
        if name not in TABLES
    ]
    for name in TABLES:
        if name in value:
            complaints += [f"{name}: {wrong}" for wrong in _wrong_with(name, value[name])]
    if complaints:
        raise ConfigError(" ".join(complaints))
    return {name: Limit(**value[name]) for name in TABLES if name in value}


def _wrong_with(table: str, entry: object) -> list[str]:
    """What is wrong with one table's entry."""
    if not isinstance(entry, Mapping):
        return [f"it must be a dictionary such as {{'days': 365}}, not {brief(entry)}."]
    wrong = [f"'{key}' is neither days nor rows." for key in entry if key not in MOST]
    if table in SUMS and "rows" in entry:
        wrong.append("sums go by days only, not by rows.")
    for unit, most in MOST.items():
        number = entry.get(unit)
        if number is None:
            continue
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            wrong.append(f"{unit} must be a whole number from 0, not {brief(number)}.")
        elif number > most:
            wrong.append(f"{unit} must be {most} at most, not {brief(number)}.")
    return wrong


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of a log. ``in_use`` says what needs it; empty where nothing does."""

    id: int
    at: datetime
    in_use: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """What is over a limit at a moment: what is older than ``before``, and each row with an id
    under ``below``; never what is younger than `LEAST_AGE`."""

    now: datetime
    before: datetime | None = None
    below: int = 0

    def is_over(self, row: LogRow) -> bool:
        """True where there is no room for a row any more."""
        if row.at > self.now - LEAST_AGE:
            return False
        return row.id < self.below or (self.before is not None and row.at < self.before)


def edge_of(limit: Limit, now: datetime, below: int = 0) -> Edge:
    """The edge that a limit draws now.

    Args:
        limit: of the table.
        now: the time.
        below: the id of the oldest row that the limit of rows has room for; 0 for all.
    """
    before = None if limit.days is None else now - timedelta(days=limit.days)
    return Edge(now, before, below)


@dataclass(frozen=True)
class ChunkPlan:
    """What becomes of a run of rows: the ids that go, how many that are over the limit stay, by
    reason, and True where no row in the run was over it: those after it are younger still."""

    going: tuple[int, ...]
    kept: Mapping[str, int] = field(default_factory=dict)
    is_last: bool = False


def plan_chunk(rows: Sequence[LogRow], edge: Edge) -> ChunkPlan:
    """Choose what goes of some rows, which are in the order of their ids."""
    over = [row for row in rows if edge.is_over(row)]
    kept = Counter(row.in_use for row in over if row.in_use)
    return ChunkPlan(tuple(row.id for row in over if not row.in_use), kept, not over)


@dataclass(frozen=True, slots=True)
class Summed:
    """A compaction that is in force, with the last message it took out of view."""

    id: int
    upto_seq: int


def oldest_needed(in_force: Sequence[Summed]) -> Summed | None:
    """The compaction that would be in force after `UNDOS` undos, None where there would be none.

    Args:
        in_force: those in force now, newest first.
    """
    return in_force[UNDOS] if len(in_force) > UNDOS else None


@dataclass(frozen=True)
class Held:
    """What of one assistant's logs is in use.

    Attributes:
        events: ids of events that are owed an answer.
        turns: ids of open turns, and of the latest that took up each of these events.
        acts_since: what was done since then by turns without an answer counts as done where one of
            these events is taken up again; None where there are none.
        needed: see `oldest_needed`.
    """

    events: frozenset[int] = frozenset()
    turns: frozenset[int] = frozenset()
    acts_since: datetime | None = None
    needed: Summed | None = None

    @property
    def view_after(self) -> int:
        """The last message that is out of view for good."""
        return self.needed.upto_seq if self.needed else 0


def use_of_message(held: Held, seq: int, event_id: int | None, turn_id: int | None) -> str:
    """What needs a message."""
    if seq > held.view_after:
        return IN_VIEW
    return UNANSWERED if event_id in held.events else use_of_turn(held, turn_id)


def use_of_turn(held: Held, turn_id: int | None) -> str:
    """What needs whatever belongs to a turn."""
    return UNDER_WAY if turn_id in held.turns else ""


def use_of_act(held: Held, at: datetime, has_ended: bool, turn_id: int | None) -> str:
    """What needs an act."""
    if not has_ended:
        return UNDER_WAY
    if held.acts_since is not None and at >= held.acts_since:
        return UNANSWERED
    return use_of_turn(held, turn_id)


@dataclass(frozen=True, slots=True)
class CompactionState:
    """A compaction, or a mask of tool results: the last message it is about, when it was taken
    back, and whether the journal has the entries of its summary."""

    id: int
    upto_seq: int
    is_mask: bool = False
    undone_at: datetime | None = None
    archived: bool = True

    @property
    def is_settled(self) -> bool:
        """False where entries in the journal are still to be written, or taken back."""
        return self.is_mask or self.archived == (self.undone_at is None)


def use_of_compaction(held: Held, row: CompactionState, now: datetime) -> str:
    """What needs a compaction, or a mask.

    A mask shows as long as a message in view may be under it. One that was just taken back may
    still be the ``previous`` of another that is being made.
    """
    if not row.is_settled:
        return UNSETTLED
    if row.undone_at is not None:
        return UNDER_WAY if row.undone_at > now - LEAST_AGE else ""
    if row.is_mask:
        return IN_FORCE if row.upto_seq > held.view_after else ""
    return IN_FORCE if held.needed is None or row.id >= held.needed.id else ""
