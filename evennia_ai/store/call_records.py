"""Model calls as they are stored: their prompts and replies, and their use by UTC day."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Sum

from evennia_ai import models
from evennia_ai.errors import DeadlineExceeded
from evennia_ai.messages import NO_USAGE, Usage
from evennia_ai.policy import call_record
from evennia_ai.policy.limits.money import FREE, Prices
from evennia_ai.policy.records.record import people_field
from evennia_ai.ports import ModelCallRecord

MOST_NOTED = 10_000
noted_on: dict[str, date] = {}  # by the digest of a text in the table


def store_call(row: models.ModelCall, record: call_record.PackedCall) -> None:
    """Store the prompt and the reply of a call, inside the caller's transaction."""
    keep_texts(record.shared, row.at.date())
    models.CallRecord.objects.create(
        id=row.id,
        assistant_id=row.assistant_id,
        at=row.at,
        digest=record.digest,
        people=people_field(record.people),
        packed=record.packed,
    )


def keep_texts(shared: Any, today: date) -> None:
    """Store the shared texts that are new, and note that all are used today."""
    new = {digest for digest in shared if noted_on.get(digest) != today}
    if not new:
        return
    texts = models.PromptText.objects
    used = texts.filter(digest__in=new, used_on=today)
    for digest in new - set(used.values_list("digest", flat=True)):
        kept = {"text": shared[digest], "used_on": today}
        texts.update_or_create(digest=digest, defaults=kept)
    transaction.on_commit(partial(note_texts, new, today))


def note_texts(digests: Iterable[str], today: date) -> None:
    """Remember which texts are stored as used today: most calls have the same ones."""
    if len(noted_on) > MOST_NOTED:
        noted_on.clear()
    noted_on.update(dict.fromkeys(digests, today))


def read_packed(packed: bytes) -> call_record.KeptCall | None:
    """Return a packed call, None if it is damaged, or a text that it shares is gone."""
    with suppress(KeyError, TypeError, ValueError, zlib.error):
        digests = call_record.shared_digests(packed)
        prompt_texts = models.PromptText.objects.filter(digest__in=digests)
        texts = dict(prompt_texts.values_list("digest", "text"))
        return call_record.read_record(packed, [texts[digest] for digest in digests])
    return None


def drop_unused_texts(_assistant_id: int, going: Sequence[int]) -> None:
    """Delete the shared texts that only these records used, or older ones."""
    left = models.CallRecord.objects.exclude(id__in=going).order_by("id")
    oldest = left.values_list("at", flat=True).first()
    if oldest is not None:
        models.PromptText.objects.filter(used_on__lt=oldest.date()).delete()


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
        rest = {name: max(0, number - vars(other)[name]) for name, number in vars(self).items()}
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
    return {key: total_of(rows) for key, rows in grouped.items()}


def use_on(day: date) -> dict[int, tuple[int, int]]:
    """Return calls and tokens of one UTC day, by assistant id."""
    uses = uses_by(day, day, CHARACTER)
    return {id_: (int(use.calls), use.tokens) for (id_,), use in uses.items()}


def cached_on(day: date) -> tuple[int, int]:
    """Return the prompt tokens of one UTC day, and how many of them came from a cache."""
    use = total_of(uses_by(day, day, DAY).values())
    return use.prompt_tokens, use.cached_tokens
