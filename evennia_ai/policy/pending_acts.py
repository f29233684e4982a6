"""Acts that wait for a person: for the speaker's confirmation, or for the staff's approval."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from evennia_ai.messages import Audience, Authors
from evennia_ai.policy.model_text import read_object

CONFIRM, APPROVE = "confirm", "approve"
# A pending act waits; then it is refused, expires, or is agreed to, runs and is done or failed.
# Its outcome is unknown if a crash came while it ran.
WAITING, AGREED, RUNNING = "waiting", "agreed", "running"
REFUSED, EXPIRED = "refused", "expired"
MOST_CHARS = 600  # of the arguments, which a person must be able to read
MOST_WAITING = 20  # approvals of one assistant


@dataclass(frozen=True)
class PendingAct:
    """One call of a tool that waits for a person."""

    id: int
    assistant_id: int
    needs: str  # `CONFIRM` or `APPROVE`
    state: str
    name: str
    arguments: str  # JSON text; the call runs with exactly these
    # dbrefs of those whose words led to it; of a confirmation the one who is asked
    speakers: tuple[str, ...]
    authors: Authors  # everybody whose words its prompt held (`policy.authors`)
    audience: Audience  # dbrefs of those the prompt was built for
    private: bool  # True if only they may know what it held
    at: datetime
    expires_at: datetime
    decided_by: str = ""  # dbref of whoever agreed or refused, else ""
    result: str = ""


def exact_arguments(arguments: Mapping[str, Any]) -> str:
    """Return the arguments of a call as JSON text, the same for the same arguments."""
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True)


def arguments_line(arguments: str) -> str:
    """Return all arguments on one line: ``door: "north", count: 2``; "nothing" without any."""
    named = (read_object(arguments) or {}).items()
    shown = (f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in named)
    return ", ".join(shown) or "nothing"
