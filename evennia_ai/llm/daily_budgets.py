"""Budgets of a UTC day, in tokens and in money, reserved before a call and settled after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from twisted.internet.defer import maybeDeferred
from twisted.logger import Logger

from evennia_ai.config import ModelProfile
from evennia_ai.errors import BudgetExhausted
from evennia_ai.messages import Usage
from evennia_ai.policy.limits import budgets
from evennia_ai.policy.limits.budgets import Account, BudgetUse, Charge
from evennia_ai.policy.limits.prices import money_words
from evennia_ai.ports import Caller, LLMRequest
from evennia_ai.scheduling import Clock, wall_seconds

log = Logger()

Spent = Callable[[date], Mapping[Account, int]]
OwnerOf = Callable[[str], str]


@dataclass(frozen=True)
class Books:
    """What the budgets ask for, and whom they tell.

    ``spent_money`` returns what each account spent on a UTC day, in micros. ``owner_of`` returns
    the account of a speaker, which has a player's budget, too, "" for none. ``tell`` is called once
    a day for each budget that is nearly used up, and once when it is.
    """

    spent_money: Spent = lambda _day: {}
    owner_of: OwnerOf = lambda _speaker: ""
    tell: Callable[[BudgetUse], object] = lambda _use: None


NO_BOOKS = Books()


@dataclass
class Ledger:
    """The budgets of one unit: `TOKENS`, or a currency, whose amounts are micros.

    ``spent`` returns what each account spent on a UTC day. ``waived`` are the kinds of accounts
    that do not pay for free models. ``player`` and ``game`` are limits for one day, None for none.
    """

    unit: str
    spent: Spent
    player: int | None = None
    game: int | None = None
    waived: Collection[str] = ()
    sums: budgets.Budgets = field(default_factory=budgets.Budgets)
    # The limits of assistants that called a model in this process.
    own: dict[Account, int | None] = field(default_factory=dict)
    # How full each budget was when staff were told last, with its limit.
    told: dict[tuple[Account, int], int] = field(default_factory=dict)

    def limit_of(self, account: Account) -> int | None:
        """Return the limit of an account, None if it has none or is not known yet."""
        limits = {budgets.GAME: self.game, budgets.ASSISTANT: self.own.get(account)}
        return limits.get(account[0], self.player)

    def amount(self, usage: Usage, profile: ModelProfile) -> int:
        """Return what tokens cost in this unit; 0 money without prices."""
        if self.unit == budgets.TOKENS:
            return usage.prompt_tokens + usage.completion_tokens
        used = (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens or 0)
        return profile.price.cost(*used) if profile.price else 0

    def used(self, accounts: Iterable[Account]) -> list[BudgetUse]:
        """Return what accounts have used of their budgets, without those that have no limit.

        An account of a player who uses one character is left out: it is the same budget.
        """
        spent = self.sums.spent
        uses = [
            BudgetUse(account, self.unit, spent.get(account, 0), limit)
            for account in sorted(accounts)
            if (limit := self.limit_of(account)) is not None
        ]
        if not any(use.account[0] == budgets.OWNER for use in uses):
            return uses
        ones = {amount for (kind, _), amount in spent.items() if kind == budgets.PLAYER}
        return [use for use in uses if use.account[0] != budgets.OWNER or use.spent not in ones]


class DailyBudgets:
    """The budgets of the game and the players, and of each assistant that has one.

    Each ledger's ``spent`` is asked for a UTC day by the machine's time (`wall_seconds`) with the
    day's first call, and again while it fails. A player's budget is for each player, and for each
    account of one, so that a second character has no further budget. An account's sum is kept in
    memory only.
    """

    def __init__(self, clock: Clock, ledgers: Sequence[Ledger], books: Books) -> None:
        self._clock = clock
        self.ledgers = ledgers
        self._books = books
        self._is_read = False

    def reserve(self, request: LLMRequest, profile: ModelProfile) -> list[budgets.Reservation]:
        """Reserve the most that a call can cost; raise BudgetExhausted if over a limit."""
        self._begin_day()
        most = Usage(request.tokens, request.max_tokens or 0)
        charges = []
        for ledger in self.ledgers:
            charge = self._charge(ledger, request.caller, profile)
            amount = ledger.amount(most, profile)
            for use in ledger.used(charge.limits):
                ledger.told.setdefault((use.account, use.limit), use.level)
            if (broken := ledger.sums.exhausted(charge, amount)) is not None:
                raise self._refusal(ledger, broken)
            charges.append((ledger, charge, amount))
        return [ledger.sums.reserve(charge, amount) for ledger, charge, amount in charges]

    def settle(
        self, reserved: Iterable[budgets.Reservation], usage: Usage, profile: ModelProfile
    ) -> None:
        """Replace reservations with what their call cost."""
        self._begin_day()
        for ledger, reservation in zip(self.ledgers, reserved, strict=True):
            ledger.sums.settle(reservation, ledger.amount(usage, profile))
            for use in ledger.used(reservation.charge.limits):
                self._tell_once(ledger, use)

    def used(self) -> list[BudgetUse]:
        """Return what is used today of each budget, tokens first, without those unused."""
        self._begin_day()
        return [use for ledger in self.ledgers for use in ledger.used(ledger.sums.spent)]

    def read_again(self) -> None:
        """Read with the next call what was spent today: other processes may spend, too."""
        self._is_read = False

    def _refusal(self, ledger: Ledger, account: Account) -> BudgetExhausted:
        """Return the error of a call that a budget refuses; staff are told of the first."""
        limit = ledger.limit_of(account) or 0
        spent = ledger.sums.spent.get(account, 0)
        use = BudgetUse(account, ledger.unit, spent, limit, refused=True)
        if limit:  # 0 allows no call, on purpose
            self._tell_once(ledger, use)
        if spent < limit:
            return BudgetExhausted(
                f"{use.name}: {use} ({use.percent}%), and this call could exceed the limit."
            )
        amount = limit if ledger.unit == budgets.TOKENS else money_words(limit)
        return BudgetExhausted(f"{use.name} of {amount} {ledger.unit} for today is used up.")

    def _tell_once(self, ledger: Ledger, use: BudgetUse) -> None:
        """Tell of a budget that is fuller than when it was last told of today."""
        key = (use.account, use.limit)
        if use.level > ledger.told.get(key, budgets.ROOMY):
            ledger.told[key] = use.level
            problem = "evennia_ai: a warning about a budget could not be sent"
            maybeDeferred(self._books.tell, use).addErrback(
                lambda failed: log.failure(problem, failed)
            )

    def _begin_day(self) -> None:
        day = datetime.fromtimestamp(wall_seconds(self._clock), UTC).date()
        for ledger in self.ledgers:
            if ledger.sums.day != day:
                ledger.sums.begin_day(day, {})
                ledger.told.clear()
                self._is_read = False
        if not self._is_read:
            self._read(day)

    def _read(self, day: date) -> None:
        """Take over what was spent today; if that cannot be read, count from 0 for now."""
        try:
            for ledger in self.ledgers:
                ledger.sums.begin_day(day, ledger.spent(day))
        except Exception as error:  # noqa: BLE001  # of any database; the call must go on
            log.warn(
                "evennia_ai: today's costs cannot be read ({error}); trying again", error=error
            )
        else:
            self._is_read = True

    def _charge(self, ledger: Ledger, caller: Caller, profile: ModelProfile) -> Charge:
        own = caller.tokens_per_day if ledger.unit == budgets.TOKENS else caller.money_per_day
        limits: dict[Account, int | None] = {(budgets.ASSISTANT, caller.assistant): own}
        ledger.own.update(limits)
        for speaker in sorted(caller.speakers):
            limits[budgets.PLAYER, speaker] = ledger.player
            if owner := self._books.owner_of(speaker):
                limits[budgets.OWNER, owner] = ledger.player
        limits[budgets.WHOLE_GAME] = ledger.game
        waived = ledger.waived if profile.is_free else ()
        return Charge({account: limits[account] for account in limits if account[0] not in waived})
