"""What each account spent on a UTC day, and the sums of those who speak."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import date

from evennia_ai import models
from evennia_ai.contrib.costs.budgets import (
    ASSISTANT,
    GAME,
    PLAYER,
    WHOLE_GAME,
    Account,
    paid_by_players,
)
from evennia_ai.messages import Usage
from evennia_ai.ports import ModelCallRecord
from evennia_ai.store.call_records import (
    CHARACTER,
    UsageCount,
    add_to,
    folded,
    priced,
    sums_of,
    use_of_call,
    uses_by,
)


def add_for_speakers(call: ModelCallRecord, day: date) -> None:
    """Add a model call to the sums of the speakers who caused it.

    They share it evenly, without the lines of others in its prompt.
    """
    speakers = sorted(call.speakers)
    if not (speakers and use_of_call(call).calls):
        return
    usage = paid_by_players(call.usage or Usage(call.estimated_tokens, 0), call.unpaid_share)
    players_cost = priced(usage, call.prices)
    whole = vars(replace(players_cost, calls=players_cost.calls * 10)).items()
    for place, speaker in enumerate(speakers):  # whole amounts, which add up to the use
        share = UsageCount(**{name: (amount + place) // len(speakers) for name, amount in whole})
        amounts = {**vars(share), "tokens": share.tokens}
        add_to(models.SpeakerUse, {"speaker": speaker, "day": day}, amounts)


def uses_of_speakers(since: date, until: date) -> dict[str, UsageCount]:
    """Return the use from one UTC day to another by the dbref of the speaker who caused it."""
    sums = sums_of(models.SpeakerUse, ("speaker",), day__gte=since, day__lte=until)
    return {speaker: replace(use, calls=use.calls / 10) for (speaker,), use in sums.items()}


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
