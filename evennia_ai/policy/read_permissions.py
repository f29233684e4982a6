"""Who may read what: one table of permissions by kind of content, which every command asks.

``AI_ASSISTANT["WHO_MAY_READ"]`` overrides it. A placeholder that names the permission replaces what
a reader may not see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from types import MappingProxyType

from evennia_ai.errors import ConfigError

PRIVATE_WORDS, PUBLIC_WORDS = "private_words", "public_words"
PRIVATE_MEMORIES, PUBLIC_MEMORIES = "private_memories", "public_memories"
ERRORS, DRY_RUNS, FIGURES = "errors", "dry_runs", "figures"
PLAYER_COSTS = "player_costs"

# The permission that reads each kind. `docs/privacy.md` says what belongs to each.
DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        PRIVATE_WORDS: "Admin",
        PUBLIC_WORDS: "Builder",
        PRIVATE_MEMORIES: "Admin",
        PUBLIC_MEMORIES: "Builder",
        ERRORS: "Admin",
        DRY_RUNS: "Builder",
        FIGURES: "Builder",
        PLAYER_COSTS: "Admin",
    }
)
# Reading these is logged.
PRIVATE = frozenset({PRIVATE_WORDS, PRIVATE_MEMORIES})


def read_permissions(value: object) -> dict[str, str]:
    """Return the permission by kind, with the game's changes; raises ConfigError."""
    if not isinstance(value, Mapping):
        raise ConfigError("it must be a dictionary such as {'errors': 'Builder'}.")
    for kind, permission in value.items():
        if kind not in DEFAULTS:
            raise ConfigError(f"There is no kind '{kind}'. Use {', '.join(DEFAULTS)}.")
        if not isinstance(permission, str) or not permission.replace(" ", "").isidentifier():
            raise ConfigError(f"'{kind}' must name one permission, such as 'Admin'.")
    return {**DEFAULTS, **value}


@dataclass
class Reader:
    """Somebody who reads stored words."""

    # The permission that reads each kind, as `read_permissions` returns it.
    permissions: Mapping[str, str]
    # Returns True if the reader has a permission; asked once for each kind.
    has: Callable[[str], bool]
    zone: tzinfo = UTC  # in which the reader is shown times
    private_shown: int = 0  # how many private items the reader was shown
    _may: dict[str, bool] = field(default_factory=dict)

    def may(self, kind: str) -> bool:
        """Return True if the reader may read this kind of content."""
        if kind not in self._may:
            self._may[kind] = self.has(self.permissions[kind])
        return self._may[kind]

    def whose(self, kind: str) -> str:
        """Return who may read this kind, such as ``Admins``."""
        return f"{self.permissions[kind]}s"

    def clock(self, at: datetime, form: str = "%m-%d %H:%M:%S") -> str:
        """Return a time in the reader's zone."""
        return at.astimezone(self.zone).strftime(form)

    def show(self, kind: str, words: str, what: str) -> str:
        """Return the words, or ``[what, only admins may read it]`` if the reader may not."""
        if not self.may(kind):
            return f"[{what}, only {self.whose(kind).lower()} may read it]"
        self.count(kind)
        return words

    def count(self, kind: str, number: int = 1) -> None:
        if kind in PRIVATE:
            self.private_shown += number


def words_kind(private: bool) -> str:
    """Return the kind of a line, a call or a result."""
    return PRIVATE_WORDS if private else PUBLIC_WORDS


def memory_kind(private: bool) -> str:
    """Return the kind of a journal entry, a profile or a goal."""
    return PRIVATE_MEMORIES if private else PUBLIC_MEMORIES
