"""A fair queue: owners take turns, and players' calls precede background work."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

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

    @property
    def only_background(self) -> bool:
        """True if only background work waits."""
        return bool(self._places) and not self._lines[False]

    def take(self) -> T:
        """Take the next item; raises IndexError if nothing waits."""
        for line in self._lines:
            if line:
                owner, waiting = line.popitem(last=False)
                item = waiting.popleft()
                if waiting:
                    line[owner] = waiting
                del self._places[item]
                return item
        raise IndexError("nothing waits")

    def remove(self, item: T) -> None:
        """Remove an item from its line, in time linear in that; nothing if it is not there."""
        place = self._places.pop(item, None)
        if place is None:
            return
        line, owner = self._lines[place[0]], place[1]
        line[owner].remove(item)
        if not line[owner]:
            del line[owner]
