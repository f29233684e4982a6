"""The origin of an entry that a model wrote about a talk: whose words it holds, and which lines.

A model does not cite. An entry's words are looked up in the lines that the model was shown, rather
in too many than in too few: who spoke a line with its words can have the entry forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evennia_ai.messages import Authors, Message
from evennia_ai.policy.facts.terms import normal_words

CLOSE = 0.6  # of the best line's number of shared words, for a line to be a source too
MOST_SOURCES = 20  # messages, the newest


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One line that a model was shown, with the stems of its words."""

    words: frozenset[str]
    seq: int
    authors: Authors = frozenset()  # `policy.authors`; none for what was only seen
    name: frozenset[str] = frozenset()  # the stems of the speaker's name
    at: str = ""  # ISO time


@dataclass(frozen=True, slots=True)
class Summarised:
    """The summary that a model was shown, with everybody whose words are in it."""

    words: frozenset[str] = frozenset()
    speakers: Authors = frozenset()


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose words an entry holds, the messages they stand in, and when they were said."""

    speakers: Authors
    seqs: tuple[int, ...] = ()
    said_at: str = ""  # ISO time of the newest of these messages; empty without any


def shown_line(message: Message) -> ShownLine:
    """Return a heard message as a shown line."""
    meta = message["metadata"]
    return ShownLine(
        frozenset(normal_words(message["content"])),
        int(meta.get("seq") or 0),
        frozenset(meta.get("authors") or filter(None, [meta.get("speaker")])),
        frozenset(normal_words(str(meta.get("speaker_name") or ""))),
        str(meta.get("at") or ""),
    )


def origin_of(text: str, lines: Sequence[ShownLine], summary: Summarised) -> Origin:
    """Return the origin of an entry, everybody's if its words stand nowhere."""
    # Speakers whom the entry names count too. Words that stand in no line are taken from the
    # summary.
    words = frozenset(normal_words(text))
    sources = _matching(words, lines)
    named = (line for line in lines if line.name and line.name <= words)
    found = frozenset[str]().union(*(line.authors for line in (*sources, *named)))
    left = words.difference(*(line.words for line in sources))
    summed_up = bool(left & summary.words)
    if summed_up or not sources:
        found |= summary.speakers
    if not (summed_up or sources):
        found = found.union(*(line.authors for line in lines))
    newest = sorted(sources, key=lambda line: line.seq)[-MOST_SOURCES:]
    seqs = tuple(line.seq for line in newest)
    return Origin(found, seqs, newest[-1].at if newest else "")


def _matching(words: frozenset[str], lines: Iterable[ShownLine]) -> list[ShownLine]:
    """Return the lines that share most of these words, and those that hold one of the rest."""
    ranked = sorted(lines, key=lambda line: (-len(line.words & words), -line.seq))
    least = CLOSE * len(ranked[0].words & words) if ranked else 0
    chosen, missing = list[ShownLine](), set(words)
    for line in ranked:
        shared = len(line.words & words)
        if shared and (shared >= least or line.words & missing):
            chosen.append(line)
            missing -= line.words
    return chosen
