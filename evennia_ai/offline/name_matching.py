"""Which thing, exit or person a phrase means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from evennia_ai.offline.languages import ENGLISH, GERMAN, read
from evennia_ai.offline.words import words
from evennia_ai.policy.retrieval.words import stem as stem_of

SMALL = frozenset({"of", "the", "a", "an", "to", "der", "die", "das"})


def stem(word: str) -> str:
    """Return a word without its usual English ending; a German one keeps its own."""
    return stem_of(word.removesuffix("'s"), ENGLISH)


@cache
def kinds() -> dict[str, frozenset[str]]:
    """Return the stems of the things of each kind; builders name things in any language."""
    tables = [read(code).data["kinds"] for code in (ENGLISH, GERMAN)]
    return {
        kind: frozenset(stem(word) for table in tables for word in table.get(kind, "").split())
        for kind in tables[0]
    }


def kinds_of(text: str) -> set[str]:
    """Return the kinds of thing that a text names: drink, food, weapon and the like."""
    stems = {stem(word) for word in words(text)}
    return {kind for kind, known in kinds().items() if stems & known}


def exit_parts(exit_name: str) -> tuple[str, str]:
    """Return the name and the target of an exit such as "quay (to Saltmarket Quay)"."""
    name, _, rest = exit_name.partition(" (to ")
    return name, rest.removesuffix(")")


def match_name(phrase: str, names: Sequence[str], loose: bool = True) -> str:
    """Return the name that a phrase means, by its words, else its kind; "" if none."""
    wanted = [stem(word) for word in words(phrase)]
    best, points = "", 0.0
    for name in names:
        stems = [stem(word) for word in words(name) if word not in SMALL]
        shared = sum(1.0 + (item == stems[-1]) for item in stems if item in wanted)
        if shared > points:
            best, points = name, shared
    if best or not loose:
        return best
    meant = kinds_of(phrase)
    return next((name for name in names if kinds_of(name) & meant), "")


def match_exit(phrase: str, exits: Sequence[str]) -> str:
    """Return the exit that a phrase means, by its name or target; "" if none."""
    return match_name(re.sub(r"\bgo\b", "", phrase), exits, loose=False)
