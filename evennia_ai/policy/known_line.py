"""One line of what comes to mind, as everything that puts one into a prompt hands it on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from evennia_ai.events import Audience


class KnownLine(NamedTuple):
    """What is known, on one line.

    Attributes:
        text: the line.
        private: whether the prompt's audience alone may know of it.
        speakers: dbrefs of those whose words may be in it: a tool's lock is checked against them
            (P8).
    """

    text: str
    private: bool = False
    speakers: Audience = frozenset()


def speakers_in(records: Iterable[Mapping[str, Any]]) -> Audience:
    """Everybody whose words may be in some records."""
    return frozenset(speaker for record in records for speaker in record["speakers"])
