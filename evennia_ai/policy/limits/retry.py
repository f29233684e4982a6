"""What a refusal says about coming back: when, or that waiting will not help."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT_S = 7 * 24 * 3_600.0
SOON_S = 3_600.0
SECONDS = re.compile(r"[0-9]{1,15}(?:\.[0-9]*)?")

SPENT_CODE = re.compile(
    r"insufficient.?(?:quota|balance|credit|fund)|billing|payment|(?:quota|credit).?exceeded"
    r"|credits.?(?:depleted|exhausted)",
    re.IGNORECASE,
)
SPENT_TEXT = re.compile(
    r"current quota|quota (?:has been )?(?:exceeded|exhausted)"
    r"|insufficient (?:quota|balance|credit)|(?:credit|account) balance|more credits|out of credits"
    r"|billing|payment required",
    re.IGNORECASE,
)
SHORT_SPAN = re.compile(r"\bper (?:min|minute|second|hour)\b|\b[tr]pm\b", re.IGNORECASE)


def parse_retry_after(value: str, now: datetime) -> float | None:
    """Read a ``Retry-After`` header: seconds from now, or None where it says nothing usable.

    Args:
        value: a number of seconds, whole or not, or an HTTP date (RFC 9110, 10.2.3).
        now: the time to count from, aware of its zone.

    A date that has passed is 0; nothing is longer than `LONGEST_WAIT_S`.
    """
    text = value.strip()
    if SECONDS.fullmatch(text):
        return min(float(text), LONGEST_WAIT_S)
    try:
        date = parsedate_to_datetime(text)
        aware = date if date.tzinfo else date.replace(tzinfo=UTC)
        left_s = (aware - now).total_seconds()
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(left_s, 0.0), LONGEST_WAIT_S)


def asked_wait_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """How many seconds a response asks to wait, or None.

    Args:
        headers: of the response, by their names in small letters.
        now: our own time; a date is counted from the server's, where it tells it.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    if SECONDS.fullmatch(milliseconds):
        return min(float(milliseconds) / 1_000, LONGEST_WAIT_S)
    return parse_retry_after(headers.get("retry-after", ""), server_time(headers, now))


def server_time(headers: Mapping[str, str], now: datetime) -> datetime:
    """The time by the server's own clock where it tells it, else ours."""
    try:
        told = parsedate_to_datetime(headers.get("date", ""))
    except (TypeError, ValueError, OverflowError):
        return now
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def is_quota_exhausted(
    message: str, status: int | None, code: str, retry_after_s: float | None
) -> bool:
    """True where somebody must pay, or a day must pass, before the endpoint answers again.

    Args:
        message: what the server said.
        status: the HTTP status.
        code: the provider's own name for the error, if any.
        retry_after_s: how long it asks to wait, if it does.
    """
    if status == 402 or SPENT_CODE.search(code):
        return True
    if retry_after_s is not None:
        return status == 429 and retry_after_s > SOON_S
    return (
        status in (400, 403, 429)
        and bool(SPENT_TEXT.search(message))
        and not SHORT_SPAN.search(message)
    )
