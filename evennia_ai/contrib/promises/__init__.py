"""Promises and appointments, kept by code on the world's clock."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai import signals
from evennia_ai.contrib.promises import keeper
from evennia_ai.contrib.promises.agreements import agree, agreed_words, promise
from evennia_ai.contrib.promises.aipromises import CmdAIPromises
from evennia_ai.contrib.promises.promise_records import OPEN, THEIRS, Promises, PromiseSettings
from evennia_ai.contrib.promises.when import due_words
from evennia_ai.extension import EntryReader, Extension, Revision, Tool
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import KnownLine, of_record
from evennia_ai.policy.records.record import is_known_to
from evennia_ai.ports import MindContext, RecordStore, ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.tools.memory_sources import note_asked
from evennia_ai.tools.speech import look_at_all

LABEL = "Promises"
MOST_SHOWN = 6
AGREED = "what it says of a promise is said instead"


class PromisesExtension(Extension):
    """Keeps appointments and promises, on the world's clock. Off by default."""

    name = "promises"
    by_default = False
    settings = PromiseSettings

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        self._services = services
        signals.service_started.connect(self._begin)
        signals.company_changed.connect(self._meet)
        signals.turn_finished.connect(self._meet)
        return True

    def tools(self) -> Iterable[Tool]:
        return (promise,)

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIPromises,)

    @classmethod
    def records(cls) -> Mapping[type[RecordStore], str]:
        return {Promises: "added"}

    def prompt_rows(
        self, around: MindContext, audience: Audience
    ) -> Iterable[tuple[str, KnownLine]]:
        """Return the newest promises of those who hear the reply, none of others."""
        store = Promises.of(around.character)
        known = [
            record
            for record in store.told(store.promises())
            if record["entity"] in audience and is_known_to(record, audience)
        ]
        for record in known[-MOST_SHOWN:]:
            name = around.world.name_of(around.character, record["entity"]) or "somebody"
            who = f"{name} promised you" if record["kind"] == THEIRS else f"You promised {name}"
            state = "" if record["state"] == OPEN else f" ({record['state']})"
            line = f'{who}, {due_words(record, around.world_clock)}: "{record["content"]}"{state}'
            yield LABEL, KnownLine(line, record["audience"] is not None, of_record(record))

    @inlineCallbacks
    def revise_speech(self, context: ToolContext, words: str) -> Coroutine[Revision]:
        """Note what a line and its answer agree on; the stand-in says what was noted instead."""
        answer: str = yield note_asked(
            context,
            Promises.of(context.character),
            partial(agree, reply=words),
            partial(agreed_words, context),
        )
        return Revision(answer, AGREED) if answer else Revision(words)

    def _begin(self, sender: Any, **_signal: Any) -> None:
        if sender is self._services:
            look_at_all(sender, (Promises.kind,), keeper.attend)

    def _meet(self, character: Any, **_signal: Any) -> None:
        keeper.attend(character)  # it may be walking just now


EXTENSION = PromisesExtension
