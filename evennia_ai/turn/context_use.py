"""How full the context is: what decides over masking, compaction, and a word of warning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evennia_ai.config import usable_window
from evennia_ai.policy.tokens import calibrate
from evennia_ai.ports import Script


@dataclass(frozen=True)
class ContextUse:
    """How full the context is, in tokens; ``used`` counts the whole of the largest request."""

    used: int
    window: int

    @property
    def ratio(self) -> float:
        """The part that is used."""
        return self.used / self.window


def measure_context(script: Script) -> ContextUse:
    """How full the context is, by the largest projection anybody has of it. Costs next to nothing:
    sizes are kept as messages come."""
    config = script.config
    talk = script.conversation.current.sizes.largest(config.discretion)
    counted = calibrate(script.usage_reports).count(script.prompt_overhead + talk)
    return ContextUse(counted + reserve(config), usable_window(config, script.profile))


def reserve(config: Any) -> int:
    """The room kept for the reply, in tokens."""
    kept: int | None = config.compact_reserve_tokens
    return int(config.max_reply_tokens) if kept is None else kept
