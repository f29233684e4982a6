"""What code makes of a line before a model of the mode `PLAIN` is asked, by the line's meaning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai import ports
from evennia_ai.policy.context.situation_updates import Row
from evennia_ai.policy.conversation import line_kinds
from evennia_ai.policy.conversation.possible_deeds import Deed, things_taken
from evennia_ai.policy.conversation.requested_acts import RequestedAct, match_name
from evennia_ai.policy.facts.check import without_address
from evennia_ai.policy.facts.terms import heard_words, parse_heard_line
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tool_call_modes import plain_prompt
from evennia_ai.scheduling import Coroutine

# How near a line that names a thing is to asking for it: 4 of 13 acts that three strangers wanted
# and no pattern reads, and none of 36 other lines that name one (MiniLM).
WANTED = 0.5
FOREIGN_LORE = 5  # pieces that stand before a line in another language than the persona's
# The nearness of a sentence to a line that asks nothing, from which on it says that again: five of
# 82 replies of a 1.5B model, all of them judged wrong (MiniLM).
SAID_AGAIN = 0.72


class LineReading(NamedTuple):
    """What code makes of a line: rows of the moment, rows that may answer the line, and a note.

    ``by_code`` is the key of the game's text that answers it in the place of a model.
    """

    now: list[Row]
    answers: list[Row]
    note: str = ""
    by_code: str = ""


@dataclass(eq=False)
class LineNotes:
    """Judges the lines of a turn by their meaning; without an embedder, there are no notes."""

    _mind: ports.MindContext

    def prepare(self, lines: Iterable[str]) -> Deferred[None]:
        """Fire when the meaning of some lines is known; never fails."""
        words = map(self.words_of, lines)
        texts = [
            *words,
            *self._mind.who.persona.never,
            *line_kinds.EXAMPLES,
            *plain_prompt.KIND_LINES,
            *self._persona(),
        ]
        texts += [*line_kinds.TELLING, *plain_prompt.HERE_LINES]
        texts += [deed.request for deed in self._deeds()]
        return self._mind.services.nearness.prepare(self._mind.services, texts)

    def answer(self, line: str, answers: Sequence[Row]) -> str:
        """Return the key of the game's text that answers a prepared line, "" for a model's turn.

        ``answers`` may answer the line. What a small model makes of an order to a program, of what
        nobody here knows, or of what the character never does, is worse than such a text.
        """
        cosines = self._mind.services.nearness.cosines(self.words_of(line), line_kinds.EXAMPLES)
        if not cosines:
            return ""
        if self.is_forbidden(line):
            return plain_prompt.REFUSES
        if line_kinds.orders_a_program(cosines):
            return plain_prompt.NOT_UNDERSTOOD
        return (
            plain_prompt.NOT_KNOWN
            if line_kinds.cannot_be_answered(cosines, plain_prompt.best_fit(answers))
            else ""
        )

    def read(
        self, line: str, rows: Iterable[Row], recalled: Sequence[Row], foreign: bool, done: bool
    ) -> LineReading:
        """Return what code makes of a prepared line; ``done`` if it did what the line asks for.

        The examples are English: of a ``foreign`` line few embedders can tell what it asks.
        """
        now, lore = plain_prompt.parted(rows)
        answers = plain_prompt.answering([*self.persona_rows(line), *lore], recalled)
        if done:
            return LineReading(now, [])
        if foreign:
            rest = [row for row in lore if row not in answers]
            return LineReading(now, [*rest[:FOREIGN_LORE], *answers])
        by_code = self.answer(line, answers)
        nearness = self._mind.services.nearness
        here = plain_prompt.here_rows(
            now, nearness.cosines(self.words_of(line), plain_prompt.HERE_LINES)
        )
        if plain_prompt.best_fit(here) > plain_prompt.best_fit(answers):
            return LineReading(now, here, "", by_code)
        noted = self._note(line, plain_prompt.best_fit(answers))
        return LineReading(now, [] if noted else answers, noted, by_code)

    def _note(self, line: str, best: float) -> str:
        """Return what code tells of a line's kind, "" for nothing or without an embedder.

        ``best`` tells how well the best row fits that may answer the line.
        """
        words, speaker = self.words_of(line), parse_heard_line(line, "")[0]
        cosines = self._mind.services.nearness.cosines
        asks = line_kinds.margin_of_asking(
            words, cosines(words, line_kinds.ASKING), cosines(words, line_kinds.TELLING)
        )
        noted = plain_prompt.kind_note(
            words, speaker, cosines(words, plain_prompt.KIND_LINES), best, asks
        )
        is_told = asks < line_kinds.ASKED and best < line_kinds.ASKED_ROW
        return noted or (plain_prompt.tell_note(speaker) if is_told else "")

    def persona_rows(self, line: str) -> list[Row]:
        """Return what the persona tells behind its first sentence, by its nearness to a line."""
        own, words = self._persona(), self.words_of(line)
        return plain_prompt.persona_rows(own, self._mind.services.nearness.cosines(words, own))

    def wanted(self, line: str, speaker: str) -> RequestedAct | None:
        """Return the act that a prepared line wants without asking for it, None if none is sure.

        It must name a thing that is here, and be like a request more than like any other talk.
        """
        words, nearness = self.words_of(line), self._mind.services.nearness
        named = [deed for deed in self._deeds(speaker) if match_name(words, [deed.act.target])]
        near = nearness.cosines(words, [deed.request for deed in named])
        kind, _near = plain_prompt.kind_of(nearness.cosines(words, plain_prompt.KIND_LINES))
        if not near or kind != plain_prompt.REQUEST or max(near) < WANTED:
            return None
        return named[near.index(max(near))].act

    def _deeds(self, speaker: str = "") -> Iterator[Deed]:
        return things_taken(self._mind.world.situation(self._mind.character), speaker)

    def is_forbidden(self, line: str) -> bool:
        """Return True for a prepared line about what the character never does.

        What others may not know stands in no prompt: the model cannot tell it.
        """
        nearness, words = self._mind.services.nearness, self.words_of(line)
        cosines = nearness.cosines(words, self._mind.who.persona.never)
        _orders, _questions, talk = line_kinds.by_kind(nearness.cosines(words, line_kinds.EXAMPLES))
        return bool(cosines) and max(cosines) >= max(
            line_kinds.FORBIDDEN, talk + line_kinds.FORBIDDEN_MORE
        )

    @inlineCallbacks
    def breaks(self, sentences: Sequence[str], line: str) -> Coroutine[bool]:
        """Fire with True if sentences grant what the character never does; never fails.

        They do if the line that they answer asks for it, or if one of them speaks of it.
        """
        never, nearness = self._mind.who.persona.never, self._mind.services.nearness
        if not never:
            return False
        texts = [self.words_of(line), *sentences, *never, *line_kinds.ANSWERS, *line_kinds.EXAMPLES]
        yield nearness.prepare(self._mind.services, texts)

        def is_near(text: str) -> bool:
            return max(nearness.cosines(text, never), default=0.0) >= line_kinds.GRANTS_IT

        is_asked = self.is_forbidden(line)
        judged = [(text, nearness.cosines(text, line_kinds.ANSWERS)) for text in sentences]
        return any(
            near and line_kinds.grants(near) and (is_asked or is_near(text))
            for text, near in judged
        )

    def says_again(self, sentence: str, line: str) -> bool:
        """Return True for a prepared sentence that tells what a line that asks nothing told."""
        words, cosines = self.words_of(line), self._mind.services.nearness.cosines
        near = max(cosines(words, [sentence]), default=0.0)
        asks = line_kinds.margin_of_asking(
            words, cosines(words, line_kinds.ASKING), cosines(words, line_kinds.TELLING)
        )
        return near >= SAID_AGAIN and asks < line_kinds.ASKED

    def _persona(self) -> list[str]:
        return [*map(str.strip, sentences(self._mind.who.persona.text))][1:]

    def unaddressed(self, line: str) -> str:
        """Return a line as it was heard, without the character's name that calls it."""
        words = self.words_of(line)
        return line.replace(parse_heard_line(line, "")[1], words) if words else line

    def words_of(self, line: str) -> str:
        """Return the words of a heard line, without the character's name."""
        return without_address(heard_words(line), self._mind.name).strip()
