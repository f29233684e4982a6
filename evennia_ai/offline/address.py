"""The character's own name in a line: as a call, as an address, or as a topic."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from functools import lru_cache

from evennia_ai.offline.words import words

MENTION = re.compile(
    r"\b(?:about|of|is|are|was|to|with|called|than|and|named|like|know|see|ask|from|for|at|by)$",
    re.I,
)


def is_call(text: str, own_name: str) -> bool:
    """Return True for a line that is only the name: "Mira?"."""
    said = set(words(text)) - {"hey", "oi", "psst", "sister", "master", "mistress", "brother"}
    return bool(said) and said <= set(words(own_name))


@lru_cache(maxsize=256)
def _name_patterns(own_name: str) -> tuple[re.Pattern[str], ...]:
    parts = sorted({own_name, *own_name.split()}, key=len, reverse=True)
    names = "|".join(re.escape(part) for part in parts if len(part) > 1) or "(?!)"
    courtesy = r"(?:master |mistress |sister |brother |dear |good |old |my dear )?"
    return (
        re.compile(rf"^{courtesy}(?:{names})\b\s*+[,:!.—-]++\s*+", re.I),
        re.compile(rf"(?:,|(?<![\s,]))\s++{courtesy}(?:{names})(?=\s*+[?!.…,]*+$)", re.I),
        re.compile(rf",\s*+{courtesy}(?:{names})\s*+,", re.I),
        re.compile(rf"^{courtesy}(?:{names})\s+(?=(?:who|what|where|when|why|how|do|can|could|would|will|are|give|please|i)\b)", re.I),
    )  # fmt: skip


def without_name(sentence: str, own_name: str) -> str:
    """Return the sentence without the character's name as an address."""
    start, end, middle, bare = _name_patterns(own_name)
    shorter = start.sub("", sentence)
    shorter = middle.sub(",", shorter)
    without = end.sub("", shorter)
    mentioned = MENTION.search(without.rstrip("?!. …"))
    return bare.sub("", shorter if mentioned else without).strip()
