"""Whether to mask or compact, decided from how full the context window is. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from evennia_ai.policy.compaction.plan import (
    CompactionLimits,
    CompactionPlan,
    Count,
    Messages,
    Skip,
    needs_compaction,
    plan_compaction,
)

# Share of the window that an automatic compaction must free: if tools and persona fill the window,
# every new line would start another compaction.
LEAST_GAIN_SHARE = 0.05
# Three compactions in a row that each free less than this share only rewrite the same summary.
SMALL_SHARE = 0.1
SMALL_IN_A_ROW = 3

DISABLED = "compaction disabled"
TOO_LITTLE = "too little would be gained"
LITTLE_PROGRESS = (
    "Three compactions in a row took out little of the talk, and each summed the same summary up "
    "again. Give it a larger window, a shorter persona, or a lower compact_target."
)


@dataclass(frozen=True)
class Thresholds:
    """Shares of the context window, from 0 to 1, at which each kind of relief begins."""

    mask: float
    sleep: float
    emergency: float


@dataclass(frozen=True)
class ContextUse:
    """How full the context window is."""

    used: int  # tokens of the largest request, the reserve for its reply included
    window: int  # tokens
    thresholds: Thresholds | None  # None if compaction is disabled

    @property
    def ratio(self) -> float:
        """Return the share of the window that is used; over 1 if the request does not fit."""
        return self.used / self.window

    @property
    def should_mask(self) -> bool:
        """Return True from ``mask_threshold`` on."""
        return self.thresholds is not None and self.ratio >= self.thresholds.mask

    @property
    def is_due(self) -> bool:
        """Return True from ``compact_sleep_threshold`` on."""
        limits = self.thresholds
        return limits is not None and needs_compaction(self.used, self.window, limits.sleep)

    @property
    def is_urgent(self) -> bool:
        """Return True from ``compact_emergency_threshold`` on."""
        limits = self.thresholds
        return limits is not None and needs_compaction(self.used, self.window, limits.emergency)


def decide_compaction(
    use: ContextUse,
    messages: Messages,
    limits: CompactionLimits,
    count: Count,
    *,
    waits: bool,
    force: bool,
) -> CompactionPlan | Skip:
    """Decide whether to compact, and where to cut, as `plan_compaction` does.

    ``waits`` skips below ``compact_sleep_threshold``; ``force`` compacts even for little gain.
    """
    if use.thresholds is None:
        return Skip(DISABLED)
    if messages and waits and not use.is_due:
        return Skip(f"below threshold ({use.ratio:.1%} < {use.thresholds.sleep:.0%})")
    plan = plan_compaction(messages, limits, count)
    if isinstance(plan, Skip) or force or is_worthwhile(plan, limits.window):
        return plan
    return Skip(TOO_LITTLE)


def is_worthwhile(plan: CompactionPlan, window: int) -> bool:
    """Return True if an automatic compaction frees enough to count as progress (P4)."""
    return plan.gone_tokens >= LEAST_GAIN_SHARE * window


def count_small(before: int, plan: CompactionPlan, window: int) -> int:
    """Return how many compactions in a row freed little of the window, this one included."""
    return before + 1 if plan.gone_tokens < SMALL_SHARE * window else 0


def makes_little_progress(small: int) -> bool:
    """Return True if compactions follow each other so closely that each rewrites a summary."""
    return small >= SMALL_IN_A_ROW
