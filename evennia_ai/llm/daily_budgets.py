"""Token budgets of a UTC day, reserved before a call and settled after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime

from twisted.logger import Logger

from evennia_ai.errors import BudgetExhausted
from evennia_ai.policy.limits import budgets
from evennia_ai.policy.limits.budgets import Account
from evennia_ai.ports import Caller, LLMRequest
from evennia_ai.scheduling import Clock, wall_seconds

log = Logger()

TIGHT_SHARE = 0.8

Spent = Callable[[date], Mapping[Account, int]]
OwnerOf = Callable[[str], str]


class DailyBudgets:
    """The budgets of the game and the players, and of each assistant that has one.

    ``spent`` returns what each account spent on a UTC day by the machine's time (`wall_seconds`);
    it is called with the day's first call, and again while it fails. ``player_tokens`` is for each
    player, and for each account that `owner_of` gives for one, so that a second character has no
    further budget; None means no limit. An account's sum is kept in memory only.
    """

    def __init__(
        self,
        clock: Clock,
        spent: Spent,
        player_tokens: int | None,
        game_tokens: int | None,
        owner_of: OwnerOf = lambda _speaker: "",
    ) -> None:
        self._clock = clock
        self._spent = spent
        self._player_tokens = player_tokens
        self._game_tokens = game_tokens
        self._owner_of = owner_of
        self._budgets = budgets.Budgets()
        self._is_read = False

    def reserve(self, request: LLMRequest) -> budgets.Reservation:
        """Reserve the most that a call can cost; raise BudgetExhausted if over a limit."""
        today, charge = self._today(), self._charge(request.caller)
        tokens = request.tokens + (request.max_tokens or 0)
        broken = today.exhausted(charge, tokens)
        if broken is not None:
            raise BudgetExhausted(
                f"{budgets.NAMES[broken[0]].capitalize()} of {charge.limits[broken]} tokens "
                "for today is used up."
            )
        return today.reserve(charge, tokens)

    def settle(self, reservation: budgets.Reservation, tokens: int) -> None:
        """Replace a reservation with what its call cost."""
        self._today().settle(reservation, tokens)

    def spent_today(self) -> Mapping[Account, int]:
        """Return the tokens that each account spent since the day began, in UTC."""
        return dict(self._today().spent)

    def tight(self) -> list[tuple[str, int, int]]:
        """Return the budgets with more than 80 % used, as (name, tokens spent, limit)."""
        limits = {budgets.GAME: self._game_tokens, budgets.PLAYER: self._player_tokens}
        return [
            (f"{budgets.NAMES[kind].capitalize()} {key}".strip(), spent, limit)
            for (kind, key), spent in sorted(self._today().spent.items())
            if (limit := limits.get(kind)) is not None and spent > TIGHT_SHARE * limit
        ]

    def _today(self) -> budgets.Budgets:
        day = datetime.fromtimestamp(wall_seconds(self._clock), UTC).date()
        if self._budgets.day != day:
            self._budgets.begin_day(day, {})
            self._is_read = False
        if not self._is_read:
            self._read(day)
        return self._budgets

    def _read(self, day: date) -> None:
        """Take over what was spent today; if that cannot be read, count from 0 for now."""
        try:
            self._budgets.begin_day(day, self._spent(day))
        except Exception as error:  # noqa: BLE001  # of any database; the call must go on
            log.warn(
                "evennia_ai: today's tokens cannot be read ({error}); trying again", error=error
            )
        else:
            self._is_read = True

    def _charge(self, caller: Caller) -> budgets.Charge:
        limits: dict[Account, int | None] = {
            (budgets.ASSISTANT, caller.assistant): caller.tokens_per_day
        }
        for speaker in sorted(caller.speakers):
            limits[budgets.PLAYER, speaker] = self._player_tokens
            if owner := self._owner_of(speaker):
                limits[budgets.OWNER, owner] = self._player_tokens
        limits[budgets.WHOLE_GAME] = self._game_tokens
        return budgets.Charge(limits)
