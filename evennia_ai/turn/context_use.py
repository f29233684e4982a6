"""Measure how full the context window is."""

from __future__ import annotations

from evennia_ai.config import AssistantConfig, usable_window
from evennia_ai.policy.compaction.plan import ContextUse, Thresholds
from evennia_ai.policy.tokens import calibrate
from evennia_ai.ports import Conversation, RequestSizes, Settings


class ContextMeter:
    """Measures how full the context window is, by the largest projection of any audience."""

    def __init__(self, settings: Settings, log: Conversation, sizes: RequestSizes) -> None:
        self._settings, self._log, self.sizes = settings, log, sizes

    @property
    def window(self) -> int:
        """Return the tokens of the context window that a request may use."""
        return usable_window(self._settings.config, self._settings.profile)

    def measure(self) -> ContextUse:
        """Measure it now. Costs about 30 µs: sizes are kept as messages arrive (measured)."""
        config = self._settings.config
        conversation = self._log.sizes.largest()
        counted = calibrate(self.sizes.reports).count(self.sizes.overhead + conversation)
        thresholds = Thresholds(
            mask=config.mask_threshold,
            sleep=config.compact_sleep_threshold,
            emergency=config.compact_emergency_threshold,
        )
        return ContextUse(
            counted + reserve(config), self.window, thresholds if config.compact_enabled else None
        )


def reserve(config: AssistantConfig) -> int:
    """Return the tokens reserved for the reply."""
    kept = config.compact_reserve_tokens
    return config.max_reply_tokens if kept is None else kept
