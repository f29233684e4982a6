"""Measure how full the context window is, for masking, compaction and warnings."""

from __future__ import annotations

from dataclasses import dataclass

from evennia_ai.config import AssistantConfig, usable_window
from evennia_ai.policy.tokens import calibrate
from evennia_ai.ports import Script


@dataclass(frozen=True)
class ContextUse:
    """How full the context window is, in tokens; ``used`` is the size of the largest request."""

    used: int
    window: int

    @property
    def ratio(self) -> float:
        """Return the used share of the window, 1.0 if it is full."""
        return self.used / self.window


def measure_context(script: Script) -> ContextUse:
    """Return how full the window is for the audience with the largest prompt.

    This is cheap, since each message is counted once, when it is stored.
    """
    config = script.config
    talk = script.conversation.current.sizes.largest(config.discretion)
    counted = calibrate(script.usage_reports).count(script.prompt_overhead + talk)
    return ContextUse(counted + reserve(config), usable_window(config, script.profile))


def reserve(config: AssistantConfig) -> int:
    """Return the tokens reserved for the reply."""
    kept = config.compact_reserve_tokens
    return config.max_reply_tokens if kept is None else kept
