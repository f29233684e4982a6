"""Whether words of a scene's check stand in an answer."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from evennia_ai.errors import ConfigError
from evennia_ai.policy.facts.terms import with_digits
from evennia_ai.policy.retrieval.words import UNSPACED

QUOTES = str.maketrans("‘’“”„«»", '\'\'"""""')
ANY_LETTERS = re.escape("*")


def plain(text: str) -> str:
    """Return a text with straight quotes and single spaces, case folded."""
    return " ".join(unicodedata.normalize("NFKC", text).translate(QUOTES).casefold().split())


def _is_pattern(wanted: str) -> bool:
    return len(wanted) > 2 and wanted.startswith("/") and wanted.endswith("/")


@lru_cache(maxsize=1_024)
def compiled(wanted: str) -> re.Pattern[str]:
    """Return the pattern of whole words, of a beginning with ``*``, or of ``/an expression/``.

    Raises ConfigError for a broken expression and for words without any letter or sign.
    """
    if _is_pattern(wanted):
        try:
            return re.compile(wanted[1:-1], re.IGNORECASE)
        except re.error as error:
            raise ConfigError(f"{wanted} is no regular expression: {error}.") from error
    words = plain(wanted)
    if not words.strip("*"):
        raise ConfigError(f"{wanted!r} holds no words.")
    inner = re.escape(words).replace(ANY_LETTERS, r"\w*")
    before = r"(?<!\w)" if _joins(words[0]) else ""
    return re.compile(before + inner + (r"(?!\w)" if _joins(words[-1]) else ""))


def _joins(edge: str) -> bool:
    """Return True if a letter before or after this one would belong to the same word."""
    return (edge.isalnum() or edge == "_") and not UNSPACED.match(edge)


def mentions(wanted: str, text: str) -> bool:
    """Return True if a text holds words or matches a pattern; "four" and "4" are the same."""
    said, digits = plain(text), with_digits(wanted)
    if _is_pattern(wanted):
        return bool(compiled(wanted).search(said))
    found = compiled(digits).search(with_digits(said))
    # In words, a number may be a part of a longer one: "two" is not in "twenty-two".
    return bool(found or (digits == wanted and compiled(wanted).search(said)))


def mentioned(alternatives: Iterable[str], text: str) -> Sequence[str]:
    """Return those of some alternatives that a text mentions."""
    return [wanted for wanted in alternatives if mentions(wanted, text)]
