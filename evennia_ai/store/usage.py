"""What assistants cost, by day."""

from __future__ import annotations

from datetime import date

from django.db.models import F

from evennia_ai import models
from evennia_ai.ports import ModelCallRecord


def add_use(assistant_id: int, day: date, call: ModelCallRecord) -> None:
    """Add one call to the day's sums; tokens the endpoint did not report count as estimated."""
    failed = bool(call.error_kind)
    prompt = call.usage.prompt_tokens if call.usage else call.estimated_tokens
    completion = call.usage.completion_tokens if call.usage else 0
    row, _created = models.DailyUse.objects.get_or_create(assistant_id=assistant_id, day=day)
    models.DailyUse.objects.filter(id=row.id).update(
        calls=F("calls") + 1,
        prompt_tokens=F("prompt_tokens") + (0 if failed else prompt),
        completion_tokens=F("completion_tokens") + completion,
    )


def use_on(day: date) -> dict[int, tuple[int, int]]:
    """Calls and tokens of one UTC day, by assistant id."""
    rows = models.DailyUse.objects.filter(day=day)
    values = rows.values_list("assistant_id", "calls", "prompt_tokens", "completion_tokens")
    return {row[0]: (row[1], row[2] + row[3]) for row in values}
