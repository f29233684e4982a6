"""What a compaction is asked to do, and what it works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evennia_ai.messages import Message
from evennia_ai.policy.compaction.decision import ContextUse
from evennia_ai.policy.compaction.plan import CompactionLimits, CompactionPlan
from evennia_ai.policy.context.projection import View

SLEEP, EMERGENCY, OVERFLOW, MANUAL = "sleep", "emergency", "overflow", "manual"
URGENT = (EMERGENCY, OVERFLOW)
STRIKES = 2


@dataclass(frozen=True)
class CompactionRequest:
    """Why and how to compact.

    Attributes:
        reason: one of `SLEEP`, `EMERGENCY`, `OVERFLOW`, `MANUAL`.
        force: True skips the threshold, and compacts even if little is gained.
        focus: what the summary should keep above all.
        keep_recent: how many of the newest messages to keep this time; None uses the setting.
    """

    reason: str = SLEEP
    force: bool = False
    focus: str | None = None
    keep_recent: int | None = None

    @property
    def is_urgent(self) -> bool:
        """Return True if somebody may be waiting for an answer meanwhile."""
        return self.reason in URGENT

    @property
    def waits_for_threshold(self) -> bool:
        """Return True if nothing is to be done below ``compact_sleep_threshold``."""
        return self.reason == SLEEP and not self.force


@dataclass(frozen=True)
class CompactionTask:
    """A compaction that was decided on: the request, and what it found.

    Attributes:
        request: why and how.
        use: how full the context window was.
        view: the view of the conversation.
        messages: those in view when it was decided on.
        plan: where they are cut.
        limits: what the plan was made by.
    """

    request: CompactionRequest
    use: ContextUse
    view: View
    messages: Sequence[Message]
    plan: CompactionPlan
    limits: CompactionLimits

    @property
    def evicted(self) -> Sequence[Message]:
        """Return the messages that leave the context window."""
        return self.messages[: self.plan.cut]

    @property
    def last_seq(self) -> int:
        """Return the sequence number of the last evicted message."""
        return int(self.messages[self.plan.cut - 1]["metadata"]["seq"])
