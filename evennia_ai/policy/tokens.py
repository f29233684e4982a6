"""Counting tokens. Every part of a message counts; what an endpoint reported corrects the rest."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from evennia_ai.policy.overflow import SILENT_SHARE
from evennia_ai.policy.token_estimate import estimate_tokens

__all__ = [
    "Calibration",
    "CountText",
    "UsageReport",
    "calibrate",
    "count_conversation_tokens",
    "count_message",
    "count_tools",
    "estimate_tokens",
    "is_plausible",
    "stored_tokens",
]

CountText = Callable[[str], int]

MESSAGE_OVERHEAD = 4  # the frame of a message, with its role
TOOL_OVERHEAD = 8  # the frame of one tool's schema
UNCOUNTED = frozenset({"metadata", "role"})

REPORTS_USED = 5
LOWEST_RATIO, HIGHEST_RATIO = SILENT_SHARE, 3.0


def count_message(message: Mapping[str, object], count_text: CountText = estimate_tokens) -> int:
    """Tokens of one message: its frame, words, name, calls with their ids and arguments."""
    return MESSAGE_OVERHEAD + sum(
        _count_value(value, count_text) for key, value in message.items() if key not in UNCOUNTED
    )


def _count_value(value: object, count_text: CountText) -> int:
    """Tokens of whatever stands in a message; a dictionary costs a frame, as a call does."""
    if isinstance(value, str):
        return count_text(value)
    if isinstance(value, Mapping):
        return MESSAGE_OVERHEAD + sum(_count_value(each, count_text) for each in value.values())
    if isinstance(value, list | tuple):
        return sum(_count_value(each, count_text) for each in value)
    return 0 if value is None else count_text(str(value))


def count_tools(
    schemas: Iterable[Mapping[str, object]], count_text: CountText = estimate_tokens
) -> int:
    """Tokens of the tools of a request, as JSON; endpoints that write them shorter cost less."""
    return sum(
        TOOL_OVERHEAD + count_text(json.dumps(schema, ensure_ascii=False, separators=(",", ":")))
        for schema in schemas
    )


def stored_tokens(message: Mapping[str, Any], count: Callable[[Any], int] = count_message) -> int:
    """Tokens of a stored message, as they were counted when it was stored; counted now where they
    were not."""
    return int(message["metadata"].get("tokens") or count(message))


def count_conversation_tokens(
    history: Iterable[Mapping[str, object]], model: str | None, count_text: CountText | None = None
) -> int:
    """Tokens of a list of messages.

    Args:
        history: messages, stored or on the wire.
        model: the model's name, for a ``count_text`` that depends on it.
        count_text: a tokenizer's count; None is the heuristic.
    """
    return sum(count_message(message, count_text or estimate_tokens) for message in history)


@dataclass(frozen=True)
class UsageReport:
    """What one call was estimated at, and what its endpoint counted.

    ``at`` is when the request was built, in Unix seconds; ``estimate`` and ``prompt_tokens`` count
    the whole of it, tools included.
    """

    estimate: int
    prompt_tokens: int
    at: float = 0.0

    @property
    def ratio(self) -> float:
        """The endpoint's tokens for one of ours."""
        return self.prompt_tokens / self.estimate if self.estimate > 0 else 0.0


@dataclass(frozen=True)
class Calibration:
    """How our estimates compare with what an endpoint counts; without reports, not at all.

    ``ratio`` is the endpoint's tokens for one of ours; ``last`` the report to go on from.
    """

    ratio: float = 1.0
    last: UsageReport | None = None

    def count(self, estimate: int) -> int:
        """Tokens the endpoint will count for a request that we estimate so.

        What the last call was counted at, plus what came since at the usual ratio. A request that
        is shorter than the last, for another listener or after masking, counts less by as much,
        but never less than the lowest ratio allows.
        """
        if self.last is None:
            return estimate
        since = (estimate - self.last.estimate) * self.ratio
        return max(math.ceil(self.last.prompt_tokens + since), math.ceil(estimate * LOWEST_RATIO))


def calibrate(reports: Iterable[UsageReport], since: float | None = None) -> Calibration:
    """Learn from what endpoints reported of recent calls of one model, oldest first.

    Reports of requests built before ``since``, the time of the last compaction, say nothing of the
    prompts that follow it and are discarded. So are absurd ones: nothing, under 60 % of our
    estimate (the server truncated in silence), or over three times as much.
    """
    usable = [report for report in reports if is_plausible(report) and not _older(report, since)]
    if not usable:
        return Calibration()
    return Calibration(median(report.ratio for report in usable[-REPORTS_USED:]), usable[-1])


def is_plausible(report: UsageReport) -> bool:
    """True where an endpoint's count can be that of the request we sent."""
    return LOWEST_RATIO <= report.ratio <= HIGHEST_RATIO


def _older(report: UsageReport, since: float | None) -> bool:
    return since is not None and report.at < since
