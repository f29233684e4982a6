"""What a budget of one day allows: limits, reservations, and how full it is. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from evennia_ai.messages import Usage
from evennia_ai.policy.limits.money import Prices, money_words

ASSISTANT, PLAYER, OWNER, GAME = "assistant", "player", "owner", "game"
NAMES = {
    ASSISTANT: "This assistant's budget",
    PLAYER: "This player's budget",
    OWNER: "This player's account's budget",
    GAME: "The game's budget",
}
Account = tuple[str, str]
Spent = Callable[[date], Mapping[Account, int]]
WHOLE_GAME: Account = (GAME, "")
TOKENS = "tokens"  # the unit of a budget, if that is no currency
TIGHT_PERCENT = 80
ROOMY, TIGHT, USED_UP = range(3)  # how full a budget is


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
        return self.account == WHOLE_GAME

    @property
    def name(self) -> str:
        """What the budget is called at the beginning of a sentence."""
        return NAMES[self.account[0]]

    def amount(self, spent: int) -> str:
        """Return an amount as staff read it, without its unit."""
        return f"{spent:,}" if self.unit == TOKENS else money_words(spent)

    def __str__(self) -> str:
        """Return what is spent, and of how much."""
        return (
            f"{self.amount(self.spent)} of today's {self.amount(self.limit)} {self.unit} are used"
        )


class Charge(NamedTuple):
    """What a call costs, and what of it its players pay; None: all."""

    amount: int
    of_players: int | None = None

    def share_of(self, account: Account, accounts: Collection[Account]) -> int:
        """Return what one of the accounts that pay for a call pays; players share evenly."""
        if account[0] not in (PLAYER, OWNER):
            return self.amount
        players = sum(kind == PLAYER for kind, _ in accounts)
        return -(-(self.amount if self.of_players is None else self.of_players) // players)


@dataclass(frozen=True, eq=False)
class Reservation:
    """What is reserved for one call, from the accounts that pay for it."""

    accounts: Collection[Account]
    charge: Charge
    day: date


@dataclass
class Budget:
    """The budgets of one unit: `TOKENS`, or a currency, whose amounts are micros.

    ``read`` returns what each account spent on a UTC day. ``waived`` are the kinds of accounts that
    do not pay for free models. ``player`` and ``game`` are limits for one day, None for none.
    """

    unit: str
    read: Spent
    player: int | None = None
    game: int | None = None
    waived: Collection[str] = ()
    day: date = date.min
    spent: dict[Account, int] = field(default_factory=dict)  # today
    reserved: dict[Account, int] = field(default_factory=dict)
    # The limits of assistants that called a model in this process.
    own: dict[Account, int | None] = field(default_factory=dict)
    # How full each budget was when staff were told last, with its limit.
    told: dict[tuple[Account, int], int] = field(default_factory=dict)

    def limit_of(self, account: Account) -> int | None:
        """Return the limit of an account, None if it has none or is not known yet."""
        limits = {GAME: self.game, ASSISTANT: self.own.get(account)}
        return limits.get(account[0], self.player)

    def price(self, usage: Usage, prices: Prices | None) -> int:
        """Return what tokens cost in this unit; 0 money without prices."""
        if self.unit == TOKENS:
            return usage.prompt_tokens + usage.completion_tokens
        used = (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens or 0)
        return prices.cost(*used) if prices else 0

    def begin_day(self, day: date, spent: Mapping[Account, int]) -> None:
        """Begin a day with the log's figures; open reservations stay."""
        if day != self.day:
            self.told.clear()
        self.day, self.spent = day, dict(spent)

    def exhausted(
        self, accounts: Collection[Account], amount: int, of_players: int | None = None
    ) -> Account | None:
        """Return the first account whose limit a call exceeds, reservations included.

        ``of_players`` is what players pay of the amount, None for all of it.
        """
        charge = Charge(amount, of_players)
        for account in accounts:
            limit = self.limit_of(account)
            used = self.spent.get(account, 0) + self.reserved.get(account, 0)
            if limit is not None and used + charge.share_of(account, accounts) > limit:
                return account
        return None

    def reserve(
        self, accounts: Collection[Account], amount: int, of_players: int | None = None
    ) -> Reservation:
        charge = Charge(amount, of_players)
        for account in accounts:
            add(self.reserved, account, charge.share_of(account, accounts))
        return Reservation(accounts, charge, self.day)

    def settle(self, reservation: Reservation, amount: int, of_players: int | None = None) -> None:
        """Replace a reservation by the call's cost; a past day's is only undone."""
        accounts, charge = reservation.accounts, Charge(amount, of_players)
        for account in accounts:
            add(self.reserved, account, -reservation.charge.share_of(account, accounts))
            if reservation.day == self.day:
                add(self.spent, account, charge.share_of(account, accounts))

    def used(self, accounts: Iterable[Account]) -> list[BudgetUse]:
        """Return what accounts have used of their limits; the same budget is not told twice."""
        uses = [
            BudgetUse(account, self.unit, self.spent.get(account, 0), limit)
            for account in sorted(accounts)
            if (limit := self.limit_of(account)) is not None
        ]
        ones = {amount for (kind, _), amount in self.spent.items() if kind == PLAYER}
        return [use for use in uses if use.account[0] != OWNER or use.spent not in ones]

    def is_fuller(self, use: BudgetUse) -> bool:
        """Return True, once, if a budget is fuller than when staff were told of it last today."""
        key = (use.account, use.limit)
        fuller = use.level > self.told.get(key, ROOMY)
        self.told[key] = max(use.level, self.told.get(key, ROOMY))
        return fuller


def paid_by_players(usage: Usage, unpaid_share: float) -> Usage:
    """Return what the players who caused a call pay of it.

    ``unpaid_share`` is how much of the prompt, 0 to 1, are lines of others.
    """
    prompt = usage.prompt_tokens - int(usage.prompt_tokens * unpaid_share)
    cached = usage.cached_tokens
    return Usage(prompt, usage.completion_tokens, cached and min(cached, prompt))


def add(sums: dict[Account, int], account: Account, amount: int) -> None:
    """Add to the sum of an account; a sum of nothing goes."""
    total = sums.pop(account, 0) + amount
    if total > 0:
        sums[account] = total
