"""Promises and appointments, kept by code on the world's clock, and letters."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai import models, signals
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.contrib.promises.aipromises import CmdAIPromises
from evennia_ai.contrib.promises.keeper import PromiseKeeper
from evennia_ai.contrib.promises.overheard import EXAMPLES, answer_instead, read_last_turns
from evennia_ai.contrib.promises.promise_records import (
    LETTER,
    OPEN,
    THEIRS,
    Promises,
    PromiseSettings,
    due_words,
)
from evennia_ai.contrib.promises.promise_tools import leave_message, promise
from evennia_ai.extension import EntryReader, Extension, Revision, Tool
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import KnownLine, of_record
from evennia_ai.policy.records.record import Record, is_known_to
from evennia_ai.ports import MindContext, RecordStore, ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.transactions import store_errors

LABEL = "Promises"
MOST_SHOWN = 6
LOADED_S = 10.0  # after a start the embedder is there
MOST_AT_ONCE, AT_ONCE = 50, timedelta(minutes=1)  # turns that a death may leave unread
AGREED = "what was noted is said instead"


class PromisesExtension(Extension):
    """Keeps appointments and promises, and delivers letters. Off by default."""

    name = "promises"
    by_default = False
    settings = PromiseSettings

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        self._services = services
        self.keeper = PromiseKeeper(services)
        signals.service_started.connect(self._begin)
        signals.company_changed.connect(self._meet)
        signals.turn_finished.connect(self._hear)
        return True

    def tools(self) -> Iterable[Tool]:
        return (promise, leave_message)

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
        known = [
            record
            for record in Promises.of(around.character).told(Promises.of(around.character).every())
            if {record["entity"], record["source_entity"]} & audience
            and is_known_to(record, audience)
        ]
        for record in known[-MOST_SHOWN:]:
            line = row_of(record, around)
            yield LABEL, KnownLine(line, record["audience"] is not None, of_record(record))

    @inlineCallbacks
    def revise_speech(self, context: ToolContext, words: str) -> Coroutine[Revision]:
        """Let the stand-in say what was noted, in place of its own answer."""
        answer: str = yield answer_instead(context)
        return Revision(answer, AGREED) if answer else Revision(words)

    def _begin(self, sender: Any, **_signal: Any) -> None:
        if sender is self._services:
            self.keeper.begin()
            sender.timer.keep("unread promises", LOADED_S, partial(self._read_late, sender.now()))

    def _read_late(self, started: datetime) -> None:
        """Read the last turns before the start: the process may have died before it read them."""
        self._services.nearness.prepare(self._services, [*EXAMPLES])  # 2 s of a core (measured)
        before = models.Turn.objects.filter(at__lt=started).order_by("-id")
        with store_errors():
            newest = list(before.values("at", "assistant_id")[:MOST_AT_ONCE])
            last = {row["assistant_id"] for row in newest if newest[0]["at"] - row["at"] < AT_ONCE}
            for script in AssistantScript.objects.filter(id__in=last).exclude(db_obj=None):
                self._services.slices.put(read_last_turns, script.mind, 1, True)

    def _meet(self, character: Any, **_signal: Any) -> None:
        if self.keeper.is_attending(character):
            self.keeper.attend(character)  # it may be walking just now

    def _hear(self, character: Any, turns: int, **_signal: Any) -> None:
        """Read what the last turns agreed on, and tell what is due to those who are here."""
        if self in character.ai_mind.services.extensions:
            read_last_turns(character.ai_mind, turns)
            self._meet(character)


def row_of(record: Record, around: MindContext) -> str:
    """Return a promise as a prompt tells it."""
    character, content = around.character, f'"{record["content"]}"'
    name = around.world.name_of(character, record["entity"]) or "somebody"
    due = due_words(record, around.world_clock)
    state = "" if record["state"] == OPEN else f" ({record['state']})"
    if record["kind"] == LETTER:
        sender = around.world.name_of(character, record["source_entity"]) or "somebody"
        return f"{sender} left a message with you for {name} alone: {content}{state}"
    who = f"{name} promised you" if record["kind"] == THEIRS else f"You promised {name}"
    return f"{who}, {due}: {content}{state}"


EXTENSION = PromisesExtension
