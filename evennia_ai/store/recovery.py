"""After a start: make good what another process left open (P1, P2)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from evennia_ai import models
from evennia_ai.store.inbox import CLAIMED, DOUBTFUL, WAITING

INTERRUPTED = "interrupted"
SPEECH = frozenset({"say", "whisper"})
UNKNOWN_RESULT = "outcome unknown: the server went down meanwhile"


def state_after_crash(acts: Iterable[tuple[str, str]]) -> str:
    """What becomes of a claimed event, from its turn's acts as (name, state).

    Words that were certainly said answered it; words that may have been said leave it doubtful,
    to be closed by an excuse; otherwise it waits for a new turn.
    """
    speech = {state for name, state in acts if name in SPEECH}
    if "done" in speech:
        return "answered"
    return DOUBTFUL if "intended" in speech else WAITING


def recover_open_turns(epoch: int, now: datetime) -> int:
    """Close turns whose process is gone and give their events back; returns their number."""
    open_turns = models.Turn.objects.filter(ended_at=None).exclude(epoch=epoch)
    for turn in open_turns:
        with transaction.atomic():
            acts = turn.tool_calls.values_list("name", "state")
            state = state_after_crash(acts)
            turn.tool_calls.filter(state="intended").update(
                state="unknown", result=UNKNOWN_RESULT, ended_at=now
            )
            turn.events.filter(state=CLAIMED).update(state=state)
            models.Turn.objects.filter(id=turn.id).update(ended_at=now, outcome=INTERRUPTED)
    return len(open_turns)


def assistants_with_work() -> list[int]:
    """Ids of the assistants that have somebody waiting for an answer: one query for all."""
    rows = models.Event.objects.filter(state__in=(WAITING, DOUBTFUL)).order_by("assistant_id")
    return list(rows.values_list("assistant_id", flat=True).distinct())
