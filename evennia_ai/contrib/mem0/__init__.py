"""A copy of the journals in a vector store of mem0, for other programs."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings as django_settings
from twisted.internet import reactor

from evennia_ai.contrib.mem0.long_term_memory import (
    LongTermMemory,
    LongTermMemorySettings,
    read_settings,
)
from evennia_ai.contrib.mem0.mem0_store import remove_files
from evennia_ai.errors import ConfigError
from evennia_ai.extension import EntryReader, Extension
from evennia_ai.game.settings import game_setting
from evennia_ai.ports import Embedder, SemanticMemory
from evennia_ai.signals import uninstalling


class Mem0Extension(Extension):
    """Keeps the journals in mem0, if its library is there and ``MEMORY`` does not forbid it."""

    name = "mem0"
    entries = frozenset({"MEMORY"})

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        self._services = services
        self._memory_settings = settings.read("MEMORY", read_memory_settings, {})
        return True

    def long_term_memory(
        self, make_embedder: Callable[[], Embedder], game_name: Callable[[], str]
    ) -> SemanticMemory:
        main: Any = reactor
        services = self._services
        call_from_thread = partial(services.slices.put_from_thread, main.callFromThread)
        return LongTermMemory(
            services.clock, call_from_thread, self._memory_settings, make_embedder, game_name
        )


def read_memory_settings(raw: Any) -> LongTermMemorySettings:
    return read_settings(raw, Path(django_settings.GAME_DIR))


def remove_long_term_memory(say: Callable[[str], Any], **kwargs: Any) -> None:
    """Delete the files of long-term memory; the admin must empty an external store."""
    try:
        store = read_memory_settings(game_setting("MEMORY", {})).store
    except ConfigError as error:
        say(f"AI_ASSISTANT['MEMORY']: {error} The files of long-term memory stay.")
        return
    if remove_files(store.path):
        say(f"Long-term memory in {store.path} deleted.")
    if not store.is_embedded:
        say(f"Long-term memory is in your own store, {store.provider}: empty it yourself.")


uninstalling.connect(remove_long_term_memory)
EXTENSION = Mem0Extension
