"""Token budgets for a UTC day: reserved before a call, settled after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

ASSISTANT, PLAYER, OWNER, GAME = "assistant", "player", "owner", "game"
NAMES = {
    ASSISTANT: "this assistant's budget",
    PLAYER: "this player's budget",
    OWNER: "this player's account's budget",
    GAME: "the game's budget",
}
Account = tuple[str, str]
WHOLE_GAME: Account = (GAME, "")
CALLS, TOKENS_IN, TOKENS_OUT, MS = "calls", "tokens_in", "tokens_out", "ms"
NOTHING: Mapping[str, int] = {CALLS: 0, TOKENS_IN: 0, TOKENS_OUT: 0, MS: 0}


@dataclass(frozen=True)
class Charge:
    """The accounts that pay for one call, with daily limits in tokens, None for unlimited."""

    limits: Mapping[Account, int | None]

    def share(self, account: Account, tokens: int) -> int:
        """Return what one account pays for a call; players who caused it share evenly."""
        players = sum(kind == PLAYER for kind, _ in self.limits)
        return -(-tokens // players) if account[0] in (PLAYER, OWNER) else tokens


@dataclass(frozen=True, eq=False)
class Reservation:
    """Tokens reserved for one call."""

    charge: Charge
    tokens: int
    day: date


@dataclass
class Budgets:
    """Today's spent and reserved tokens by account, kept in memory."""

    day: date = date.min
    spent: dict[Account, int] = field(default_factory=dict)
    reserved: dict[Account, int] = field(default_factory=dict)

    def begin_day(self, day: date, spent: Mapping[Account, int]) -> None:
        """Begin a day with the log's figures; open reservations stay."""
        self.day = day
        self.spent = dict(spent)

    def exhausted(self, charge: Charge, tokens: int) -> Account | None:
        """Return the first account whose limit a call exceeds, reservations included."""
        for account, limit in charge.limits.items():
            used = self.spent.get(account, 0) + self.reserved.get(account, 0)
            if limit is not None and used + charge.share(account, tokens) > limit:
                return account
        return None

    def reserve(self, charge: Charge, tokens: int) -> Reservation:
        """Reserve tokens for a call."""
        for account in charge.limits:
            self._add(self.reserved, account, charge.share(account, tokens))
        return Reservation(charge, tokens, self.day)

    def settle(self, reservation: Reservation, tokens: int) -> None:
        """Replace a reservation by the call's cost; a past day's is only undone."""
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
    """Return a cost with one more call, successful or not."""
    more = {CALLS: 1, TOKENS_IN: tokens_in, TOKENS_OUT: tokens_out, MS: duration_ms}
    return {name: cost.get(name, 0) + more[name] for name in NOTHING}
