"""What of the logs is in use, as `config.table_retention` judges it: rows with what needs each."""

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
    Summed,
    oldest_needed,
    use_of_act,
    use_of_compaction,
    use_of_message,
    use_of_turn,
)
from evennia_ai.store.compactions import MASK
from evennia_ai.store.inbox import CLAIMED, DOUBTFUL, OVERHEARD, WAITING

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
    """What a chunk is judged by.

    Attributes:
        held: what of the assistant's logs is in use.
        now: the time.
        planned: how many rows that a dry run has let go refer to each turn or event, by their model
            and field; empty where rows are deleted.
    """

    held: Held
    now: datetime
    planned: Planned

    def referred(self, model: Any, name: str, ids: Any) -> set[int]:
        """Which of some ids, a query's, rows of a model still refer to."""
        rows = model.objects.filter(**{f"{name}__in": ids})
        counts = rows.order_by().values_list(name).annotate(Count("id"))
        planned = self.planned[model, name]
        return {id_ for id_, count in counts if count > planned[id_]}


def find_held(assistant_id: int) -> Held:
    """What of an assistant's logs is in use now."""
    owed = models.Event.objects.filter(assistant_id=assistant_id, state__in=OWED)
    events = {id_: (turn_id, at) for id_, turn_id, at in owed.values_list("id", "turn_id", "at")}
    under_way = models.Turn.objects.filter(ended_at=None)  # of all: there are few at a time
    turns = {turn_id for turn_id, _at in events.values()}
    turns.update(under_way.values_list("id", flat=True))
    return Held(
        frozenset(events),
        frozenset(turns - {None}),
        min((at for _turn_id, at in events.values()), default=None),
        oldest_needed([Summed(*row) for row in summed(assistant_id)[: UNDOS + 1]]),
    )


def summed(assistant_id: int) -> Any:
    """The compactions that are in force, newest first, as (id, last message)."""
    rows = models.Compaction.objects.filter(assistant_id=assistant_id, undone_at=None)
    return rows.exclude(reason=MASK).order_by("-id").values_list("id", "upto_seq")


def read_messages(rows: Any, look: Look) -> list[LogRow]:
    """Messages, with what needs each."""
    found = rows.values_list("id", "at", "event_id", "turn_id")
    return [LogRow(row[0], row[1], use_of_message(look.held, row[0], *row[2:])) for row in found]


def read_acts(rows: Any, look: Look) -> list[LogRow]:
    """Tool calls, with what needs each."""
    found = rows.values_list("id", "at", "ended_at", "turn_id")
    return [
        LogRow(id_, at, use_of_act(look.held, at, ended_at is not None, turn_id))
        for id_, at, ended_at, turn_id in found
    ]


def read_model_calls(rows: Any, look: Look) -> list[LogRow]:
    """Model calls, with what needs each: ``aistatus`` tells of each assistant's last."""
    later = models.ModelCall.objects.filter(
        assistant_id=OuterRef("assistant_id"), id__gt=OuterRef("id")
    )
    found = rows.values_list("id", "at", "turn_id", Exists(later))
    return [
        LogRow(id_, at, use_of_turn(look.held, turn_id) or ("" if has_later else LAST_CALL))
        for id_, at, turn_id, has_later in found
    ]


def read_events(rows: Any, look: Look) -> list[LogRow]:
    """What was heard, with what needs each.

    "Forget me" finds by the events of somebody what else there is of him: the answers he was given,
    and whose summaries may hold his words. So they stay as long as words or acts of their turn do,
    and of everybody who was heard the last one.
    """
    later = models.Event.objects.filter(
        assistant_id=OuterRef("assistant_id"),
        speaker=OuterRef("speaker"),
        id__gt=OuterRef("id"),
    )
    found = list(rows.values_list("id", "at", "state", "turn_id", Exists(later)))
    turns = rows.order_by().values("turn_id")
    logged = look.referred(models.Message, "event_id", rows.order_by().values("id"))
    answered = look.referred(models.Message, "turn_id", turns)
    answered |= look.referred(models.ToolCall, "turn_id", turns)
    return [
        LogRow(
            id_,
            at,
            use_of_event(look.held, state, turn, id_ in logged or turn in answered, has_later),
        )
        for id_, at, state, turn, has_later in found
    ]


def use_of_event(
    held: Held, state: str, turn_id: int | None, is_referred: bool, has_later: bool
) -> str:
    """What needs something heard."""
    if state in NO_END:
        return UNANSWERED
    if is_referred:
        return REFERRED
    return use_of_turn(held, turn_id) or ("" if has_later else LAST_HEARD)


def read_turns(rows: Any, look: Look) -> list[LogRow]:
    """Turns, with what needs each: open ones are held, others by what belongs to them."""
    found = rows.values_list("id", "at")
    ids = rows.order_by().values("id")
    referred = set[int]().union(*(look.referred(model, "turn_id", ids) for model in REFERENCES))
    return [
        LogRow(id_, at, use_of_turn(look.held, id_) or (REFERRED if id_ in referred else ""))
        for id_, at in found
    ]


def read_compactions(rows: Any, look: Look) -> list[LogRow]:
    """Compactions and masks, with what needs each."""
    found = rows.values_list("at", "id", "upto_seq", "reason", "undone_at", "archived")
    return [
        LogRow(
            id_,
            at,
            use_of_compaction(
                look.held,
                CompactionState(id_, upto_seq, reason == MASK, undone_at, archived),
                look.now,
            ),
        )
        for at, id_, upto_seq, reason, undone_at, archived in found
    ]


def read_passes(rows: Any, look: Look) -> list[LogRow]:
    """Passes of sleep: nothing needs them."""
    return [LogRow(*row) for row in rows.values_list("id", "at")]


def read_sums(rows: Any, look: Look) -> list[LogRow]:
    """Sums of a day, which are as old as the day's end."""
    return [
        LogRow(id_, datetime.combine(day, time(), UTC) + timedelta(days=1))
        for id_, day in rows.values_list("id", "day")
    ]


READERS: dict[str, Reader] = {
    "Message": read_messages,
    "ToolCall": read_acts,
    "ModelCall": read_model_calls,
    "Event": read_events,
    "Turn": read_turns,
    "Compaction": read_compactions,
    "SleepPass": read_passes,
    "DailyUse": read_sums,
    "SpeakerUse": read_sums,
}
