"""What a character may not let go of while its mind acts: the things that it sells."""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from evennia_ai.game.perception import name_in_act


@dataclass
class Keeping:
    """What one tool call may move away from a keeper.

    ``is_ware`` tells whether a thing has a price; ``sells`` is True for a tool that takes the
    price: it may move a ware, but none within another thing. ``refusal`` names the ware that was
    kept, "" if none was.
    """

    keeper: Any
    is_ware: Callable[[Any], bool]
    sells: bool
    refusal: str = ""

    def lets_go(self, thing: Any, destination: Any) -> bool:
        """Return True if a thing may leave the keeper for a place; note why not."""
        if self.keeper in places_of(destination):
            return True
        leaving = [*things_within(thing), *([] if self.sells else [thing])]
        ware = next(filter(self.is_ware, leaving), None)
        if ware is not None:
            self.refusal = f"{name_in_act(ware, self.keeper)} has a price: use `sell`."
        return ware is None


# The call of a tool that runs; a copy goes along with what a tool does later (`inlineCallbacks`).
KEEPING: ContextVar[Keeping | None] = ContextVar("evennia_ai_keeping", default=None)


def lets_go(keeper: Any, thing: Any, destination: Any) -> bool:
    """Return True unless the keeper's own mind moves a ware away from it."""
    keeping = KEEPING.get()
    if keeping is None or keeping.keeper is not keeper:
        return True
    return keeping.lets_go(thing, destination)


def places_of(thing: Any) -> Iterator[Any]:
    """Yield a thing and everything that it is in."""
    while thing is not None:
        yield thing
        thing = thing.location


def things_within(thing: Any) -> Iterator[Any]:
    """Yield everything in a thing, however deep."""
    for inner in thing.contents:
        yield inner
        yield from things_within(inner)
