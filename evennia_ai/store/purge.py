"""Deleting the rows beyond the limits of retention: one rule for each table, one walk for all.

A rule says what needs a row over its table's limit: an answer that is owed, the model's view or an
undo, or "forget me", which finds other data by it. Rows go in chunks, oldest first. Each chunk asks
in the transaction that deletes, since an admin may undo a compaction between two chunks. After a
crash between two chunks the next run continues.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, Exists, OuterRef, Q, Value, When
from evennia.scripts.models import ScriptDB

from evennia_ai import models
from evennia_ai.config.table_retention import RECORDS, RetentionLimit
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.call_records import drop_unused_texts
from evennia_ai.store.conversation import MASK, UNSETTLED_ROWS
from evennia_ai.store.inbox import CLAIMED, DOUBTFUL, OVERHEARD, WAITING
from evennia_ai.store.rows import delete_rows, rows_of
from evennia_ai.store.transactions import brief_transaction

CHUNK = 120  # rows of a step: 3 to 5 ms, of turns in a dry run 20 (measured)
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

SUMS = ("DailyUse", "SpeakerUse")  # which have a day instead of a time
OWED = (WAITING, CLAIMED, DOUBTFUL)
NO_END = (*OWED, OVERHEARD)


@dataclass
class PurgeCount:
    """The result of a purge of one table, in rows."""

    rows: int = 0  # that the table had; counted by a dry run only
    gone: int = 0  # that were deleted, or would be
    kept: Counter[str] = field(default_factory=Counter)  # that stay over the limit, by reason

    def add(self, other: PurgeCount) -> None:
        self.rows += other.rows
        self.gone += other.gone
        self.kept.update(other.kept)


PurgeReport = dict[str, PurgeCount]


class TablePurge:
    """The purge of one table, for one assistant if it has them, one step at a time.

    ``planned`` makes it a dry run: it has those of the tables before, whose rows count as deleted.
    """

    def __init__(
        self,
        table: str,
        assistant_id: int | None,
        limit: RetentionLimit,
        now: datetime,
        planned: Sequence[TablePurge] | None = None,
    ) -> None:
        self.table = table
        self.model = getattr(models, table)
        self.now = now
        self.held = RowsInUse()
        self._assistant_id = assistant_id
        self._limit = limit
        self._planned = planned
        self._over: Q | None = None  # the rows over the limit
        self._upto = 0

    @property
    def _rows(self) -> Any:
        return rows_of(self.model, self._assistant_id)

    def step(self) -> tuple[bool, PurgeCount]:
        """Do one step in one transaction; returns whether more may follow, and its tally."""
        if self._over is None:
            self._over = self._find_edge()
            return True, PurgeCount(self._rows.count() if self._planned is not None else 0)
        with brief_transaction() if self._planned is None else nullcontext():
            self.held = find_held(self._assistant_id)
            rows = self._marked(self._rows.filter(id__gt=self._upto)).order_by("id")
            read = list(rows.values_list("id", "over", "needed_by")[:CHUNK])
            over = [(id_, needed_by) for id_, is_over, needed_by in read if is_over]
            going = [id_ for id_, needed_by in over if not needed_by]
            if going and self._planned is None:
                if clean_up := CLEAN_UPS.get(self.table):
                    clean_up(self._assistant_id or 0, going)
                delete_rows(self.model, going)
        self._upto = read[-1][0] if read else self._upto
        kept = Counter(needed_by for _id, needed_by in over if needed_by)
        # If no row was over the limit, later ones are younger still.
        return len(read) == CHUNK and bool(over), PurgeCount(gone=len(going), kept=kept)

    def refer(self, model: Any, name: str, to: str = "id") -> Exists:
        """Return the condition that a row of another table refers to a row and stays."""
        rows = model.objects.filter(**{name: OuterRef(to)})
        for walk in self._planned or ():
            if walk.model is model:
                rows = walk._marked(rows).exclude(over=True, needed_by="")
        return Exists(rows)

    def _find_edge(self) -> Q:
        """Return the condition that a row is over the limit."""
        over = Q(pk__in=())
        if self._limit.days is not None:
            over |= self._older_than(max(LEAST_AGE, timedelta(days=self._limit.days)))
        if self._limit.rows is not None:
            newest, rows = self._rows.order_by("-id").values_list("id", flat=True), self._limit.rows
            first_kept = newest[rows - 1 : rows].first() if rows else 1 + (newest.first() or 0)
            over |= Q(id__lt=first_kept or 0) & self._older_than(LEAST_AGE)
        return over

    def _older_than(self, age: timedelta) -> Q:
        before = self.now - age
        return Q(day__lt=before.date()) if self.table in SUMS else Q(at__lt=before)

    def _marked(self, rows: Any) -> Any:
        """Return rows with ``over``, and with ``needed_by``, which is empty if nothing needs it."""
        rules = RULES.get(self.table)
        needs = [When(need, then=Value(why)) for why, need in rules(self)] if rules else []
        return rows.annotate(
            over=Case(When(self._over, then=True), default=False),
            needed_by=Case(*needs, default=Value("")) if needs else Value(""),
        )


@dataclass(frozen=True)
class RowsInUse:
    """What of one assistant's logs is in use."""

    turns: Sequence[int] = ()  # open ones, and the latest of each event that is owed an answer
    acts_since: datetime | None = None  # later acts without an answer count as done
    view_after: int = 0  # the last message that `UNDOS` undos do not return to the context window
    needed: int = 0  # the compaction in force after these undos


def find_held(assistant_id: int | None) -> RowsInUse:
    owed = models.Event.objects.filter(assistant_id=assistant_id, state__in=OWED)
    events = list(owed.values_list("turn_id", "at"))
    turns = {turn_id for turn_id, _at in events if turn_id is not None}
    # The turns of all assistants: few are open at a time.
    turns.update(models.Turn.objects.filter(ended_at=None).values_list("id", flat=True))
    needed, upto_seq = next(iter(_in_force(assistant_id)[UNDOS : UNDOS + 1]), (0, 0))
    return RowsInUse(sorted(turns), min((at for _, at in events), default=None), upto_seq, needed)


def _in_force(assistant_id: int | None) -> Any:
    """Return the compactions that are not undone as (id, last message), newest first."""
    rows = models.Compaction.objects.filter(assistant_id=assistant_id, undone_at=None)
    return rows.exclude(reason=MASK).order_by("-id").values_list("id", "upto_seq")


# Why a row stays, and the condition for it; the first one counts.
Needs = list[tuple[str, Any]]


def needed_messages(walk: TablePurge) -> Needs:
    return [
        (IN_VIEW, Q(id__gt=walk.held.view_after)),
        (UNANSWERED, Q(event__state__in=OWED)),
        (UNDER_WAY, Q(turn_id__in=walk.held.turns)),
    ]


def needed_acts(walk: TablePurge) -> Needs:
    since = walk.held.acts_since
    return [
        (UNDER_WAY, Q(ended_at=None)),
        (UNANSWERED, Q(pk__in=()) if since is None else Q(at__gte=since)),
        (UNDER_WAY, Q(turn_id__in=walk.held.turns)),
    ]


def needed_model_calls(walk: TablePurge) -> Needs:
    """Return what needs a model call; ``aistatus`` needs the last."""
    later = models.ModelCall.objects.filter(
        assistant_id=OuterRef("assistant_id"), id__gt=OuterRef("id")
    )
    return [(UNDER_WAY, Q(turn_id__in=walk.held.turns)), (LAST_CALL, ~Exists(later))]


def needed_events(walk: TablePurge) -> Needs:
    """Return what needs an event; "forget me" needs the last of each speaker."""
    later = models.Event.objects.filter(
        assistant_id=OuterRef("assistant_id"), speaker=OuterRef("speaker"), id__gt=OuterRef("id")
    )
    return [
        (UNANSWERED, Q(state__in=NO_END)),
        (REFERRED, walk.refer(models.Message, "event_id")),
        (REFERRED, walk.refer(models.Message, "turn_id", "turn_id")),
        (REFERRED, walk.refer(models.ToolCall, "turn_id", "turn_id")),
        (UNDER_WAY, Q(turn_id__in=walk.held.turns)),
        (LAST_HEARD, ~Exists(later)),
    ]


def needed_turns(walk: TablePurge) -> Needs:
    tables = (models.Message, models.ToolCall, models.ModelCall, models.Event)
    return [
        (UNDER_WAY, Q(id__in=walk.held.turns)),
        *((REFERRED, walk.refer(model, "turn_id")) for model in tables),
    ]


def needed_compactions(walk: TablePurge) -> Needs:
    """Return what needs a compaction; one just undone may be the ``previous`` of one under way."""
    in_view = Q(reason=MASK, upto_seq__gt=walk.held.view_after)
    return [
        (UNSETTLED, UNSETTLED_ROWS & ~Q(reason=MASK)),
        (UNDER_WAY, Q(undone_at__gt=walk.now - LEAST_AGE)),
        (IN_FORCE, Q(undone_at=None) & (in_view | ~Q(reason=MASK) & Q(id__gte=walk.held.needed))),
    ]


# What needs the rows of a table; nothing needs those of the others.
RULES: dict[str, Callable[[TablePurge], Needs]] = {
    "Message": needed_messages,
    "ToolCall": needed_acts,
    "ModelCall": needed_model_calls,
    "Event": needed_events,
    "Turn": needed_turns,
    "Compaction": needed_compactions,
}


def seal_after_messages(assistant_id: int, ids: Sequence[int]) -> None:
    """Seal the compaction that evicted these messages: it can no longer be undone."""
    _seal_oldest(_in_force(assistant_id).filter(upto_seq__gte=max(ids)))


def seal_after_compactions(assistant_id: int, ids: Sequence[int]) -> None:
    """Seal the compaction after these ones, and remove the references to them."""
    models.Compaction.objects.filter(previous_id__in=ids).update(previous=None)
    going = _in_force(assistant_id).filter(id__in=ids).first()
    if going is not None:
        _seal_oldest(_in_force(assistant_id).filter(id__gt=going[0]))


def _seal_oldest(compactions: Any) -> None:
    oldest = compactions.order_by("id").first()
    if oldest is not None:
        models.Compaction.objects.filter(id=oldest[0]).update(sealed=True)


CLEAN_UPS = {
    RECORDS: drop_unused_texts,
    "Message": seal_after_messages,
    "Compaction": seal_after_compactions,
}


def assistant_ids() -> list[int]:
    scripts = ScriptDB.objects.filter(db_key=SCRIPT_KEY).order_by("id")
    return list(scripts.values_list("id", flat=True))
