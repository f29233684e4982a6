"""Which lines of a talk belong together: question and answer, parts of a sentence, corrections.

A line that fits a question is often no answer by itself: "Frogs." answers "The best bait?", and
"no wait, the red one" takes back what was said three lines before. The cue words are English,
German, French, Spanish and Russian.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

BEFORE, AFTER = 4, 8  # lines around one that may belong to it
NEAR = 3  # lines between a question and its answer, at most
SAME_TALK_S = 900.0
SHORT = 6  # words: a shorter line needs the one before it
LIKE = 0.5  # share of the shorter text's content words that two lines on one subject have in common

QUESTION = re.compile(r"[?？؟]\W*$")
SENTENCE_ENDS = re.compile(r"[.!…。！](?=\s|$)")
# It takes something back, or gives a new value for it.
CORRECTS = re.compile(
    r"^\W*(?:(?:oh|ah|well|hm+|ach|äh|euh|bah|eh|ой|ах|ну)\W+)*(?:"
    r"no,? (?:wait|sorry|not|the|it|he|she|they|i|make|that)\b|wait\b|hold on\b|actually\b|rather\b"
    r"|i mean\b|i meant\b|sorry\b|pardon\b|correction\b|scratch that\b|make that\b|i misspoke\b"
    r"|i was wrong\b|my mistake\b|on second thought|come to think"
    r"|nein\b|moment\b|halt\b|quatsch\b|ich meine?\b|besser gesagt|vielmehr\b|entschuldigung\b"
    r"|verzeihung\b|doch nicht\b|stimmt nicht\b"
    r"|non\b|attends?\b|attendez\b|en fait\b|je veux dire|plutôt\b|je me trompe|je me suis tromp"
    r"|no,? espera|espera\b|perdón\b|perdona\b|mejor dicho|quiero decir|en realidad\b|me equivoqu"
    r"|нет\b|постой|погоди|точнее|вернее|то есть|извини|ошиб|я хотела? сказать|на самом деле"
    r")",
    re.IGNORECASE,
)
CHANGES = re.compile(
    r"\b(?:now|no longer|not any ?more|anymore|instead|these days|changed|since then"
    r"|jetzt|inzwischen|nicht mehr|stattdessen|maintenant|désormais|ne .{1,30} plus|à la place"
    r"|ahora|ya no|en vez|теперь|больше не|вместо)\b",
    re.IGNORECASE,
)
# It goes on with what the line before began.
GOES_ON = re.compile(
    r"^\W*(?:and|but|or|because|which|who|that|it|its|it's|he|he's|his|she|she's|her|they|they're|"
    r"their|this|there|so|then|und|aber|oder|weil|er|sie|es|sein|ihr|das|der|die|dort|"
    r"et|mais|ou|parce|il|elle|ils|elles|c'est|son|sa|y|pero|porque|él|ella|es|está|su|allí|"
    r"и|но|а|или|потому|он|она|оно|они|его|её|это|там)\b",
    re.IGNORECASE,
)
WORD = re.compile(r"[^\W_]+")


class Said(NamedTuple):
    """One line of a talk: its speaker, its bare words and its time in unix seconds."""

    speaker: str
    words: str
    at: float


def asks(words: str) -> bool:
    """Return True for a line that is one question and nothing else."""
    return bool(QUESTION.search(words)) and not SENTENCE_ENDS.search(words)


def is_short(words: str) -> bool:
    """Return True for a line that says little by itself."""
    return len(WORD.findall(words)) <= SHORT


def corrects(words: str) -> bool:
    """Return True for a line that takes back or corrects what was said before."""
    return bool(CORRECTS.search(words))


def companions(lines: Sequence[Said], place: int) -> list[int]:
    """Return the places of the lines that belong to the one at ``place``, in order.

    They are its question or its answer, the rest of its sentence, and its corrections.
    """
    line = lines[place]
    near = [n for n, other in enumerate(lines) if abs(other.at - line.at) <= SAME_TALK_S]
    before = [n for n in near if place - BEFORE <= n < place]
    after = [n for n in near if place < n <= place + AFTER]
    found = {*_question(lines, place, before), *_answer(lines, place, after)}
    found |= {*_rest(lines, place, before, after), *_corrections(lines, place, before, after)}
    return sorted(found)


def _question(lines: Sequence[Said], place: int, before: Iterable[int]) -> list[int]:
    """Return the question that a short line answers."""
    if not is_short(lines[place].words) or asks(lines[place].words):
        return []
    asked = [
        n
        for n in before
        if place - n <= NEAR
        and lines[n].speaker != lines[place].speaker
        and QUESTION.search(lines[n].words)
    ]
    return asked[-1:]


def _answer(lines: Sequence[Said], place: int, after: Iterable[int]) -> list[int]:
    """Return the first line of somebody else that answers a question."""
    if not asks(lines[place].words):
        return []
    others = [
        n
        for n in after
        if n - place <= NEAR
        and lines[n].speaker != lines[place].speaker
        and not asks(lines[n].words)
    ]
    return others[:2]


def _rest(
    lines: Sequence[Said], place: int, before: Sequence[int], after: Sequence[int]
) -> list[int]:
    """Return the speaker's next lines that go on with this one, and the one this goes on with."""
    speaker = lines[place].speaker
    found = []
    last = [n for n in before if lines[n].speaker == speaker][-1:]
    if last and place - last[0] <= NEAR and goes_on(lines[last[0]].words, lines[place].words):
        found += last
    following = [n for n in after if lines[n].speaker == speaker][:1]
    if following and following[0] - place <= NEAR:
        here, later = lines[place].words, lines[following[0]].words
        found += following if goes_on(here, later) else []
    return found


def goes_on(words: str, later: str) -> bool:
    """Return True if the second of one speaker's lines continues the first."""
    return bool(GOES_ON.search(later)) or not re.search(r"[.!?…。！？\"”»)]\s*$", words)


def _corrections(
    lines: Sequence[Said], place: int, before: Sequence[int], after: Sequence[int]
) -> list[int]:
    """Return the speaker's later corrections, and of a correction what it corrects."""
    speaker = lines[place].speaker
    found = [n for n in after if lines[n].speaker == speaker and corrects(lines[n].words)]
    if corrects(lines[place].words):
        found += [n for n in before if lines[n].speaker == speaker][-1:]
    return found


def same_subject(words: frozenset[str], later: frozenset[str], later_text: str) -> bool:
    """Return True if a later line may replace what an earlier one of the same speaker said.

    Both are the content words of the lines. A line that says that something changed needs fewer
    words in common.
    """
    shared = len(words & later)
    least = min(len(words), len(later))
    if CHANGES.search(later_text) or corrects(later_text):
        return shared >= 1 and shared >= LIKE / 2 * least
    return least > 1 and shared >= LIKE * least
