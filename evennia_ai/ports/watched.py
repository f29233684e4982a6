"""Records in memory that an index watches: a character's own, and what others told it."""

from collections.abc import Callable, Iterable

from evennia_ai.policy.records.provenance import Record

# Called with a record before and after a change; None if it did not exist or was removed.
Watcher = Callable[[Record | None, Record | None], None]


class WatchedRecords:
    """Records in memory, and the watchers that are told of each change to them."""

    def __init__(self) -> None:
        self._watchers: list[Watcher] = []

    def held(self) -> Iterable[Record]:
        """Return the records that memory holds. Callers must not change them."""
        raise NotImplementedError

    def withholds(self, record: Record) -> bool:
        """Return True for a record of lines that a builder hid or edited (`policy.log_lines`)."""
        return False

    def watch(self, watcher: Watcher) -> None:
        """Call a watcher with each record in memory, and with each change from now on."""
        for record in self.held():
            watcher(None, record)
        self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        self._watchers.remove(watcher)

    def tell_watchers(self, old: Record | None, new: Record | None) -> None:
        """Call every watcher with one change."""
        for watcher in self._watchers:
            watcher(old, new)
