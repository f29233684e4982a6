"""Long-term memory for the reactor: time-outs around mem0, and a pause after failures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from twisted.internet.defer import CancelledError, Deferred, fail, inlineCallbacks, succeed
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.config.resolve import Extra
from evennia_ai.contrib.mem0.mem0_store import NOTE, Mem0Store, StoreSettings
from evennia_ai.errors import ConfigError, MemoryUnavailable, StoreUnavailable, TurnAborted
from evennia_ai.memory.worker import Worker
from evennia_ai.policy.records.journal_entry import EntryForMemory, MemoryRow
from evennia_ai.policy.redaction import hide_secrets, mask_key
from evennia_ai.ports import SemanticMemory
from evennia_ai.scheduling import Clock, Coroutine

log = Logger()

LIBRARY = Extra("memory", "mem0ai", "mem0", "the journal is the only memory")
FOLDER = Path("server") / ".ai_memory"
# The first call loads the library and opens the store: 1.5 s on two slow cores (measured).
TIMEOUT_S = 20.0
FAILURES, PAUSE_S = 3, 60.0  # after so many failed calls in a row none is made for a while
ERROR_CHARS = 200
DELETED_AT_ONCE = 50
LEAST_SECRET_CHARS = 4  # a password that a builder chose may be short
SECRETS = ("key", "password", "token", "secret", "connection_string", "url")


@dataclass(frozen=True)
class LongTermMemorySettings:
    """The game's ``AI_ASSISTANT["MEMORY"]``.

    ``timeout_s`` is the longest time that one call may take, in seconds.
    """

    store: StoreSettings
    enabled: bool = True
    timeout_s: float = TIMEOUT_S

    @property
    def secrets(self) -> list[str]:
        """Return the values of the store's configuration that must not appear in an error."""
        config = self.store.vector_store.get("config") or {}
        return [
            str(value)
            for name, value in config.items()
            if value and any(word in str(name).lower() for word in SECRETS)
        ]


def read_settings(raw: Any, game_dir: Path) -> LongTermMemorySettings:
    """Return the setting that a game wrote; raises ConfigError."""
    if not isinstance(raw, Mapping):
        raise ConfigError(f"it must be a dictionary, not {type(raw).__name__}.")
    strange = sorted(map(str, raw.keys() - {"enabled", "vector_store", "path", "timeout"}))
    if strange:
        raise ConfigError(
            f"the entry '{strange[0]}' is unknown. The entries are: enabled, vector_store, path, "
            "timeout."
        )
    vector_store = raw.get("vector_store") or {}
    if not isinstance(vector_store, Mapping) or (vector_store and "provider" not in vector_store):
        raise ConfigError("vector_store needs 'provider' and 'config', in the form mem0 expects.")
    timeout_s = raw.get("timeout", TIMEOUT_S)
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or timeout_s <= 0:
        raise ConfigError(f"timeout must be a number of seconds above 0, not {timeout_s!r}.")
    store = StoreSettings(game_dir / raw.get("path", FOLDER), vector_store)
    return LongTermMemorySettings(store, bool(raw.get("enabled", True)), float(timeout_s))


class LongTermMemory(SemanticMemory):
    """Long-term memory in mem0, which runs in a thread of its own.

    Nothing is loaded and no thread is started before something is stored. ``make_embedder`` is
    called in the thread, because loading takes a while; ``call_from_thread(f, *args)`` runs ``f``
    in the reactor's thread. ``game_name`` returns what keeps this game's memories apart from those
    of other games in one store; it may raise StoreUnavailable.
    """

    def __init__(
        self,
        clock: Clock,
        call_from_thread: Callable[..., object],
        settings: LongTermMemorySettings,
        make_embedder: Callable[[], Any],
        game_name: Callable[[], str] = str,
    ) -> None:
        self._clock = clock
        self._game_name = game_name
        self._settings = settings
        self._store = Mem0Store(settings.store, make_embedder)
        self._worker = Worker(clock, call_from_thread, "evennia-ai-memory")
        self._failures, self._paused_until = 0, 0.0
        self._error = ""
        self._off = LIBRARY.advice if settings.enabled else "turned off by AI_ASSISTANT['MEMORY']"

    @property
    def is_off(self) -> bool:
        return bool(self._off)

    @property
    def trouble(self) -> str:
        return self._off or self._error

    @property
    def was_used(self) -> bool:
        """False if this machine never stored anything; True for a store elsewhere."""
        store = self._settings.store
        return not store.is_embedded or (store.path / NOTE).exists()

    def put(self, agent: str, items: Sequence[EntryForMemory]) -> Deferred[Mapping[str, str]]:
        return self._ask(partial(self._store.put, agent, tuple(items)))

    @inlineCallbacks
    def delete(self, ids: Sequence[str]) -> Coroutine[None]:
        """Delete memories, in batches with a time-out each; see the port."""
        for start in range(0, len(ids), DELETED_AT_ONCE):
            some = tuple(ids[start : start + DELETED_AT_ONCE])
            yield self._ask(partial(self._store.delete, some))

    @inlineCallbacks
    def delete_all(self, agent: str) -> Coroutine[None]:
        rows = yield self.rows(agent)
        yield self.delete([row.id for row in rows])

    def rows(self, agent: str) -> Deferred[Sequence[MemoryRow]]:
        """Fetch a character's memories, without the library if none exist; see the port."""
        if not self.was_used and not self.is_off:
            return succeed([])
        return self._ask(partial(self._store.rows, agent))

    def stop(self) -> None:
        self._worker.stop(self._store.close)

    def _ask(self, call: Callable[[], Any]) -> Deferred[Any]:
        # A longer time left than the pause means that the clock was set back.
        paused = 0 < self._paused_until - self._clock.seconds() <= PAUSE_S
        if self._off or paused:
            return fail(MemoryUnavailable(self.trouble))
        try:
            self._store.game = self._store.game or self._game_name()
        except StoreUnavailable:
            return fail()
        pending = self._worker.submit(call, self._settings.timeout_s)
        return pending.addCallbacks(self._went_well, self._went_wrong)

    def _went_well(self, result: Any) -> Any:
        if self._error:
            log.info("evennia_ai: long-term memory is back")
        self._failures, self._error = 0, ""
        return result

    def _went_wrong(self, failure: Failure) -> Failure:
        if failure.check(TurnAborted, CancelledError):
            return failure
        error = MemoryUnavailable(self._words_of(failure.value))
        if failure.check(ImportError, ConfigError):
            self._off = str(error)
        self._failures += 1
        if self._failures >= FAILURES:
            self._paused_until = self._clock.seconds() + PAUSE_S
        if str(error) != self._error:
            log.warn("evennia_ai: long-term memory: {error}", error=str(error))
        self._error = str(error)
        return Failure(error)

    def _words_of(self, error: BaseException | None) -> str:
        """Return an error in words for an admin, without secrets."""
        if isinstance(error, MemoryUnavailable):
            return str(error)
        if isinstance(error, ImportError):
            return f"A library is missing: {error}."
        if status := getattr(error, "status_code", None):  # its text is an endpoint's
            return f"{type(error).__name__}: HTTP {status}"
        message = str(error)
        problems = getattr(error, "errors", None)
        if callable(problems):  # pydantic quotes the values in its message
            message = "; ".join(str(problem.get("msg", "")) for problem in problems())
        for secret in self._settings.secrets:
            message = mask_key(message, secret, LEAST_SECRET_CHARS)
        first = next(iter(hide_secrets(message).strip().splitlines()), "")
        return f"{type(error).__name__}: {first}"[:ERROR_CHARS]
