"""Limits of the gateway, and the order in which calls that wait are let through."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from evennia_ai.policy.limits.breaker import BreakerLimits
from evennia_ai.policy.limits.retry import RetryLimits


@dataclass(frozen=True)
class GatewayLimits:
    """What the gateway allows.

    Budgets are in tokens, or in micros of ``currency``, for one UTC day; None disables one.
    ``waived`` are the kinds of accounts whose budgets in tokens do not count free models.
    """

    max_in_flight: int = 64
    max_queued: int = 256
    player_tokens_per_day: int | None = None
    game_tokens_per_day: int | None = None
    player_money_per_day: int | None = None
    game_money_per_day: int | None = None
    currency: str = "USD"
    waived: frozenset[str] = frozenset()
    retry: RetryLimits = field(default_factory=RetryLimits)
    breaker: BreakerLimits = field(default_factory=BreakerLimits)


DEFAULTS = GatewayLimits()


T = TypeVar("T", bound=Hashable)


class FairQueue(Generic[T]):
    """A queue with one line per owner, who take turns; ``background`` items come last."""

    def __init__(self) -> None:
        self._lines: tuple[OrderedDict[Hashable, deque[T]], ...] = (OrderedDict(), OrderedDict())
        self._places: dict[T, tuple[int, Hashable]] = {}

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, item: object) -> bool:
        return item in self._places

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._places))

    def put(self, item: T, owner: Hashable, background: bool = False) -> None:
        """Add an item at the end of its owner's line."""
        line = self._lines[background]
        line.setdefault(owner, deque()).append(item)
        self._places[item] = (int(background), owner)

    def in_turn(self) -> Iterator[T]:
        """Yield the items in the order of their turns; remove none meanwhile."""
        for line in self._lines:
            rank, more = 0, True
            while more:
                more = False
                for items in line.values():
                    if rank < len(items):
                        more = True
                        yield items[rank]
                rank += 1

    def remove(self, item: T) -> None:
        """Remove an item; its owner's next turn comes after those of the others."""
        place = self._places.pop(item, None)
        if place is None:
            return
        line, owner = self._lines[place[0]], place[1]
        waiting = line.pop(owner)
        waiting.remove(item)
        if waiting:
            line[owner] = waiting
