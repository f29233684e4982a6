"""Holds what a character is about to say against the world, and asks once more with the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.config import setting
from evennia_ai.contrib.world_check.asking import ask_which_are_wrong
from evennia_ai.contrib.world_check.check import WorldCheck
from evennia_ai.contrib.world_check.facts import CARRIED, WorldFact, opening_row
from evennia_ai.contrib.world_check.world_view import rows_now
from evennia_ai.extension import EntryReader, Extension, Revision
from evennia_ai.game.perception import find_objects
from evennia_ai.game.settings import load_function
from evennia_ai.policy.facts.terms import heard_words
from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import language_of
from evennia_ai.policy.texts import sentences
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine

__all__ = ["EXTENSION", "WorldFact", "opening_row"]

MOST_TOLD = 3  # rows in a reason


@dataclass(frozen=True)
class WorldCheckSettings:
    """The settings of an assistant whose words are held against the world."""

    world_check: bool = setting(
        True, "Hold what it says against the world; off for a character that is meant to lie."
    )
    world_check_asks: bool = setting(
        True,
        "Ask a model that calls tools which sentences of a reply that names something of the world "
        "are wrong: one more call for such a reply.",
    )


class WorldCheckExtension(Extension):
    """Asks once more if a reply contradicts what the game knows."""

    name = "world_check"
    by_default = False
    settings = WorldCheckSettings
    entries = frozenset({"WORLD_FACTS"})

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        self._game_facts = settings.read("WORLD_FACTS", load_function, "")
        return True

    @inlineCallbacks
    def revise_speech(self, context: ToolContext, words: str) -> Coroutine[Revision]:
        """Leave out the sentences that contradict rows of the world; these are the reason.

        If none is left, and what was asked names what the row is about, the row itself is said.
        """
        mind = context.assistant
        if mind is None or not mind.config.part(WorldCheckSettings).world_check:
            return Revision(words)
        facts = rows_now(context, words, mind.world_clock)
        if self._game_facts is not None:
            facts += self._game_facts(context.character, find_objects(context.askers))
        line = heard_words(context.heard[-1]) if context.heard else ""
        check, parts = WorldCheck(facts, line), sentences(words)
        wrong = {part: [fact] for part in parts if (fact := check.contradicted(part))}
        asks = mind.config.part(WorldCheckSettings).world_check_asks and mind.profile.calls_tools
        if asks and not wrong and (statements := check.to_judge(parts)):
            judged = yield ask_which_are_wrong(context, facts, line, statements)
            wrong = {part: check.rows_for(part) for part in parts if part.strip() in judged}
        if not wrong:
            return Revision(words)
        rows = next(iter(wrong.values()))
        rest = "".join(part for part in parts if part not in wrong).strip()
        truths = "; ".join(fact.truth for fact in rows[:MOST_TOLD])
        return Revision(rest or answer_with(check, rows, line), f"in truth, {truths}")


def answer_with(check: WorldCheck, rows: Sequence[WorldFact], line: str) -> str:
    """Return a row as a sentence if a line asks about it in English, else ""."""
    about = [fact for fact in check.rows_for(line) if fact in rows and fact.kind != CARRIED]
    if not about or language_of(line) != ENGLISH:
        return ""
    return f"{about[0].truth[:1].upper()}{about[0].truth[1:].rstrip('.')}."


EXTENSION = WorldCheckExtension
