"""Budgets of a UTC day, in tokens and in money, reserved before a call and settled after it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from twisted.internet.defer import maybeDeferred
from twisted.logger import Logger

from evennia_ai.config import ModelProfile
from evennia_ai.contrib.costs import budgets
from evennia_ai.contrib.costs.budgets import Account, Budget, BudgetUse, Reservation, Spent
from evennia_ai.contrib.costs.limits import CostLimits, CostSettings
from evennia_ai.errors import BudgetExhausted
from evennia_ai.messages import Usage
from evennia_ai.policy.limits.money import FREE, to_micros
from evennia_ai.ports import Caller, LLMRequest
from evennia_ai.scheduling import Clock, wall_seconds

log = Logger()


@dataclass(frozen=True)
class BudgetSources:
    """What the budgets ask for, and whom they tell.

    ``spent_tokens`` and ``spent_money``, in micros, return what each account spent on a UTC day.
    ``owner_of`` returns
    the account of a speaker, which has a player's budget, too, "" for none. ``tell`` is called once
    a day for each budget that is nearly used up, and once when it is.
    """

    spent_tokens: Spent = lambda _day: {}
    spent_money: Spent = lambda _day: {}
    owner_of: Callable[[str], str] = lambda _speaker: ""
    tell: Callable[[BudgetUse], object] = lambda _use: None


class DailyBudgets:
    """The budgets of the game and the players, and of each assistant that has one.

    Each ledger is read for a UTC day by the machine's time (`wall_seconds`) with the day's first
    call, and again while that fails. A player's budget is for each player, and for each account of
    one, so that a second character has no further budget. An account's sum is kept in memory only.
    """

    def __init__(self, clock: Clock, limits: CostLimits, sources: BudgetSources) -> None:
        self._clock, self._sources = clock, sources
        players, game = limits.player_tokens_per_day, limits.game_tokens_per_day
        tokens = Budget(budgets.TOKENS, sources.spent_tokens, players, game, limits.waived)
        players, game = limits.player_money_per_day, limits.game_money_per_day
        self.ledgers = (tokens, Budget(limits.currency, sources.spent_money, players, game))
        self._is_read = False

    def reserve(self, request: LLMRequest, profile: ModelProfile) -> list[Reservation]:
        """Reserve the most that a call can cost; raise BudgetExhausted if over a limit."""
        self._begin_day()
        most = Usage(request.tokens, request.max_tokens or 0)
        players_usage = budgets.paid_by_players(most, request.caller.unpaid_share)
        charges = []
        for ledger in self.ledgers:
            accounts = self._payers(ledger, request.caller, profile)
            amounts = [ledger.price(usage, profile.price) for usage in (most, players_usage)]
            for use in ledger.used(accounts):
                ledger.told.setdefault((use.account, use.limit), use.level)
            if (broken := ledger.exhausted(accounts, *amounts)) is not None:
                raise self._refusal(ledger, broken)
            charges.append((ledger, accounts, amounts))
        return [ledger.reserve(accounts, *amounts) for ledger, accounts, amounts in charges]

    def settle(
        self,
        reserved: Sequence[Reservation],
        request: LLMRequest,
        profile: ModelProfile,
        usage: Usage,
    ) -> None:
        """Replace the reservations of a call by what it used."""
        self._begin_day()
        players_usage = budgets.paid_by_players(usage, request.caller.unpaid_share)
        for ledger, reservation in zip(self.ledgers, reserved, strict=True):
            amounts = [ledger.price(their, profile.price) for their in (usage, players_usage)]
            ledger.settle(reservation, *amounts)
            for use in ledger.used(reservation.accounts):
                self._tell_once(ledger, use)

    def used(self) -> list[BudgetUse]:
        """Return what is used today of each budget, tokens first, without those unused."""
        self._begin_day()
        return [use for ledger in self.ledgers for use in ledger.used(ledger.spent)]

    def read_again(self) -> None:
        """Read the log with the next call, since other servers spend, too."""
        self._is_read = False

    def _refusal(self, ledger: Budget, account: Account) -> BudgetExhausted:
        limit, spent = ledger.limit_of(account) or 0, ledger.spent.get(account, 0)
        use = BudgetUse(account, ledger.unit, spent, limit, refused=True)
        if limit:  # 0 allows no call, on purpose
            self._tell_once(ledger, use)
        if spent < limit:
            return BudgetExhausted(
                f"{use.name}: {use} ({use.percent}%), and this call could exceed the limit."
            )
        amount = limit if use.unit == budgets.TOKENS else use.amount(limit)
        return BudgetExhausted(f"{use.name} of {amount} {use.unit} for today is used up.")

    def _tell_once(self, ledger: Budget, use: BudgetUse) -> None:
        if ledger.is_fuller(use):
            problem = "evennia_ai: a warning about a budget could not be sent"
            maybeDeferred(self._sources.tell, use).addErrback(
                lambda failed: log.failure(problem, failed)
            )

    def _begin_day(self) -> None:
        day: date = datetime.fromtimestamp(wall_seconds(self._clock), UTC).date()
        for ledger in self.ledgers:
            if ledger.day != day:
                ledger.begin_day(day, {})
                self._is_read = False
        if self._is_read:
            return
        try:
            for ledger in self.ledgers:
                kept = {
                    item: spent for item, spent in ledger.spent.items() if item[0] == budgets.OWNER
                }
                ledger.begin_day(day, {**kept, **ledger.read(day)})
        except Exception as error:  # noqa: BLE001  # of any database; the call must go on from 0
            log.warn(
                "evennia_ai: today's costs cannot be read ({error}); trying again", error=error
            )
        else:
            self._is_read = True

    def _payers(self, ledger: Budget, caller: Caller, profile: ModelProfile) -> list[Account]:
        """Return the accounts that pay for a call, and note the assistant's own limit."""
        own = caller.config.part(CostSettings) if caller.config else CostSettings()
        money = None if own.money_per_day is None else to_micros(own.money_per_day)
        assistant = (budgets.ASSISTANT, caller.assistant)
        ledger.own[assistant] = own.tokens_per_day if ledger.unit == budgets.TOKENS else money
        accounts = {assistant: None}
        for speaker in sorted(caller.speakers):
            accounts[budgets.PLAYER, speaker] = None
            if owner := self._sources.owner_of(speaker):
                accounts[budgets.OWNER, owner] = None
        accounts[budgets.WHOLE_GAME] = None
        waived = ledger.waived if profile.price == FREE else ()
        return [account for account in accounts if account[0] not in waived]
