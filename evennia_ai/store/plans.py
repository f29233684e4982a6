"""What a character is about at which time of its day: `character.ai_plan`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from evennia_ai.policy.records.day_plan import (
    Planned,
    change_block,
    current_block,
    is_stale,
    make_block,
    read_block,
)
from evennia_ai.policy.records.provenance import Record, copy_of
from evennia_ai.store.record_store import RecordStore


class DayPlan(RecordStore):
    """The parts of a day, of `evennia_ai.policy.records.day_plan.Block`'s fields, as plain
    dicts."""

    kind = "ai_plan"
    prefix = "b"

    def __init__(self, obj: Any) -> None:
        super().__init__(obj)
        self._given_up_at: datetime | None = None

    @property
    def is_stale(self) -> bool:
        """True where there is no plan that is loaded, or one of an earlier day; not on a day for
        which none could be made."""
        return is_stale(list(self.segments.held()), self._given_up_at, self.now())

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
        block = current_block(list(self.segments.held()), minute)
        return copy_of(block) if block else None

    # --- what a shelf asks for ------------------------------------------------------------------

    def read(self, raw: Any) -> Record:
        """A stored part of a day; raises BadRecord."""
        return read_block(raw)

    def changed(self, record: Record, fields: Mapping[str, Any]) -> Record:
        """A part of a day with some fields changed; raises BadRecord."""
        return change_block(record, dict(fields))

    def noticed(self, old: Record | None, new: Record | None) -> None:
        """Nothing is derived from a plan."""
