"""Token budgets of a UTC day, reserved before a call and settled after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from twisted.internet.interfaces import IReactorTime

from evennia_ai.errors import BudgetExhausted
from evennia_ai.policy.limits.budgets import (
    ASSISTANT,
    GAME,
    NAMES,
    PLAYER,
    WHOLE_GAME,
    Account,
    Budgets,
    Charge,
    Reservation,
)
from evennia_ai.ports import Caller, LLMRequest

TIGHT_SHARE = 0.8

Spent = Callable[[date], Mapping[Account, int]]


class DailyBudgets:
    """The budgets of the game and the players, and of each assistant that has one.

    Args:
        clock: its seconds, in unix time, tell the day.
        spent: returns what each account spent on a UTC day; called with the day's first call.
        player_tokens: each player's budget, None for no limit.
        game_tokens: the game's budget, None for no limit.
    """

    def __init__(
        self,
        clock: IReactorTime,
        spent: Spent,
        player_tokens: int | None,
        game_tokens: int | None,
    ) -> None:
        self._clock: Any = clock  # zope's interfaces mean nothing to a type checker
        self._spent = spent
        self._player_tokens = player_tokens
        self._game_tokens = game_tokens
        self._budgets = Budgets()

    def reserve(self, request: LLMRequest) -> Reservation:
        """Reserve the most that a call can cost; raise BudgetExhausted if over a limit."""
        budgets, charge = self._today(), self._charge(request.caller)
        tokens = request.tokens + (request.max_tokens or 0)
        broken = budgets.exhausted(charge, tokens)
        if broken is not None:
            raise BudgetExhausted(
                f"{NAMES[broken[0]].capitalize()} of {charge.limits[broken]} tokens for today "
                f"is used up."
            )
        return budgets.reserve(charge, tokens)

    def settle(self, reservation: Reservation, tokens: int) -> None:
        """Replace a reservation with what its call cost."""
        self._today().settle(reservation, tokens)

    def spent_today(self) -> Mapping[Account, int]:
        """Return the tokens that each account spent since the day began, in UTC."""
        return dict(self._today().spent)

    def tight(self) -> list[tuple[str, int, int]]:
        """Return the budgets with more than 80 % used, as (name, tokens spent, limit)."""
        limits = {GAME: self._game_tokens, PLAYER: self._player_tokens}
        return [
            (f"{NAMES[kind].capitalize()} {key}".strip(), spent, limit)
            for (kind, key), spent in sorted(self._today().spent.items())
            if (limit := limits.get(kind)) is not None and spent > TIGHT_SHARE * limit
        ]

    def _today(self) -> Budgets:
        day = datetime.fromtimestamp(self._clock.seconds(), UTC).date()
        if self._budgets.day != day:
            self._budgets.begin_day(day, self._spent(day))
        return self._budgets

    def _charge(self, caller: Caller) -> Charge:
        limits: dict[Account, int | None] = {(ASSISTANT, caller.assistant): caller.tokens_per_day}
        for speaker in sorted(caller.speakers):
            limits[PLAYER, speaker] = self._player_tokens
        limits[WHOLE_GAME] = self._game_tokens
        return Charge(limits)
