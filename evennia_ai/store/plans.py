"""A character's day plan: `character.ai_plan`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from evennia_ai.policy.records.day_plan import Block, Planned, current_block, is_stale, make_block
from evennia_ai.policy.records.provenance import Record, copy_of
from evennia_ai.store.record_store import RecordStore


class DayPlan(RecordStore):
    """The parts of one day as plain dicts with the fields of `Block`."""

    kind = "ai_plan"
    prefix = "b"
    model = Block

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        self._given_up_at: datetime | None = None

    @property
    def is_stale(self) -> bool:
        """Return True if no loaded plan is for today, unless today's plan was given up."""
        return is_stale(list(self.held()), self._given_up_at, self.now())

    def give_up(self) -> None:
        """Note that today gets no plan, until this process ends."""
        self._given_up_at = self.now()

    def replace(self, planned: Sequence[Planned], speakers: Sequence[str]) -> int:
        """Replace the plan in one transaction; returns how many parts it has. Raises BadRecord.

        ``speakers`` are the dbrefs of everybody whose words may be in it.
        """
        ids = self.segments.next_ids()
        blocks = [make_block(next(ids), part, self.now(), speakers) for part in planned]
        self.segments.change(dict.fromkeys(self.ids()), *blocks)
        return len(blocks)

    def at(self, minute: int) -> Record | None:
        """Return the loaded part of the plan at a minute of the day, None if none."""
        block = current_block(list(self.held()), minute)
        return copy_of(block) if block else None
