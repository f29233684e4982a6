"""A journal in memory: the rows of the real one (`evennia_ai.store.journal`), without an object."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from twisted.internet.defer import Deferred, succeed

from evennia_ai.events import Audience
from evennia_ai.policy.journal import make_entry, merge_entries, sameness
from evennia_ai.policy.provenance import Record, select_known


class Notebook:
    """``entries`` are those that are stored already. It is loaded in turns with other work, once in
    a process; what is added is one transaction."""

    def __init__(self, now: Callable[[], datetime], entries: list[Record]) -> None:
        self.now = now
        self.entries = entries
        self.loaded = False

    def load(self, put: Callable[..., None]) -> Deferred[None]:
        """Fires when all is there."""
        if self.loaded:
            return succeed(None)
        loading: Deferred[None] = Deferred()
        put(loading.callback, None)
        self.loaded = True
        return loading

    def pinned(self, audience: Audience) -> list[Record]:
        """The pinned entries that all of an audience may know."""
        return [e for e in select_known(self.entries, audience) if e["pinned"]]

    def add(self, content: str, **fields: Any) -> str:
        """Write something down, once for the same ears; returns the entry's id."""
        own_id = fields.pop("id", None)
        if own_id in [known["id"] for known in self.entries]:
            return str(own_id)
        entry = make_entry(own_id or f"j{len(self.entries) + 1}", content, self.now(), fields)
        for number, known in enumerate(self.entries):
            if sameness(known) == sameness(entry):
                self.entries[number] = merge_entries(known, entry)
                return str(known["id"])
        self.entries.append(entry)
        return str(entry["id"])

    def remove(self, *ids: str) -> int:
        """Remove entries; returns how many of these there were."""
        kept = [entry for entry in self.entries if entry["id"] not in ids]
        gone = len(self.entries) - len(kept)
        self.entries[:] = kept
        return gone
