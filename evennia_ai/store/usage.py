"""The use of assistants and model profiles, by UTC day: calls, tokens and money."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Sum

from evennia_ai import models
from evennia_ai.errors import DeadlineExceeded
from evennia_ai.messages import NO_USAGE, Usage
from evennia_ai.policy.limits.money import FREE, Prices
from evennia_ai.ports import ModelCallRecord

DAY, CHARACTER, PROFILE = "day", "assistant_id", "profile"


@dataclass(frozen=True)
class UsageCount:
    """Calls with their tokens and money, as the columns of `models.UseSums`."""

    calls: float = 0  # with tenths, if several speakers share calls
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    money: int = 0  # micros
    priced_tokens: int = 0
    free_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def unpriced_tokens(self) -> int:
        """The tokens whose price nobody set."""
        return max(0, self.tokens - self.priced_tokens - self.free_tokens)

    @property
    def money_known(self) -> bool:
        """True unless nothing of it had a price."""
        return self.unpriced_tokens < self.tokens or not self.tokens

    def less(self, other: UsageCount) -> UsageCount:
        """Return the difference to another use; nothing falls below 0."""
        rest = {name: max(0, mine - vars(other)[name]) for name, mine in vars(self).items()}
        return UsageCount(**{**rest, "calls": round(rest["calls"], 1)})


Uses = dict[tuple[Any, ...], UsageCount]
SUMS = tuple(vars(UsageCount()))


def use_of_call(call: ModelCallRecord) -> UsageCount:
    """Return what one model call used, at the prices of its time; nothing for the stand-in.

    Tokens that the endpoint did not report are estimated, and cached tokens count in full. A failed
    call does not count, unless it ended at its deadline: then the provider may have billed it.
    """
    billed = call.usage or call.error_kind in ("", DeadlineExceeded.kind)
    if call.usage == NO_USAGE or not billed:
        return UsageCount()
    return priced(call.usage or Usage(call.estimated_tokens, 0), call.prices)


def priced(usage: Usage, prices: Prices | None) -> UsageCount:
    """Return one call with these tokens; ``prices`` None are not known."""
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    cached, tokens = usage.cached_tokens or 0, prompt + completion
    money = prices.cost(prompt, completion, cached) if prices else 0
    is_free, is_priced = prices == FREE, prices not in (None, FREE)
    return UsageCount(1, prompt, completion, cached, money, tokens * is_priced, tokens * is_free)


def add_to(model: Any, key: Mapping[str, Any], amounts: Mapping[str, int]) -> None:
    """Add to the sums of one row, which another process may create meanwhile."""
    rows, sums = model.objects.filter(**key), {name: F(name) + amounts[name] for name in amounts}
    if not rows.update(**sums):
        try:
            with transaction.atomic():
                model.objects.create(**key, **amounts)
        except IntegrityError:
            rows.update(**sums)


def uses_by(since: date, until: date, *keys: str, **only: Any) -> Uses:
    """Return the use from one UTC day to another by tuples of `DAY`, `CHARACTER`, `PROFILE`."""
    return sums_of(models.DailyUse, keys, day__gte=since, day__lte=until, **only)


def sums_of(model: Any, keys: tuple[str, ...], **which: Any) -> Uses:
    """Return the sums of the rows of one table by tuples of some columns."""
    sums = {f"sum_{name}": Sum(name) for name in SUMS}
    rows = model.objects.filter(**which).order_by().values_list(*keys).annotate(**sums)
    # A sum of damaged values is None.
    return {
        row[: len(keys)]: UsageCount(*(value or 0 for value in row[len(keys) :])) for row in rows
    }


def total_of(uses: Iterable[UsageCount]) -> UsageCount:
    return UsageCount(*map(sum, zip(*(vars(use).values() for use in uses), strict=True)))


def folded(uses: Uses, place: int) -> dict[Any, UsageCount]:
    grouped: dict[Any, list[UsageCount]] = defaultdict(list)
    for key, use in uses.items():
        grouped[key[place]].append(use)
    return {key: total_of(those) for key, those in grouped.items()}


def use_on(day: date) -> dict[int, tuple[int, int]]:
    """Return calls and tokens of one UTC day, by assistant id."""
    uses = uses_by(day, day, CHARACTER)
    return {id_: (int(use.calls), use.tokens) for (id_,), use in uses.items()}


def cached_on(day: date) -> tuple[int, int]:
    """Return the prompt tokens of one UTC day, and how many of them came from a cache."""
    use = total_of(uses_by(day, day, DAY).values())
    return use.prompt_tokens, use.cached_tokens
