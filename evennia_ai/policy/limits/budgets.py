"""Budgets of tokens for a UTC day: reserved before a call, settled when its cost is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

ASSISTANT, PLAYER, GAME = "assistant", "player", "game"
NAMES = {
    ASSISTANT: "this assistant's budget",
    PLAYER: "this player's budget",
    GAME: "the game's budget",
}
Account = tuple[str, str]
WHOLE_GAME: Account = (GAME, "")
CALLS, TOKENS_IN, TOKENS_OUT, MS = "calls", "tokens_in", "tokens_out", "ms"
NOTHING: Mapping[str, int] = {CALLS: 0, TOKENS_IN: 0, TOKENS_OUT: 0, MS: 0}


@dataclass(frozen=True)
class Charge:
    """Who pays for one call: a limit in tokens a day for each account, None without a limit.

    A call that several players set off is shared among them evenly.
    """

    limits: Mapping[Account, int | None]

    def share(self, account: Account, tokens: int) -> int:
        """What one account pays of a call."""
        players = sum(kind == PLAYER for kind, _ in self.limits)
        return -(-tokens // players) if account[0] == PLAYER else tokens


@dataclass(frozen=True, eq=False)
class Reservation:
    """Tokens put aside for one call."""

    charge: Charge
    tokens: int
    day: date


@dataclass
class Budgets:
    """What was spent and what is reserved today, by account.

    Kept in memory; ``spent`` is filled from the log when a day is begun.
    """

    day: date = date.min
    spent: dict[Account, int] = field(default_factory=dict)
    reserved: dict[Account, int] = field(default_factory=dict)

    def begin_day(self, day: date, spent: Mapping[Account, int]) -> None:
        """Start counting a day with what the log knows of it; open reservations stay."""
        self.day = day
        self.spent = dict(spent)

    def exhausted(self, charge: Charge, tokens: int) -> Account | None:
        """The first account whose limit a call of so many tokens would break, None where there is
        none. What is reserved counts as spent, so that no burst of calls slips through."""
        for account, limit in charge.limits.items():
            used = self.spent.get(account, 0) + self.reserved.get(account, 0)
            if limit is not None and used + charge.share(account, tokens) > limit:
                return account
        return None

    def reserve(self, charge: Charge, tokens: int) -> Reservation:
        """Put tokens aside for a call."""
        for account in charge.limits:
            self._add(self.reserved, account, charge.share(account, tokens))
        return Reservation(charge, tokens, self.day)

    def settle(self, reservation: Reservation, tokens: int) -> None:
        """A call has ended and cost this much; of yesterday's, only the reservation is undone."""
        charge = reservation.charge
        for account in charge.limits:
            self._add(self.reserved, account, -charge.share(account, reservation.tokens))
            if reservation.day == self.day:
                self._add(self.spent, account, charge.share(account, tokens))

    @staticmethod
    def _add(sums: dict[Account, int], account: Account, tokens: int) -> None:
        total = sums.get(account, 0) + tokens
        if total > 0:
            sums[account] = total
        else:
            sums.pop(account, None)


def add_call(
    cost: Mapping[str, int], tokens_in: int, tokens_out: int, duration_ms: int
) -> dict[str, int]:
    """The cost with one call more, whether it came to anything or not."""
    more = {CALLS: 1, TOKENS_IN: tokens_in, TOKENS_OUT: tokens_out, MS: duration_ms}
    return {name: cost.get(name, 0) + more[name] for name in NOTHING}
