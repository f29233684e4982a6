"""What is known of people and things: made in sleep, and shown in prompts."""

from __future__ import annotations

from evennia_ai.memory.acquaintance import describe_present
from evennia_ai.sleep.entity_consolidation import run_entity_consolidation_batch

__all__ = ["describe_present", "run_entity_consolidation_batch"]
