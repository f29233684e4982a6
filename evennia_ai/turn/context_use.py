"""Measure how full the context window is."""

from __future__ import annotations

from evennia_ai.config import AssistantConfig, usable_window
from evennia_ai.policy.compaction.plan import ContextUse, Thresholds
from evennia_ai.policy.tokens import calibrate
from evennia_ai.ports import Script


def measure_context(script: Script) -> ContextUse:
    """Measure how full the context window is, by the largest projection of any audience."""
    # Costs about 30 µs (measured): sizes are kept as messages arrive.
    config = script.config
    conversation = script.conversation.sizes.largest()
    counted = calibrate(script.usage_reports).count(script.prompt_overhead + conversation)
    thresholds = Thresholds(
        mask=config.mask_threshold,
        sleep=config.compact_sleep_threshold,
        emergency=config.compact_emergency_threshold,
    )
    return ContextUse(
        counted + reserve(config),
        usable_window(config, script.profile),
        thresholds if config.compact_enabled else None,
    )


def reserve(config: AssistantConfig) -> int:
    """Return the tokens reserved for the reply."""
    kept = config.compact_reserve_tokens
    return config.max_reply_tokens if kept is None else kept
