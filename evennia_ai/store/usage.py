"""The cost of assistants and speakers, by UTC day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from django.db.models import F, Sum

from evennia_ai import models
from evennia_ai.errors import DeadlineExceeded
from evennia_ai.messages import OFFLINE
from evennia_ai.policy.limits.budgets import ASSISTANT, PLAYER, WHOLE_GAME, Account
from evennia_ai.ports import ModelCallRecord


def add_use(assistant_id: int, day: date, call: ModelCallRecord) -> None:
    """Add one model call to the daily sums.

    Tokens that the endpoint did not report are estimated, and cached tokens count in full. The
    offline brain uses none. A failed call is free, unless it ended at its deadline: then the
    provider may have billed it.
    """
    billed = call.error_kind in ("", DeadlineExceeded.kind) and call.model != OFFLINE
    prompt = call.usage.prompt_tokens if call.usage else call.estimated_tokens * billed
    completion = call.usage.completion_tokens if call.usage else 0
    cached = call.usage.cached_tokens or 0 if call.usage else 0
    spent = {
        "calls": 1,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "cached_tokens": cached,
    }
    add_to(models.DailyUse, {"assistant_id": assistant_id, "day": day}, spent)
    if prompt:
        for speaker in call.speakers:  # who caused the call, evenly
            share = -(-(prompt + completion) // len(call.speakers))
            add_to(models.SpeakerUse, {"speaker": speaker, "day": day}, {"tokens": share})


def add_to(model: Any, key: Mapping[str, Any], amounts: Mapping[str, int]) -> None:
    """Add to the sums of one row; creates the row if needed. Only one process writes."""
    sums = {name: F(name) + amount for name, amount in amounts.items()}
    if not model.objects.filter(**key).update(**sums):
        model.objects.create(**key, **amounts)


def use_on(day: date) -> dict[int, tuple[int, int]]:
    """Return calls and tokens of one UTC day, by assistant id."""
    rows = models.DailyUse.objects.filter(day=day)
    values = rows.values_list("assistant_id", "calls", "prompt_tokens", "completion_tokens")
    return {row[0]: (row[1], row[2] + row[3]) for row in values}


def cached_on(day: date) -> tuple[int, int]:
    """Return the prompt tokens of one UTC day, and how many of them came from a cache."""
    rows = models.DailyUse.objects.filter(day=day)
    sums = rows.aggregate(prompt=Sum("prompt_tokens"), cached=Sum("cached_tokens"))
    return sums["prompt"] or 0, sums["cached"] or 0


def spent_on(day: date) -> dict[Account, int]:
    """Return the tokens of one UTC day by account, for the budgets."""
    assistants = {id_: tokens for id_, (_calls, tokens) in use_on(day).items()}
    speakers = models.SpeakerUse.objects.filter(day=day).values_list("speaker", "tokens")
    return {
        WHOLE_GAME: sum(assistants.values()),
        **{(ASSISTANT, str(id_)): tokens for id_, tokens in assistants.items()},
        **{(PLAYER, speaker): tokens for speaker, tokens in speakers},
    }
