"""Which locks a tool call asked, of whom, and what they answered."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evennia_ai.policy.authors import BUILDER, GAME, STRANGER

WORDS = {GAME: "the game", BUILDER: "a builder's text", STRANGER: "somebody unknown"}


class LockAsked(NamedTuple):
    """One lock that was asked: its type, and the tool or the object (by dbref) that has it.

    ``passed`` has the answer for each author (`policy.authors`), or for the character; it is empty
    if the lock lets everybody pass.
    """

    lock: str
    of: str
    passed: Mapping[str, bool]


def stored_locks(asked: Sequence[LockAsked]) -> str:
    """Return locks and their answers as JSON, "" for none."""
    return json.dumps(asked, separators=(",", ":")) if asked else ""


def read_locks(stored: str) -> list[LockAsked]:
    """Return the locks that `stored_locks` returned as JSON."""
    return [LockAsked(*row) for row in json.loads(stored or "[]")]


def lock_sentence(asked: LockAsked, names: Mapping[str, str]) -> str:
    """Return a lock with its answers in words; ``names`` by dbref."""
    lock = f"{asked.lock} lock of {name_of(asked.of, names)}: "
    if not asked.passed:
        return f"{lock}everybody passes"
    told = (
        f"for {name_of(who, names)}: {'passes' if passed else 'refuses'}"
        for who, passed in asked.passed.items()
    )
    return f"{lock}asked {'; '.join(told)}"


def name_of(who: str, names: Mapping[str, str]) -> str:
    """Return an author, a tool or an object in words."""
    return f"{names[who]} ({who})" if who in names else WORDS.get(who, who)
