"""Budgets of tokens or money for a UTC day: reserved before a call, settled after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from evennia_ai.policy.limits.prices import money_words

ASSISTANT, PLAYER, OWNER, GAME = "assistant", "player", "owner", "game"
NAMES = {
    ASSISTANT: "this assistant's budget",
    PLAYER: "this player's budget",
    OWNER: "this player's account's budget",
    GAME: "the game's budget",
}
Account = tuple[str, str]
WHOLE_GAME: Account = (GAME, "")
TOKENS = "tokens"  # the unit of a budget, if that is no currency
TIGHT_PERCENT = 80
ROOMY, TIGHT, USED_UP = range(3)  # how full a budget is
CALLS, TOKENS_IN, TOKENS_OUT, MS = "calls", "tokens_in", "tokens_out", "ms"
NOTHING: Mapping[str, int] = {CALLS: 0, TOKENS_IN: 0, TOKENS_OUT: 0, MS: 0}


@dataclass(frozen=True)
class Charge:
    """The accounts that pay for one call, with their daily limits, None for unlimited."""

    limits: Mapping[Account, int | None]

    def share(self, account: Account, amount: int) -> int:
        """Return what one account pays for a call; players who caused it share evenly."""
        players = sum(kind == PLAYER for kind, _ in self.limits)
        return -(-amount // players) if account[0] in (PLAYER, OWNER) else amount


@dataclass(frozen=True, eq=False)
class Reservation:
    """What is reserved for one call."""

    charge: Charge
    amount: int
    day: date


@dataclass(frozen=True)
class BudgetUse:
    """What one account has spent of its budget today, in tokens or in micros of a currency."""

    account: Account
    unit: str
    spent: int
    limit: int
    refused: bool = False  # the budget has just refused a call

    @property
    def level(self) -> int:
        """`ROOMY`, `TIGHT` or `USED_UP`."""
        if self.refused or self.spent >= self.limit:
            return USED_UP
        return TIGHT if self.percent >= TIGHT_PERCENT else ROOMY

    @property
    def percent(self) -> int:
        """How much of the budget is spent, rounded down."""
        return self.spent * 100 // self.limit if self.limit else 100

    @property
    def is_games(self) -> bool:
        """True for the budget of the whole game."""
        return self.account == WHOLE_GAME

    @property
    def name(self) -> str:
        """What the budget is called at the beginning of a sentence."""
        return NAMES[self.account[0]].capitalize()

    def __str__(self) -> str:
        """Return the amounts as staff read them."""
        shown = money_words if self.unit != TOKENS else "{:,}".format
        return f"{shown(self.spent)} of today's {shown(self.limit)} {self.unit} are used"


@dataclass
class Budgets:
    """Today's spent and reserved amounts of one unit by account, kept in memory."""

    day: date = date.min
    spent: dict[Account, int] = field(default_factory=dict)
    reserved: dict[Account, int] = field(default_factory=dict)

    def begin_day(self, day: date, spent: Mapping[Account, int]) -> None:
        """Begin a day with the log's figures; open reservations stay."""
        self.day = day
        self.spent = dict(spent)

    def exhausted(self, charge: Charge, amount: int) -> Account | None:
        """Return the first account whose limit a call exceeds, reservations included."""
        for account, limit in charge.limits.items():
            used = self.spent.get(account, 0) + self.reserved.get(account, 0)
            if limit is not None and used + charge.share(account, amount) > limit:
                return account
        return None

    def reserve(self, charge: Charge, amount: int) -> Reservation:
        """Reserve an amount for a call."""
        for account in charge.limits:
            self._add(self.reserved, account, charge.share(account, amount))
        return Reservation(charge, amount, self.day)

    def settle(self, reservation: Reservation, amount: int) -> None:
        """Replace a reservation by the call's cost; a past day's is only undone."""
        charge = reservation.charge
        for account in charge.limits:
            self._add(self.reserved, account, -charge.share(account, reservation.amount))
            if reservation.day == self.day:
                self._add(self.spent, account, charge.share(account, amount))

    @staticmethod
    def _add(sums: dict[Account, int], account: Account, amount: int) -> None:
        total = sums.get(account, 0) + amount
        if total > 0:
            sums[account] = total
        else:
            sums.pop(account, None)


def add_call(
    cost: Mapping[str, int], tokens_in: int, tokens_out: int, duration_ms: int
) -> dict[str, int]:
    """Return a cost with one more call, successful or not."""
    more = {CALLS: 1, TOKENS_IN: tokens_in, TOKENS_OUT: tokens_out, MS: duration_ms}
    return {name: cost.get(name, 0) + more[name] for name in NOTHING}
