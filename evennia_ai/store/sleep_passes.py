"""Storing sleep passes: a row at the start of each, completed at its end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db.models import Max

from evennia_ai import models
from evennia_ai.policy.sleep_schedule import DONE, split_result
from evennia_ai.store.brief_transaction import brief_transaction

AFTER = "after_call"


def begin_pass(assistant_id: int, at: datetime, epoch: int, reason: str) -> int:
    """Store the start of a pass; returns its number. Raises StoreUnavailable.

    The row notes the last model call so far, since the cost of the pass is that of later calls.
    """
    with brief_transaction():
        calls = models.ModelCall.objects.filter(assistant_id=assistant_id)
        last_call = calls.aggregate(last=Max("id"))["last"] or 0
        row = models.SleepPass.objects.create(
            assistant_id=assistant_id, at=at, epoch=epoch, reason=reason, cost={AFTER: last_call}
        )
    return int(row.id)


def end_pass(
    pass_id: int, at: datetime, outcome: str, results: Mapping[str, Mapping[str, Any]]
) -> None:
    """Store the outcome and the cost of a pass; raises StoreUnavailable."""
    split = {name: split_result(result) for name, result in results.items()}
    with brief_transaction():
        rows = models.SleepPass.objects.filter(id=pass_id)
        begun = rows.values("assistant_id", "cost").first()
        if begun is None:  # its assistant was deleted, or retention deleted the row
            return
        rows.update(
            ended_at=at,
            outcome=outcome,
            results={name: figures for name, (figures, _error) in split.items()},
            errors={name: error for name, (_figures, error) in split.items() if error},
            cost=cost_since(begun["assistant_id"], begun["cost"].get(AFTER, 0)),
        )


def has_unsorted_talk(assistant_id: int) -> bool:
    """Return True if an assistant's newest message came after its last whole pass began."""
    passes = models.SleepPass.objects.filter(assistant_id=assistant_id, outcome=DONE)
    messages = models.Message.objects.filter(assistant_id=assistant_id)
    slept_at, talked_at = (
        rows.order_by("-id").values_list("at", flat=True).first() for rows in (passes, messages)
    )
    return talked_at is not None and (slept_at is None or slept_at < talked_at)


def cost_since(assistant_id: int, call_id: int) -> dict[str, int]:
    """Return number and tokens of an assistant's model calls after a given one.

    Prompt tokens that the endpoint did not report are estimated; the offline brain is no model. An
    assistant does one thing at a time, so that all of these calls belong to the pass.
    """
    calls = models.ModelCall.objects.filter(assistant_id=assistant_id, id__gt=call_id)
    calls = calls.exclude(prompt_tokens=0)
    counted = list(calls.values_list("estimated_tokens", "prompt_tokens", "completion_tokens"))
    return {
        "calls": len(counted),
        "prompt_tokens": sum(guess if sent is None else sent for guess, sent, _ in counted),
        "completion_tokens": sum(received or 0 for *_, received in counted),
    }
