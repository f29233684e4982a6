"""What a character is about at which time of its day: `character.ai_plan`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from evennia_ai.policy.records.day_plan import (
    Block,
    Planned,
    current_block,
    is_stale,
    make_block,
)
from evennia_ai.policy.records.provenance import Record, copy_of
from evennia_ai.store.record_store import RecordStore


class DayPlan(RecordStore):
    """The parts of a day, of `evennia_ai.policy.records.day_plan.Block`'s fields, as plain
    dicts."""

    kind = "ai_plan"
    prefix = "b"
    model = Block

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        self._given_up_at: datetime | None = None

    @property
    def is_stale(self) -> bool:
        """True where there is no plan that is loaded, or one of an earlier day; not on a day for
        which none could be made."""
        return is_stale(list(self.held()), self._given_up_at, self.now())

    def give_up(self) -> None:
        """Note that no plan can be made for today; by this process, that is."""
        self._given_up_at = self.now()

    def replace(self, planned: Sequence[Planned], speakers: Sequence[str]) -> int:
        """Put a new day in the place of the old one, in one transaction; returns how many parts it
        has. Raises BadRecord and StoreUnavailable.

        Args:
            planned: the parts, in their order.
            speakers: dbrefs of everybody whose words may be in them.
        """
        ids = self.segments.next_ids()
        blocks = [make_block(next(ids), part, self.now(), speakers) for part in planned]
        self.segments.change(dict.fromkeys(self.ids()), *blocks)
        return len(blocks)

    def at(self, minute: int) -> Record | None:
        """What the character is about at a minute of its day, None for nothing in particular; of
        what is loaded, which costs nothing."""
        block = current_block(list(self.held()), minute)
        return copy_of(block) if block else None
