"""Holds what a character is about to say against the world, and asks once more with the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.config import setting
from evennia_ai.contrib.world_check.check import ClaimCheck, answer_with
from evennia_ai.contrib.world_check.facts import WorldFact, opening_row
from evennia_ai.contrib.world_check.world_view import rows_now
from evennia_ai.extension import EntryReader, Extension, Revision
from evennia_ai.game.perception import find_objects
from evennia_ai.game.settings import load_function
from evennia_ai.policy.facts.terms import heard_words
from evennia_ai.policy.texts import sentences
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine, yield_to_reactor

__all__ = ["EXTENSION", "WorldFact", "opening_row"]

EMBEDDED_AT_ONCE = 8  # texts: a twentieth of a second of the reactor's thread


@dataclass(frozen=True)
class WorldCheckSettings:
    """The settings of an assistant whose words are held against the world."""

    world_check: bool = setting(
        True, "Hold what it says against the world; off for a character that is meant to lie."
    )


class WorldCheckExtension(Extension):
    """Asks once more if a reply contradicts what the game knows."""

    name = "world_check"
    by_default = False
    settings = WorldCheckSettings
    entries = frozenset({"WORLD_FACTS"})

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        self._services, self._check = services, ClaimCheck(services.nearness.cosines)
        self._game_facts = settings.read("WORLD_FACTS", load_function, "")
        return True

    @inlineCallbacks
    def revise_speech(self, context: ToolContext, words: str) -> Coroutine[Revision]:
        """Leave out the sentences that contradict a row of the world; the first row is the reason.

        If none is left, and what was asked names what the row is about, the row itself is said.
        """
        mind = context.assistant
        if mind is None or not mind.config.part(WorldCheckSettings).world_check:
            return Revision(words)
        facts = rows_now(context, words, self._services.world_clock)
        if self._game_facts is not None:
            facts += self._game_facts(context.character, find_objects(context.askers))
        line = heard_words(context.heard[-1]) if context.heard else ""
        left, wrong, before = list[str](), list[WorldFact](), [line]
        for sentence in sentences(words):
            fact: WorldFact | None = yield self._contradicted(sentence, facts, before)
            before.append(sentence)
            if fact is None:
                left.append(sentence)
            else:
                wrong.append(fact)
        if not wrong:
            return Revision(words)
        rest = "".join(left).strip() or answer_with(wrong[0], line)
        return Revision(rest, f"in truth, {wrong[0].truth}")

    @inlineCallbacks
    def _contradicted(
        self, sentence: str, facts: Sequence[WorldFact], before: Sequence[str]
    ) -> Coroutine[WorldFact | None]:
        """Fire with the row that a sentence contradicts, None if none surely."""
        claims = self._check.claims_in(sentence, facts, before)
        texts, nearness = self._check.to_prepare(claims), self._services.nearness
        for start in range(0, len(texts), EMBEDDED_AT_ONCE):
            yield nearness.prepare(self._services, texts[start : start + EMBEDDED_AT_ONCE])
            yield yield_to_reactor(self._services.slices.put)
        return self._check.contradicted(claims)


EXTENSION = WorldCheckExtension
