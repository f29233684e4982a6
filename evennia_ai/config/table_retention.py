"""The limits of retention: how old log rows may become, and how many there may be. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from evennia_ai.config.declared import brief
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


@dataclass(frozen=True, slots=True)
class RetentionLimit:
    """How long rows are kept, in days, and how many per assistant; None is unlimited."""

    days: int | None = None
    rows: int | None = None

    def __str__(self) -> str:
        """Return the limit as admins read it."""
        parts = [] if self.days is None else [f"{self.days:,} days"]
        parts += [] if self.rows is None else [f"{self.rows:,} rows"]
        return " or ".join(parts) or "everything"


def read_retention(value: object) -> dict[str, RetentionLimit]:
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
    return {name: RetentionLimit(**value[name]) for name in TABLES if name in value}


def limits_in_force(value: object) -> dict[str, RetentionLimit]:
    """Return the limits that delete anything, by table, with the default ones; raises as above."""
    limits = {**DEFAULTS, **read_retention(value)}
    return {table: limit for table, limit in limits.items() if limit != RetentionLimit()}


def _wrong_with(table: str, entry: object) -> list[str]:
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
    RECORDS: RetentionLimit(RECORDS_DAYS),
    **dict.fromkeys(BY_TURN, RetentionLimit(rows=ROWS)),
    "Message": RetentionLimit(rows=MESSAGES),
}
