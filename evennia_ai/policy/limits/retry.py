"""When an error response allows a retry, and whether waiting can help."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT_S = 7 * 24 * 3_600.0
SOON_S = 3_600.0
LOADING_CODE = "model_loading"
LOADING = re.compile(r"\bloading\b[^.]{0,20}\bmodel|\bmodel\b[^.]{0,80}\bloading", re.IGNORECASE)
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
    """Return the seconds of a ``Retry-After`` header (RFC 9110, 10.2.3), None if unusable."""
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
    """Return the seconds that a response asks to wait, or None; header names in lower case."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    if SECONDS.fullmatch(milliseconds):
        return min(float(milliseconds) / 1_000, LONGEST_WAIT_S)
    return parse_retry_after(headers.get("retry-after", ""), server_time(headers, now))


def server_time(headers: Mapping[str, str], now: datetime) -> datetime:
    """Return the time of the server's clock if the response has it, else ours."""
    try:
        told = parsedate_to_datetime(headers.get("date", ""))
    except (TypeError, ValueError, OverflowError):
        return now
    return told if told.tzinfo else told.replace(tzinfo=UTC)


def is_loading(status: int | None, words: str) -> bool:
    """Return True if a server says that it is still loading the model."""
    return status == 503 and bool(LOADING.search(words))


def is_quota_exhausted(
    message: str, status: int | None, code: str, retry_after_s: float | None
) -> bool:
    """Return True if only payment or a long wait makes the endpoint answer again."""
    if status == 402 or SPENT_CODE.search(code):
        return True
    if retry_after_s is not None:
        return status == 429 and retry_after_s > SOON_S
    return (
        status in (400, 403, 429)
        and bool(SPENT_TEXT.search(message))
        and not SHORT_SPAN.search(message)
    )
