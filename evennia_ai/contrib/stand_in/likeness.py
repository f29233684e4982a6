"""How alike a question and a line are: by the game's embedder, else by the words that they share."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evennia_ai.contrib.stand_in.languages import Language

Floats = npt.NDArray[np.float32]
TextVectors = Mapping[str, Floats]  # unit vectors by text
PART = 0.05  # that a sentence alone counts less than a whole line
SHARED = 0.1  # what all of a question's words add to the cosine
NEAREST = 3  # the lines that a line is compared with


class AnswerRule(NamedTuple):
    """How like a question a line must be to answer it.

    What people told must stand out: its worth, plus ``outstanding`` times its lead over the next
    line of another subject, reaches ``told``, or ``certain`` to be told without "I only know this".
    Worth is likeness, less ``crowd`` times the likeness to the nearest three lines, plus ``length``
    times the logarithm of the words; lines of one subject are ``same`` like each other. ``known``
    is for persona and lore, ``near`` for "I do not know, but", ``sure`` for what answers unasked.
    """

    told: float
    certain: float
    outstanding: float
    crowd: float
    length: float
    same: float
    near: float
    known: float
    sure: float


# Of what three strangers told, by meaning, 50 % is answered and 4 % wrongly; of questions about
# what they had not told, 23 %, with "I only know this" where that is uncertain.
BY_MEANING = AnswerRule(0.66, 0.8, 3.0, 0.3, 0.08, same=0.7, near=0.2, known=0.38, sure=0.55)
BY_WORDS = AnswerRule(0.5, 0.5, 0.0, 0.0, 0.0, same=0.5, near=2.0, known=0.54, sure=0.8)


def likeness(
    text: str, lines: Sequence[Sequence[str]], vectors: TextVectors, language: Language
) -> tuple[AnswerRule, list[float]]:
    """Return how like a text some lines are, and the rule for it: by meaning, or its words alone.

    A line is given as its whole and its sentences; the most alike counts.
    """
    own, stems = vectors.get(text), set(language.content(text))
    held = (stems.intersection(language.content(whole)) for whole, *_ in lines)
    shares = [len(words) / (len(stems) or 1) for words in held]
    if own is None:
        return BY_WORDS, shares
    fits = []
    for parts, share in zip(lines, shares, strict=True):
        rows = [vectors[part] for part in parts if part in vectors]
        cosines = [float(own @ row) - PART * bool(at) for at, row in enumerate(rows)]
        fits.append(max(cosines, default=0.0) + SHARED * share)
    return BY_MEANING, fits


def worth(
    rule: AnswerRule, fits: Sequence[float], lines: Sequence[str], vectors: TextVectors
) -> Floats:
    """Return what lines are worth as answers, one number for each, given how like they are."""
    made = np.array(fits, dtype=np.float32)
    if rule.length:
        made += rule.length * np.log([len(line.split()) for line in lines])
    rows = [vectors[line] for line in lines if line in vectors]
    if rule.crowd and len(rows) > NEAREST:
        alike = np.stack(rows) @ np.stack(rows).T
        np.fill_diagonal(alike, -1.0)
        nearest = np.partition(alike, -NEAREST, axis=1)[:, -NEAREST:].mean(axis=1)
        made[[line in vectors for line in lines]] -= rule.crowd * nearest
    return made
