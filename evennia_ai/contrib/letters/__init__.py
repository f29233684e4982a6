"""Letters: what somebody leaves with a character for another, who alone is told it, once."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from twisted.internet.defer import inlineCallbacks

from evennia_ai import signals
from evennia_ai.contrib.letters.ailetters import CmdAILetters
from evennia_ai.contrib.letters.leave_message import (
    agreed_words,
    leave_message,
    may_leave_message,
    take_message,
)
from evennia_ai.contrib.letters.letter_records import Letters, LetterSettings, attend, begin
from evennia_ai.extension import Allow, Deny, EntryReader, Extension, Revision, Tool
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import KnownLine, of_record
from evennia_ai.policy.records.record import is_known_to
from evennia_ai.ports import MindContext, RecordStore, ToolContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.tools.memory_sources import lines_to, note_asked, texts_of

LABEL = "Messages"
MOST_SHOWN = 6
AGREED = "what was noted is said instead"
STAYS = "You pass messages on when you meet people."


class LettersExtension(Extension):
    """Lets characters pass on messages, each to one alone. Off by default."""

    name = "letters"
    by_default = False
    settings = LetterSettings

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        self._services = services
        signals.service_started.connect(self._begin)
        signals.company_changed.connect(self._meet)
        signals.turn_finished.connect(self._meet)
        return True

    def tools(self) -> Iterable[Tool]:
        return (leave_message,)

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAILetters,)

    @classmethod
    def records(cls) -> Mapping[type[RecordStore], str]:
        return {Letters: "added"}

    def prompt_rows(
        self, around: MindContext, audience: Audience
    ) -> Iterable[tuple[str, KnownLine]]:
        """Return the newest untold letters of those who hear the reply, none of others."""
        character, store = around.character, Letters.of(around.character)
        known = [item for item in store.told(store.open()) if is_known_to(item, audience)]
        for letter in known[-MOST_SHOWN:]:
            sender, whom = (
                around.world.name_of(character, letter[who]) or "somebody"
                for who in ("source_entity", "entity")
            )
            content = f'{sender} left a message with you for {whom} alone: "{letter["content"]}"'
            yield LABEL, KnownLine(content, True, of_record(letter))

    def before_tool_call(
        self, context: ToolContext, tool: Tool, arguments: BaseModel
    ) -> Allow | Deny:
        """Refuse the stand-in's walk for a line that leaves a message, which is noted later.

        Such a line is "run tell Ann that the square burns".
        """
        if tool.name != "move" or context.assistant.profile.has_model:
            return Allow()
        texts = texts_of(context, lines_to(context))
        return Deny(STAYS) if may_leave_message(context, texts) else Allow()

    @inlineCallbacks
    def revise_speech(self, context: ToolContext, words: str) -> Coroutine[Revision]:
        """Take the message that was asked for; the stand-in says so in place of its own answer."""
        store = Letters.of(context.character)
        answer: str = yield note_asked(context, store, take_message, agreed_words)
        is_said = context.assistant.profile.has_model or not answer
        return Revision(words) if is_said else Revision(answer, AGREED)

    def _begin(self, sender: Any, **_signal: Any) -> None:
        if sender is self._services:
            begin(sender)

    def _meet(self, character: Any, **_signal: Any) -> None:
        attend(character)


EXTENSION = LettersExtension
