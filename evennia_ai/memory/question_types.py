"""What one asks with one word, and is answered with another: needs of daily life, and of people.

The words stand in two tables by language: ``needs.toml`` says what lore answers, ``told.toml`` how
people tell of themselves what others ask about them.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from evennia_ai.policy.retrieval.languages import ENGLISH
from evennia_ai.policy.retrieval.words import find_words, language_of, phrase_of

LORE, TOLD = "needs.toml", "told.toml"


class QuestionType(NamedTuple):
    """What somebody may need: the phrases that ask for it by language, the stems that answer."""

    name: str
    asks: Mapping[str, Sequence[str]]
    answers: frozenset[str]


def asked_by(line: str, table: str) -> list[QuestionType]:
    """Return the needs of a table that a line asks for: of its language, else of English."""
    language = language_of(line) or ENGLISH
    phrase = phrase_of(line, language)
    return [need for need in load(table) if [p for p in need.asks.get(language, ()) if p in phrase]]


def answers_to(needs: Iterable[QuestionType]) -> frozenset[str]:
    return frozenset(chain.from_iterable(need.answers for need in needs))


@cache
def load(table: str) -> list[QuestionType]:
    """Return the needs of a table; the first call takes 50 ms."""
    rows = tomllib.loads(Path(__file__).with_name(table).read_text(encoding="utf-8"))
    question_types = []
    for name, of in rows.items():
        asks = {c: [phrase_of(item, c) for item in of[c]["asks"].split(",")] for c in of}
        answers = frozenset(chain(*(find_words(of[c]["answers"], (), c) for c in of)))
        question_types.append(QuestionType(name, asks, answers))
    return question_types
