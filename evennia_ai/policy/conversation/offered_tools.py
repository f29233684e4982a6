"""The tools that a request offers: they only grow within a talk, so that prompt caches hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class ToolOffer:
    """The names of the tools offered so far in a talk, in the order in which they came.

    A talk lasts until the character sleeps or a compaction moves the start of its conversation.
    """

    names: tuple[str, ...] = ()
    compaction_id: int | None = None  # the latest compaction, None before the first one

    def after(self, compaction_id: int | None) -> ToolOffer:
        """Return this offer, or an empty one after another compaction."""
        return self if compaction_id == self.compaction_id else ToolOffer((), compaction_id)

    def grown(self, needed: Iterable[str]) -> ToolOffer:
        """Return the offer with the tools needed now; new ones come last, in their given order."""
        return ToolOffer(tuple(dict.fromkeys([*self.names, *needed])), self.compaction_id)
