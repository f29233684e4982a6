"""Which conversations are running, derived from the log of what was said: nothing of it is kept
beside that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from evennia_ai.messages import Message


@dataclass(frozen=True)
class RunningTalk:
    """A conversation with somebody: his dbref, when it began, and when the last line was said."""

    partner: str
    since: datetime
    last_at: datetime


def lines_by_speaker(messages: Iterable[Message]) -> dict[str, list[datetime]]:
    """When each speaker said something, oldest first."""
    said: dict[str, list[datetime]] = {}
    for message in messages:
        speaker, at = message["metadata"].get("speaker"), message["metadata"].get("at")
        if message["role"] == "user" and speaker and at:
            said.setdefault(str(speaker), []).append(datetime.fromisoformat(str(at)))
    return said


def talks_with(
    partners: Mapping[str, datetime], messages: Iterable[Message], timeout_s: float
) -> list[RunningTalk]:
    """The conversations with some partners, the latest last.

    Args:
        partners: dbref → time of the last exchange.
        messages: of the log, oldest first.
        timeout_s: a silence longer than this ends a conversation.
    """
    said = lines_by_speaker(messages)
    talks = [
        RunningTalk(partner, began_at(said.get(partner, ()), last_at, timeout_s), last_at)
        for partner, last_at in partners.items()
    ]
    return sorted(talks, key=lambda talk: talk.last_at)


def began_at(said: Iterable[datetime], last_at: datetime, timeout_s: float) -> datetime:
    """When a conversation began: back from its last line to the first longer silence."""
    began = last_at
    for at in sorted(said, reverse=True):
        if (began - at).total_seconds() > timeout_s:
            break
        began = min(began, at)
    return began


def is_stale(last_at: datetime, now: datetime, timeout_s: float) -> bool:
    """True where nobody continued a conversation; a clock that was set back ends it too."""
    return abs((now - last_at).total_seconds()) > timeout_s
