"""Memories that assistants share with a faction, a place, or the world."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from twisted.internet.defer import Deferred, succeed

from evennia_ai import models
from evennia_ai.contrib.shared_memory import entries
from evennia_ai.contrib.shared_memory.hearsay import Hearsay
from evennia_ai.contrib.shared_memory.settings import SharedMemorySettings
from evennia_ai.contrib.shared_memory.sharing import Sharing
from evennia_ai.contrib.shared_memory.telling import read_scopes, select_scopes
from evennia_ai.extension import EntryReader, Extension, SleepContext, SleepStep
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import MindContext
from evennia_ai.signals import catching_up
from evennia_ai.store.rows import rows_deleted


class SharedMemoryExtension(Extension):
    """Tells others in sleep what an assistant learnt, and lets it recall what others told."""

    name = "shared_memory"
    settings = SharedMemorySettings

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        self._services = services
        # What each scope was told, as long as an index of it is in memory.
        self._scopes: WeakValueDictionary[str, entries.SharedEntryStore] = WeakValueDictionary()
        entries.entries_told.connect(self._take_in)
        rows_deleted.connect(self._drop, sender=models.SharedEntry)
        catching_up.connect(self._read_again)
        return True

    def sleep_steps(self) -> Iterable[SleepStep]:
        return [SleepStep("shared_memory", "What others were told", self.share)]

    def share(self, mind: SleepContext) -> Deferred[dict[str, Any]]:
        """Tell others what an assistant learnt; fires with the figures of `Sharing.share`."""

        def heard() -> Deferred[list[Record]]:
            sources = self.memory_sources(mind)
            return sources[0].all() if sources else succeed([])

        return Sharing(mind, entries, heard).share()

    def memory_sources(self, around: MindContext) -> Sequence[Hearsay]:
        chosen = read_scopes(around.config.part(SharedMemorySettings).share_memory)
        if not chosen:
            return ()
        scopes = select_scopes(chosen, around.world.labels_of(around.character))
        indices = self._services.memory_indices
        make = self._store_of
        return [Hearsay(around, [indices.shared((self.name, s), partial(make, s)) for s in scopes])]

    def _store_of(self, scope: str) -> entries.SharedEntryStore:
        store = self._scopes[scope] = entries.SharedEntryStore(scope, self._services.now)
        return store

    def _take_in(self, scopes: frozenset[str], **_signal: Any) -> None:
        for scope, store in list(self._scopes.items()):
            if scope in scopes:
                store.note()

    def _drop(self, ids: Sequence[int], **_signal: Any) -> None:
        for store in list(self._scopes.values()):
            store.note(ids)

    def _read_again(self, **_signal: Any) -> None:
        self._drop(())


EXTENSION = SharedMemoryExtension
