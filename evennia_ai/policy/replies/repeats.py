"""Whether a reply repeats one of the character's own latest lines."""

from __future__ import annotations

from collections.abc import Sequence

from evennia_ai.policy.replies.likeness import contains_run, difference, overlap, plain_words

FEW_WORDS = 4  # a shorter line, such as "Aye.", may be said again
LATEST = 2  # but not within this many lines
LIKE, LIKE_IF_SHORT = 0.85, 0.9  # "A mug of ale/cider costs a penny" are two lines
SHORT = 10
MOST_OF = 0.5  # a line within a longer one is a repeat if it makes up this much of it


def find_repeat(words: str, earlier: Sequence[str]) -> str:
    """Return the latest earlier line that ``words`` repeats, "" if none; oldest line first."""
    said = plain_words(words)
    if not said:
        return ""
    for age, line in enumerate(reversed(earlier)):
        if is_repeat(said, plain_words(line), age):
            return line
    return ""


def is_repeat(said: Sequence[str], before: Sequence[str], age: int) -> bool:
    """Return True if words repeat those of a line; ``age`` is 0 for the latest line."""
    if min(len(said), len(before)) < FEW_WORDS:
        return said == before and age < LATEST
    if said == before or is_most_of(said, before) or is_most_of(before, said):
        return True
    if any(word.isdigit() for word in difference(said, before)):
        return False
    short = min(len(said), len(before)) < SHORT
    return overlap(said, before) >= (LIKE_IF_SHORT if short else LIKE)


def is_most_of(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Return True if ``part`` stands in ``whole`` and makes up most of it."""
    return len(whole) * MOST_OF <= len(part) < len(whole) and contains_run(whole, part)
