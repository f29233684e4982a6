"""What a compaction is asked to do, and what it works on."""

from collections.abc import Sequence
from dataclasses import dataclass

from evennia_ai.messages import Message
from evennia_ai.policy.compaction.plan import CompactionLimits, CompactionPlan, ContextUse
from evennia_ai.policy.context.projection import View

SLEEP, EMERGENCY, OVERFLOW, MANUAL = "sleep", "emergency", "overflow", "manual"
URGENT = (EMERGENCY, OVERFLOW)
STRIKES = 2


@dataclass(frozen=True)
class CompactionRequest:
    """Why and how to compact."""

    reason: str = SLEEP  # or EMERGENCY, OVERFLOW, MANUAL
    force: bool = False  # skip the threshold, and compact even if little is gained
    focus: str | None = None  # what the summary should keep above all
    keep_recent: int | None = None  # newest messages to keep this time; None uses the setting
    asks: bool = True  # False takes a digest instead of asking a model

    @property
    def is_urgent(self) -> bool:
        """Return True if somebody may be waiting for an answer meanwhile."""
        return self.reason in URGENT


@dataclass(frozen=True)
class CompactionTask:
    """A compaction that was decided on: the request, and what it found."""

    request: CompactionRequest
    use: ContextUse  # how full the context window was
    view: View
    messages: Sequence[Message]  # in view when it was decided on
    plan: CompactionPlan
    limits: CompactionLimits  # by which the plan was made

    @property
    def evicted(self) -> Sequence[Message]:
        """Return the messages that leave the context window."""
        return self.messages[: self.plan.cut]

    @property
    def last_seq(self) -> int:
        """Return the sequence number of the last evicted message."""
        return int(self.messages[self.plan.cut - 1]["metadata"]["seq"])
