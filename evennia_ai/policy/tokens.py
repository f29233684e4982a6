"""Token counts of messages, tools and requests, corrected by endpoints' reports."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from evennia_ai.policy import token_estimate
from evennia_ai.policy.overflow import SILENT_SHARE

CountText = Callable[[str], int]
estimate_tokens = token_estimate.estimate_tokens

MESSAGE_OVERHEAD = 4  # a message's role and delimiters
TOOL_OVERHEAD = 8  # the delimiters of one tool's schema
UNCOUNTED = frozenset({"metadata", "role"})

REPORTS_USED = 5
LOWEST_RATIO, HIGHEST_RATIO = SILENT_SHARE, 3.0


def count_message(message: Mapping[str, object], count_text: CountText = estimate_tokens) -> int:
    """Return the tokens of one message: overhead, text, name and calls."""
    return MESSAGE_OVERHEAD + sum(
        _count_value(value, count_text) for key, value in message.items() if key not in UNCOUNTED
    )


def _count_value(value: object, count_text: CountText) -> int:
    """Return the tokens of any value in a message; each dictionary has overhead."""
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
    """Return the tokens of a request's tools as JSON (some endpoints write less)."""
    return sum(
        TOOL_OVERHEAD + count_text(json.dumps(schema, ensure_ascii=False, separators=(",", ":")))
        for schema in schemas
    )


def stored_tokens(message: Mapping[str, Any], count: Callable[[Any], int] = count_message) -> int:
    """Return the tokens of a stored message, from its metadata or by counting."""
    return int(message["metadata"].get("tokens") or count(message))


def count_conversation_tokens(
    history: Iterable[Mapping[str, object]], model: str | None, count_text: CountText | None = None
) -> int:
    """Return the tokens of stored or wire messages; no ``count_text`` means the heuristic."""
    return sum(count_message(message, count_text or estimate_tokens) for message in history)


@dataclass(frozen=True)
class UsageReport:
    """Our estimate and the endpoint's count of one request."""

    estimate: int
    prompt_tokens: int

    @property
    def ratio(self) -> float:
        """Return the endpoint's tokens per token of our estimate, 0 without an estimate."""
        return self.prompt_tokens / self.estimate if self.estimate > 0 else 0.0


@dataclass(frozen=True)
class Calibration:
    """The endpoint's tokens per token of our estimate, and the latest usable report."""

    ratio: float = 1.0
    last: UsageReport | None = None

    def count(self, estimate: int) -> int:
        """Return the tokens that the endpoint will count for a request we estimate."""
        # The result is the last reported count plus the change since then at the usual ratio, but
        # never less than the lowest plausible ratio allows, since a request may be shorter than the
        # last one.
        if self.last is None:
            return estimate
        since = (estimate - self.last.estimate) * self.ratio
        return max(math.ceil(self.last.prompt_tokens + since), math.ceil(estimate * LOWEST_RATIO))


def calibrate(reports: Iterable[UsageReport]) -> Calibration:
    """Return a calibration from the reports of one model's calls, oldest first."""
    # Ignores counts below 60 % of our estimate (silent truncation) or above three times it.
    usable = [report for report in reports if LOWEST_RATIO <= report.ratio <= HIGHEST_RATIO]
    if not usable:
        return Calibration()
    return Calibration(median(report.ratio for report in usable[-REPORTS_USED:]), usable[-1])
