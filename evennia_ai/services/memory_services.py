"""Everything the assistants' memories are kept and searched with."""

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from typing import Any

from evennia.objects.models import ObjectDB
from twisted.internet.defer import DeferredLock, inlineCallbacks
from twisted.logger import Logger

from evennia_ai import models
from evennia_ai.errors import ConfigError, MemoryUnavailable, StoreUnavailable, TurnAborted
from evennia_ai.game.settings import SettingReader, game_setting
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.memory import embedders
from evennia_ai.memory.index_cache import IndexCache
from evennia_ai.memory.lore_index import LoreIndex
from evennia_ai.memory.remote_vectors import TextNearness, is_late
from evennia_ai.memory.vectors import answers_at_once
from evennia_ai.memory.worker import Worker
from evennia_ai.policy.records.journal_entry import agent_of
from evennia_ai.ports import Embedder, Extension, RemoteEmbedder, SemanticMemory
from evennia_ai.scheduling import Clock, Coroutine
from evennia_ai.sleep.consolidation import prune_orphaned_memory_links
from evennia_ai.store.mind_cache import MOST_MB, MindCache
from evennia_ai.store.rows import rows_deleted
from evennia_ai.store.server_lock import is_elsewhere
from evennia_ai.store.server_settings import deletion_marks, game_name, marked, note_deleted

log = Logger()

WORTH_TELLING = 100  # memories without a vector
LATE = (
    "The embedder was late in the last minute: memories are ranked by words alone, and nothing is "
    "read by its meaning, such as an appointment."
)
SOON_S = 1.0
AGAIN_AFTER_S = 60.0
CANNOT_DELETE = (
    "evennia_ai: cannot delete forgotten words from long-term memory ({error}); "
    "retrying in {seconds:.0f} s"
)


class MemoryServices:
    """The embedder and the search indices; it asks for long-term memory."""

    def __init__(
        self,
        clock: Clock,
        settings: SettingReader,
        call_from_thread: Callable[..., object],
        client: OpenAIClient,
    ) -> None:
        self.loaded = settings.read("MEMORY_MB", partial(MindCache, clock), MOST_MB)
        self._settings = settings
        self._client = client
        self._clock, self._call_from_thread = clock, call_from_thread
        self._workers: list[Worker] = []
        self._missing = embedders.missing(game_setting("EMBEDDER", embedders.DEFAULT))
        self.indices = IndexCache(lambda: self.embedder, self.loaded)
        self.lore_ranking = LoreIndex(lambda: self.embedder)
        self.nearness = TextNearness(lambda: self.embedder)
        rows_deleted.connect(self.indices.forget_lines, sender=models.Message)

    @cached_property
    def embedder(self) -> Embedder | RemoteEmbedder | None:
        """Return the embedder that the game chose, None if even the default fails.

        The first use begins to load it in a thread: a server that has assistants does so before
        players are served.
        """
        if self._missing:
            return None
        make = partial(embedders.make, client=self._client, make_worker=self._make_worker)
        try:
            return self._settings.read("EMBEDDER", make, embedders.DEFAULT)
        except ConfigError as error:  # of the default itself
            self._settings.complain(f"{error} Until then memories are ranked by words alone.")
            return None

    @property
    def recall_trouble(self) -> str:
        """Return why words alone rank memories, in a sentence for admins; "" if they do not."""
        trouble = self._missing or getattr(self.embedder, "trouble", "")
        waiting = self.indices.waiting
        if not trouble and self.embedder and is_late(self.embedder, self._clock):
            return LATE
        if not trouble and waiting >= WORTH_TELLING:
            return f"{waiting:,} memories are ranked by words alone until their vectors are made."
        return trouble

    def stop(self) -> None:
        """End the embedder's thread."""
        for worker in self._workers:
            worker.stop(int)

    def _make_worker(self) -> Worker:
        self._workers.append(Worker(self._clock, self._call_from_thread, "evennia-ai-embedder"))
        return self._workers[-1]

    def long_term(self, extensions: Iterable[Extension]) -> SemanticMemory:
        """Return the long-term memory of the first extension that has one."""
        for extension in extensions:
            try:
                memory = extension.long_term_memory(self._local_embedder, game_name)
            except Exception:  # noqa: BLE001  # a game's extension may raise anything
                log.failure("evennia_ai: no long-term memory by {name}", name=extension.name)
            else:
                if memory:
                    return memory
        return SemanticMemory()

    def _local_embedder(self) -> Embedder:
        """Return an embedder that does not wait for an endpoint, for use in another thread."""
        chosen = self.embedder
        if isinstance(chosen, embedders.ThreadEmbedder):
            return chosen.model
        return chosen if answers_at_once(chosen) else embedders.default()


class LongTermSync:
    """Updates the long-term memory of characters that `store.server_settings` marks."""

    def __init__(self, clock: Clock, memory: SemanticMemory) -> None:
        self._clock = clock
        self._memory = memory
        self._planned: Any = None
        self._one_at_a_time = DeferredLock()

    def start(self) -> None:
        """Update marked characters from now on, and those marked earlier; may be called again."""
        marked.connect(self.update_soon, dispatch_uid="evennia_ai.long_term_sync")
        if deletion_marks():
            self.update_soon()

    def stop(self) -> None:
        """Start no more updates. The marks stay."""
        marked.disconnect(dispatch_uid="evennia_ai.long_term_sync")
        if self._planned and self._planned.active():
            self._planned.cancel()

    def update_soon(self, after_s: float = SOON_S, **kwargs: Any) -> None:
        if not (self._planned and self._planned.active()):
            failed = partial(log.failure, "updating long-term memory failed")
            self._planned = self._clock.callLater(
                after_s, lambda: self._one_at_a_time.run(self.update).addErrback(failed)
            )

    @inlineCallbacks
    def update(self) -> Coroutine[None]:
        """Update all marked characters. Fires after one try and schedules the rest."""
        for character_id, number in deletion_marks().items():
            if is_elsewhere(character_id):
                continue
            if self._memory.is_off:
                return
            try:
                if self._memory.was_used:
                    yield self._update_one(character_id)
                note_deleted(character_id, number)
            except TurnAborted:
                return
            except (MemoryUnavailable, StoreUnavailable) as error:
                log.warn(CANNOT_DELETE, error=error, seconds=AGAIN_AFTER_S)
                self.update_soon(AGAIN_AFTER_S)
                return

    @inlineCallbacks
    def _update_one(self, character_id: int) -> Coroutine[None]:
        """Let long-term memory agree with a journal; without an assistant, delete it."""
        for character in ObjectDB.objects.filter(id=character_id):
            script = getattr(character, "assistant", None)
            if script:
                result = yield prune_orphaned_memory_links(script, character)
                if not result.get("success"):
                    raise MemoryUnavailable(str(result.get("error", "")))
                return
        yield self._memory.delete_all(agent_of(character_id))
