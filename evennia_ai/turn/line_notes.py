"""What code makes of a line by its meaning, before and behind a small model's turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai import ports
from evennia_ai.messages import as_name
from evennia_ai.policy.context.situation_updates import Row
from evennia_ai.policy.conversation.requested_acts import (
    ANSWERS,
    ASKED,
    ASKED_ROW,
    ASKING,
    EXAMPLES,
    FORBIDDEN,
    GRANTS_IT,
    HINT_LINES,
    TELLING,
    URGED,
    URGING,
    Hint,
    RequestedAct,
    cannot_be_answered,
    grants,
    hinted_act,
    hints,
    margin_of_asking,
    orders_a_program,
    urges_to,
)
from evennia_ai.policy.facts.check import without_address
from evennia_ai.policy.facts.terms import heard_words, normal_words, parse_heard_line
from evennia_ai.policy.texts import sentences
from evennia_ai.policy.tool_call_modes import plain_prompt
from evennia_ai.scheduling import Coroutine

# The least nearness of a line that asks to what nobody may be told, if no row fits better: 32 of
# 108 lines of nine strangers that want a secret, and 4 of 1,224 others (MiniLM).
SECRET = 0.35
UNKNOWN = 0.38  # how well a fact fits a line that it need not answer (`cannot_be_answered`)
FOREIGN_LORE = 5  # pieces that stand before a line in another language than the persona's
# The nearness of a sentence to a line that asks nothing, from which on it says that again: five of
# 82 replies of a 1.5B model, all of them judged wrong (MiniLM).
SAID_AGAIN = 0.72
NEW_WORDS = 3  # a sentence of so many words that carry meaning has one that the line has not


@dataclass(eq=False)
class LineNotes:
    """Judges the lines of a turn by their meaning; without an embedder, there are no notes."""

    _mind: ports.MindContext

    def prepare(self, lines: Sequence[str], talk: Iterable[str] = ()) -> Deferred[None]:
        """Fire when the meaning of some lines, and of the talk before, is known; never fails."""
        words = map(self.words_of, lines)
        persona = self._mind.who.persona
        texts = [*words, *persona.never, *persona.knows, *self._persona()]
        texts += [*EXAMPLES, *TELLING, *URGING, *plain_prompt.KIND_LINES]
        texts += [*plain_prompt.SUBJECT_LINES, *map(self.words_of, talk)]
        speakers = (parse_heard_line(line, "")[0] for line in lines)
        possible = map(self._hints, lines, speakers)
        texts += [*HINT_LINES, *(words for each in possible for _act, words in each)]
        return self._mind.services.nearness.prepare(self._mind.services, texts)

    def _by_code(self, line: str, best: float) -> str:
        """Return the game's text that answers a prepared line, "" for a model's turn.

        ``best`` is as in `_note`. What a small model makes of an order to a program, of what
        nobody here knows, or of what the character never does, is worse than such a text.
        """
        cosines = self._mind.services.nearness.cosines(self.words_of(line), EXAMPLES)
        if not cosines:
            return ""
        text, persona = self._mind.services.text, self._mind.who.persona
        if self.is_forbidden(line):
            return text(plain_prompt.REFUSES)
        secret = self._mind.services.nearness.cosines(self.words_of(line), persona.knows)
        if max(secret, default=0.0) >= max(SECRET, best) and self.asks(line):
            return text(plain_prompt.KEEPS_SILENT)
        if orders_a_program(cosines):
            return text(plain_prompt.NOT_UNDERSTOOD)
        return text(plain_prompt.NOT_KNOWN) if cannot_be_answered(cosines, best) else ""

    def read(
        self,
        line: str,
        talk: Iterable[str],
        rows: Iterable[Row],
        recalled: Sequence[Row],
        foreign: bool,
        done: bool,
        known: bool = False,
    ) -> plain_prompt.LineReading:
        """Return what code makes of a prepared line, after the ``talk`` of those before it.

        ``done`` if it did what the line asks for, ``known`` if it knows what surely answers it.
        The examples are English: of a ``foreign`` line few embedders can tell what it asks.
        """
        now, lore = plain_prompt.parted(rows)
        if done:
            return plain_prompt.LineReading(now, [])
        cosines, words = self._mind.services.nearness.cosines, self.words_of(line)
        own = self._persona()
        persona = plain_prompt.persona_rows(own, cosines(words, own))
        subjects = plain_prompt.subjects_of(cosines(words, plain_prompt.SUBJECT_LINES))
        speaker = parse_heard_line(line, "")[0]
        answers = plain_prompt.answering([*persona, *lore], recalled, subjects, as_name(speaker))
        if foreign:
            rest = [row for row in lore if row not in answers]
            return plain_prompt.LineReading(now, [*rest[:FOREIGN_LORE], *answers])
        if not speaker:  # what the character perceived is nobody's line
            return plain_prompt.LineReading(now, answers)
        best = plain_prompt.best_fit(answers)
        before = [*map(self.words_of, talk)]
        by_code = self._by_code(line, max([best, *cosines(words, before)]))
        noted = "" if known else self._note(line, best)
        fact = plain_prompt.sure_lore(answers) if self.asks(line) and not noted else ""
        return plain_prompt.LineReading(now, [] if noted else answers, noted, by_code, fact, before)

    def _note(self, line: str, best: float) -> str:
        """Return what code tells of a line's kind, "" for nothing or without an embedder.

        ``best`` tells how well the best row fits that may answer the line.
        """
        words, speaker = self.words_of(line), parse_heard_line(line, "")[0]
        asks = self._margin_of_asking(words)
        near = self._mind.services.nearness.cosines(words, plain_prompt.KIND_LINES)
        noted = plain_prompt.kind_note(words, speaker, near, best, asks)
        is_told = asks < ASKED and best < ASKED_ROW
        return noted or plain_prompt.TELL_NOTE.format(speaker=as_name(speaker)) * is_told

    def asks(self, line: str) -> bool:
        """Return True for a prepared line that asks something; so does any without an embedder."""
        return self._margin_of_asking(self.words_of(line)) >= ASKED

    def _margin_of_asking(self, words: str) -> float:
        cosines = self._mind.services.nearness.cosines
        return margin_of_asking(words, cosines(words, ASKING), cosines(words, TELLING))

    def hinted(self, line: str, speaker: str) -> RequestedAct | None:
        """Return the act that a prepared line hints at, None if it surely hints at none."""
        possible = [*self._hints(line, speaker)]
        return hinted_act(possible, self._mind.services.nearness.cosines)

    def _hints(self, line: str, speaker: str) -> Iterator[Hint]:
        here = self._mind.world.situation(self._mind.character)
        return hints(self.words_of(line), here, speaker)

    def is_forbidden(self, line: str, least: float = FORBIDDEN, near: float = 0.0) -> bool:
        """Return True for a prepared line that urges to what the character never does.

        It is ``near`` to that at least. What others may not know stands in no prompt: the model
        cannot tell it.
        """
        cosines, words = self._mind.services.nearness.cosines, self.words_of(line)
        never = cosines(words, self._mind.who.persona.never)
        kind, like = plain_prompt.kind_of(cosines(words, plain_prompt.KIND_LINES))
        mocks = kind in plain_prompt.MOCKING and like >= plain_prompt.LIKE_KIND
        if mocks or max(never, default=0.0) < near:
            return False
        return urges_to(never, cosines(words, EXAMPLES), cosines(words, URGING)) >= least

    @inlineCallbacks
    def breaks(self, sentences: Sequence[str], line: str) -> Coroutine[bool]:
        """Fire with True if sentences grant what the character never does; never fails.

        They do if the line that they answer asks for it, or if one of them speaks of it.
        """
        never, nearness = self._mind.who.persona.never, self._mind.services.nearness
        if not never:
            return False
        texts = [self.words_of(line), *sentences, *never, *ANSWERS, *EXAMPLES, *URGING]
        yield nearness.prepare(self._mind.services, texts)

        def is_near(text: str) -> bool:
            return max(nearness.cosines(text, never), default=0.0) >= GRANTS_IT

        is_asked = self.is_forbidden(line, URGED)
        judged = [(text, nearness.cosines(text, ANSWERS)) for text in sentences]
        return any(near and grants(near) and (is_asked or is_near(text)) for text, near in judged)

    def says_again(self, sentence: str, line: str) -> bool:
        """Return True for a prepared sentence that tells what a line that asks nothing told."""
        words, stems = self.words_of(line), {*normal_words(sentence)}
        if len(stems) >= NEW_WORDS and stems.issubset(normal_words(line)) and "?" not in words[-1:]:
            return True
        near = max(self._mind.services.nearness.cosines(words, [sentence]), default=0.0)
        return near >= SAID_AGAIN and not self.asks(line)

    def asks_the_unknown(self, line: str, fact: str) -> bool:
        """Return True for a prepared line that nobody can answer, though a fact is near to it."""
        words = self.words_of(line)
        cosines = self._mind.services.nearness.cosines(words, EXAMPLES)
        asks_more = not {*normal_words(words)}.issubset(normal_words(fact))
        return bool(cosines) and asks_more and cannot_be_answered(cosines, UNKNOWN)

    def _persona(self) -> list[str]:
        """Return the sentences of the persona behind the first."""
        return [*map(str.strip, sentences(self._mind.who.persona.text))][1:]

    def unaddressed(self, line: str) -> str:
        """Return a line as it was heard, without the character's name that calls it."""
        words = self.words_of(line)
        return line.replace(parse_heard_line(line, "")[1], words) if words else line

    def words_of(self, line: str) -> str:
        """Return the words of a heard line, without the character's name."""
        return without_address(heard_words(line), self._mind.name).strip()
