"""The use of assistants, model profiles and speakers, by UTC day: calls, tokens and money."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from django.db.models import F, Sum

from evennia_ai import models
from evennia_ai.errors import DeadlineExceeded
from evennia_ai.messages import NO_USAGE, Usage
from evennia_ai.policy.limits.money import (
    ASSISTANT,
    FREE,
    GAME,
    PLAYER,
    WHOLE_GAME,
    Account,
    paid_by_players,
)
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
    return use_of(call, 0.0)


def use_of(call: ModelCallRecord, unpaid_share: float) -> UsageCount:
    """Return what one model call used, without a share of its prompt."""
    billed = call.usage or call.error_kind in ("", DeadlineExceeded.kind)
    if call.usage == NO_USAGE or not billed:
        return UsageCount()
    usage = paid_by_players(call.usage or Usage(call.estimated_tokens, 0), unpaid_share)
    prompt, completion, cached = (
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.cached_tokens or 0,
    )
    money = call.prices.cost(prompt, completion, cached) if call.prices else 0
    is_free, is_priced = call.prices == FREE, call.prices not in (None, FREE)
    tokens = prompt + completion
    return UsageCount(1, prompt, completion, cached, money, tokens * is_priced, tokens * is_free)


def add_use(assistant_id: int, day: date, use: UsageCount, call: ModelCallRecord) -> None:
    """Add a model call to the daily sums.

    The speakers who caused it share it evenly, without the lines of others in its prompt.
    """
    if not use.calls:
        return
    key = {"assistant_id": assistant_id, "day": day, "profile": call.profile}
    add_to(models.DailyUse, key, vars(use))
    speakers, theirs = sorted(call.speakers), use_of(call, call.unpaid_share)
    whole = vars(replace(theirs, calls=theirs.calls * 10)).items()
    for place, speaker in enumerate(speakers):  # whole amounts, which add up to the use
        share = UsageCount(**{name: (amount + place) // len(speakers) for name, amount in whole})
        amounts = {**vars(share), "tokens": share.tokens}
        add_to(models.SpeakerUse, {"speaker": speaker, "day": day}, amounts)


def add_to(model: Any, key: Mapping[str, Any], amounts: Mapping[str, int]) -> None:
    """Add to the sums of one row; fails if another process creates it: the caller runs it again."""
    sums = {name: F(name) + amount for name, amount in amounts.items()}
    if not model.objects.filter(**key).update(**sums):
        model.objects.create(**key, **amounts)


def uses_by(since: date, until: date, *keys: str, **only: Any) -> Uses:
    """Return the use from one UTC day to another by tuples of `DAY`, `CHARACTER`, `PROFILE`."""
    return _sums(models.DailyUse, keys, day__gte=since, day__lte=until, **only)


def uses_of_speakers(since: date, until: date) -> dict[str, UsageCount]:
    """Return the use from one UTC day to another by the dbref of the speaker who caused it."""
    sums = _sums(models.SpeakerUse, ("speaker",), day__gte=since, day__lte=until)
    return {speaker: replace(use, calls=use.calls / 10) for (speaker,), use in sums.items()}


def _sums(model: Any, keys: tuple[str, ...], **which: Any) -> Uses:
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


def spent_on(day: date, waived: Collection[str] = ()) -> dict[Account, int]:
    """Return the tokens of one UTC day by account; ``waived`` kinds do not pay for free models."""
    return _by_account(day, lambda kind, use: use.tokens - use.free_tokens * (kind in waived))


def money_on(day: date) -> dict[Account, int]:
    """Return the money of one UTC day by account, in micros, for the budgets."""
    return _by_account(day, lambda _kind, use: use.money)


def _by_account(day: date, amount: Callable[[str, UsageCount], int]) -> dict[Account, int]:
    assistants = folded(uses_by(day, day, CHARACTER), 0)
    return {
        WHOLE_GAME: sum(amount(GAME, use) for use in assistants.values()),
        **{(ASSISTANT, str(id_)): amount(ASSISTANT, use) for id_, use in assistants.items()},
        **{
            (PLAYER, account): amount(PLAYER, use)
            for account, use in uses_of_speakers(day, day).items()
        },
    }
