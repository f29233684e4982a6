"""Which acts a heard line asks for: a small model walks off or hands things out unasked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evennia_ai.policy.request_forms.form import Asked

HANDLING, MOVE, FOLLOW = ("give", "get", "drop"), "move", "follow"
# English and German, as the examples of talk that this was measured with; names count in any
# language.
HANDLING_WORDS = re.compile(
    r"\b(?:giv|give|hand|pass|bring|fetch|tak|take|get|gett|pick|grab|drop|dropp|put|putt|lay|lend"
    r"|sell|buy|trad|trade|keep|hold|have|want|need|gib|reich|hol|nimm|nehm|leg|stell|kauf|leih"
    r"|verkauf)(?:s|es|ing|ed|e|t|st|en)?\b",
    re.IGNORECASE,
)
WALKING_WORDS = re.compile(
    r"\b(?:com|come|go|walk|lead|follow|tak|take|show|let's|enter|komm|geh|lauf|folg|führ|zeig"
    r"|begleit)(?:s|es|ing|ed|e|t|st|en)?\b",
    re.IGNORECASE,
)
LEAST_CHARS = 3  # of a word that may name a thing


def wanted_acts(asked: Asked, acts: Iterable[str]) -> list[str]:
    """Return the acts that the model may choose: of walking and handling only what is asked for.

    A walk to nowhere in particular is one with the speaker. If nobody spoke, all are allowed.
    """
    handling = HANDLING_WORDS.search(asked.heard) or names_one(
        asked.heard, (*asked.things, *asked.carrying)
    )
    left_out = set() if handling else set(HANDLING)
    to_exit = names_one(asked.heard, asked.exits)
    left_out |= set() if to_exit else {MOVE}
    left_out |= set() if to_exit or WALKING_WORDS.search(asked.heard) else {FOLLOW}
    return [act for act in acts if not asked.heard or act not in left_out]


def names_one(line: str, names: Iterable[str]) -> bool:
    """Return True if the line holds a word of one of the names."""
    words = {word for name in names for word in long_words(name)}
    return not words.isdisjoint(long_words(line))


def long_words(text: str) -> set[str]:
    """Return the words of a text that may name something, in lower case."""
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) >= LEAST_CHARS} - {"the"}
