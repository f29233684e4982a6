"""Decide when and how to compact a conversation. Pure."""

from evennia_ai.policy.compaction.plan import (
    CompactionPlan,
    Skip,
    needs_compaction,
    plan_compaction,
    safe_cut,
)

__all__ = ["CompactionPlan", "Skip", "needs_compaction", "plan_compaction", "safe_cut"]
