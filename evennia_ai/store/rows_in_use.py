"""Reading rows of the logs with the reason to keep each, for `store.purge`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef

from evennia_ai import models
from evennia_ai.config.table_retention import (
    LAST_CALL,
    LAST_HEARD,
    REFERRED,
    UNANSWERED,
    UNDOS,
    CompactionState,
    Held,
    LogRow,
    oldest_needed,
    use_of_act,
    use_of_compaction,
    use_of_message,
    use_of_turn,
)
from evennia_ai.store.conversation import MASK
from evennia_ai.store.inbox import CLAIMED, DOUBTFUL, OVERHEARD, WAITING

# How many references to each turn or event a dry run has released, by model and field; empty if
# rows are deleted.
Planned = defaultdict[tuple[Any, str], Counter[int]]
Reader = Callable[[Any, "Look"], list[LogRow]]

OWED = (WAITING, CLAIMED, DOUBTFUL)
NO_END = (*OWED, OVERHEARD)

REFERENCES = {
    models.Message: ("turn_id", "event_id"),
    models.ToolCall: ("turn_id",),
    models.ModelCall: ("turn_id",),
    models.Event: ("turn_id",),
}


@dataclass(frozen=True)
class Look:
    """What decides whether the rows of a chunk are in use."""

    held: Held  # what of the assistant's logs is in use
    now: datetime
    planned: Planned

    def referred(self, model: Any, name: str, ids: Any) -> set[int]:
        """Return those of some ids that rows of a model still refer to."""
        rows = model.objects.filter(**{f"{name}__in": ids})
        counts = rows.order_by().values_list(name).annotate(Count("id"))
        planned = self.planned[model, name]
        return {id_ for id_, count in counts if count > planned[id_]}


def find_held(assistant_id: int) -> Held:
    """Return what of an assistant's logs is in use now."""
    owed = models.Event.objects.filter(assistant_id=assistant_id, state__in=OWED)
    events = {id_: (turn_id, at) for id_, turn_id, at in owed.values_list("id", "turn_id", "at")}
    turns = {turn_id for turn_id, _at in events.values()}
    # The turns of all assistants: few are open at a time.
    turns.update(models.Turn.objects.filter(ended_at=None).values_list("id", flat=True))
    return Held(
        frozenset(events),
        frozenset(turns - {None}),
        min((at for _turn_id, at in events.values()), default=None),
        oldest_needed([CompactionState(*row) for row in summed(assistant_id)[: UNDOS + 1]]),
    )


def summed(assistant_id: int) -> Any:
    """Return the compactions that are not undone as (id, last message), newest first."""
    rows = models.Compaction.objects.filter(assistant_id=assistant_id, undone_at=None)
    return rows.exclude(reason=MASK).order_by("-id").values_list("id", "upto_seq")


def read_messages(rows: Any, look: Look) -> list[LogRow]:
    """Return messages with the reason to keep each."""
    found = rows.values_list("id", "at", "event_id", "turn_id")
    return [LogRow(row[0], row[1], use_of_message(look.held, row[0], *row[2:])) for row in found]


def read_acts(rows: Any, look: Look) -> list[LogRow]:
    """Return tool calls with the reason to keep each."""
    found = rows.values_list("id", "at", "ended_at", "turn_id")
    return [
        LogRow(id_, at, use_of_act(look.held, at, ended_at is not None, turn_id))
        for id_, at, ended_at, turn_id in found
    ]


def read_model_calls(rows: Any, look: Look) -> list[LogRow]:
    """Return model calls with the reason to keep each; ``aistatus`` needs the last."""
    later = models.ModelCall.objects.filter(
        assistant_id=OuterRef("assistant_id"), id__gt=OuterRef("id")
    )
    found = rows.values_list("id", "at", "turn_id", Exists(later))
    return [
        LogRow(id_, at, use_of_turn(look.held, turn_id) or ("" if has_later else LAST_CALL))
        for id_, at, turn_id, has_later in found
    ]


def read_events(rows: Any, look: Look) -> list[LogRow]:
    """Return events with the reason to keep each.

    By the events of a player, "forget me" finds the answers to them and the assistants whose
    summaries may quote them. So an event stays as long as messages or tool calls of its turn, and
    the last event of each speaker stays.
    """
    later = models.Event.objects.filter(
        assistant_id=OuterRef("assistant_id"), speaker=OuterRef("speaker"), id__gt=OuterRef("id")
    )
    found = list(rows.values_list("id", "at", "state", "turn_id", Exists(later)))
    turns = rows.order_by().values("turn_id")
    logged = look.referred(models.Message, "event_id", rows.order_by().values("id"))
    answered = look.referred(models.Message, "turn_id", turns)
    answered |= look.referred(models.ToolCall, "turn_id", turns)

    def use(id_: int, state: str, turn_id: int | None, has_later: bool) -> str:
        if state in NO_END:
            return UNANSWERED
        if id_ in logged or turn_id in answered:
            return REFERRED
        return use_of_turn(look.held, turn_id) or ("" if has_later else LAST_HEARD)

    return [LogRow(id_, at, use(id_, *rest)) for id_, at, *rest in found]


def read_turns(rows: Any, look: Look) -> list[LogRow]:
    """Return turns with the reason to keep each: open, or referred to by other rows."""
    found = rows.values_list("id", "at")
    ids = rows.order_by().values("id")
    referred = set[int]().union(*(look.referred(model, "turn_id", ids) for model in REFERENCES))
    return [
        LogRow(id_, at, use_of_turn(look.held, id_) or (REFERRED if id_ in referred else ""))
        for id_, at in found
    ]


def read_compactions(rows: Any, look: Look) -> list[LogRow]:
    """Return compactions and masks with the reason to keep each."""
    found: list[LogRow] = []
    for row in rows.values("at", "id", "upto_seq", "reason", "undone_at", "archived"):
        at, is_mask = row.pop("at"), row.pop("reason") == MASK
        state = CompactionState(is_mask=is_mask, **row)
        found.append(LogRow(state.id, at, use_of_compaction(look.held, state, look.now)))
    return found


def read_unneeded(rows: Any, look: Look) -> list[LogRow]:
    """Return rows that nothing needs."""
    return [LogRow(*row) for row in rows.values_list("id", "at")]


def read_sums(rows: Any, look: Look) -> list[LogRow]:
    """Return daily sums, each dated at the end of its day."""
    return [
        LogRow(id_, datetime.combine(day, time(), UTC) + timedelta(days=1))
        for id_, day in rows.values_list("id", "day")
    ]


READERS: dict[str, Reader] = {
    "Message": read_messages,
    "ToolCall": read_acts,
    "CallRecord": read_unneeded,
    "ModelCall": read_model_calls,
    "Event": read_events,
    "Turn": read_turns,
    "Compaction": read_compactions,
    "SleepPass": read_unneeded,
    "DailyUse": read_sums,
    "SpeakerUse": read_sums,
}
