"""The running conversations, derived from the message log alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.messages import Message


@dataclass(frozen=True)
class RunningTalk:
    """A conversation: the partner's dbref, its start, and its last line."""

    partner: str
    since: datetime
    last_at: datetime


def lines_by_speaker(messages: Iterable[Message]) -> dict[str, list[datetime]]:
    """Return the times of each speaker's lines, oldest first."""
    said: dict[str, list[datetime]] = {}
    for message in messages:
        speaker, at = message["metadata"].get("speaker"), message["metadata"].get("at")
        if message["role"] == "user" and speaker and at:
            said.setdefault(str(speaker), []).append(datetime.fromisoformat(str(at)))
    return said


def talks_with(
    partners: Mapping[str, datetime], messages: Iterable[Message], timeout_s: float
) -> list[RunningTalk]:
    """Return the conversations with some partners, the latest last.

    ``partners`` has the time of the last exchange by dbref; the messages come oldest first.
    """
    said = lines_by_speaker(messages)
    talks = [
        RunningTalk(partner, began_at(said.get(partner, ()), last_at, timeout_s), last_at)
        for partner, last_at in partners.items()
    ]
    return sorted(talks, key=lambda talk: talk.last_at)


def began_at(said: Iterable[datetime], last_at: datetime, timeout_s: float) -> datetime:
    """Return when a conversation began: after the last silence longer than the limit."""
    began = last_at
    for at in sorted(said, reverse=True):
        if (began - at).total_seconds() > timeout_s:
            break
        began = min(began, at)
    return began


def is_stale(last_at: datetime, now: datetime, timeout_s: float) -> bool:
    """Return True if a conversation timed out or the clock was set back."""
    return abs((now - last_at).total_seconds()) > timeout_s
