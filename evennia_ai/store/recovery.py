"""Closing the turns that another process left open (P1, P2)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from evennia_ai import models
from evennia_ai.messages import EXCUSE
from evennia_ai.policy.conversation.inbox import state_after_loss
from evennia_ai.store.brief_transaction import brief_transaction
from evennia_ai.store.inbox import CLAIMED, OWED, not_of
from evennia_ai.store.statements import update

INTENDED = "intended"
INTERRUPTED = "interrupted"
UNKNOWN_RESULT = "outcome unknown: it was interrupted"


def recover_turn(turn: models.Turn, now: datetime, outcome: str = INTERRUPTED) -> None:
    """Close a turn that did not end, in one transaction.

    Its intents without an outcome become unknown; its events become answered, doubtful or waiting.
    """
    with brief_transaction():
        rows = models.Turn.objects.filter(id=turn.id, ended_at=None)
        if not rows.update(ended_at=now, outcome=outcome):
            return  # another process was faster
        acts = turn.tool_calls.values_list("name", "state")
        state = state_after_loss(acts, was_doubtful=turn.context == EXCUSE)
        give_up_acts(turn.id, now)
        turn.events.filter(state=CLAIMED).update(state=state)


def give_up_acts(turn_id: int, now: datetime) -> None:
    """Mark the running tool calls of a closed turn as unknown, until they end."""
    open_acts = {"turn_id": turn_id, "state": INTENDED}
    update(models.ToolCall, open_acts, state="unknown", result=UNKNOWN_RESULT, ended_at=now)


def lost_turns(epoch: int, others: Collection[int] = ()) -> list[int]:
    """Return the ids of the open turns whose process has ended, oldest first.

    ``epoch`` is this process, ``others`` are those that live.
    """
    open_turns = models.Turn.objects.filter(ended_at=None)
    rows = open_turns.exclude(epoch__in={epoch, *others}).order_by("id")
    return list(rows.values_list("id", flat=True))


def recover_lost_turn(turn_id: int, now: datetime) -> None:
    """Close one lost turn, if it is still open, and return its events to the inbox."""
    for turn in models.Turn.objects.filter(id=turn_id, ended_at=None):
        recover_turn(turn, now)


def assistants_with_work(others: Collection[int] = ()) -> list[int]:
    """Return the ids of the assistants with unanswered events, in one query.

    Without those that ``others``, the other processes that live, heard.
    """
    rows = not_of(others, models.Event.objects.filter(state__in=OWED)).order_by("assistant_id")
    return list(rows.values_list("assistant_id", flat=True).distinct())
