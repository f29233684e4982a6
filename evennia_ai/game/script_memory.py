"""What an assistant has in memory only: its ``ndb`` as a plain object.

A turn reads it 600 times. Evennia's own ``ndb`` looks each name up through handlers, which took an
eighth of a turn (measured).
"""

from __future__ import annotations

from typing import Any


class Memory:
    """Values by name; one that nobody set is None, as in Evennia's ``ndb``."""

    def __getattr__(self, name: str) -> Any:
        """Return None; only called for what was not set."""


def memory_of(script: Any) -> Memory:
    """Return the memory of a script, made at first use.

    Evennia keeps an object in its cache as long as its ``nattributes`` hold something.
    """
    found: Memory | None = vars(script).get("ai_memory")
    if found is None:
        found = vars(script)["ai_memory"] = Memory()
        script.nattributes.add("memory", found)
    return found
