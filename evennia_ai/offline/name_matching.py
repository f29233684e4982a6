"""Which thing, exit or person a phrase means."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evennia_ai.offline.words import words
from evennia_ai.policy.retrieval.words import stem as stem_of

KINDS = {
    "drink": "ale beer cider wine mead rum brandy tea water milk drink mug tankard cup flask bottle jug pint brew stout goblet glass round whisky cordial broth bier wein met schnaps krug becher dunkelbier",
    "food": "bread stew pie cheese apple fish soup meat loaf food meal supper dinner bite cake biscuit pasty ham sausage egg breakfast brot suppe linsensuppe käse apfel fleisch kuchen wurst essen",
    "light": "light licht laterne kerze fackel lantern candle lamp torch", "weapon": "weapon sword dagger knife axe bow spear blade mace halberd",
    "tool": "tool hammer tongs saw file chisel shovel spade pick rake",
    "remedy": "remedy medicine salve potion herb poultice tonic bandage balm ointment",
    "seat": "seat bench chair stool settle sit",
    "paper": "book letter map scroll page paper chart note",
}  # fmt: skip


def stem(word: str) -> str:
    """Return a word without its usual English ending; a German one keeps its own."""
    return stem_of(word.removesuffix("'s"), "en")


KIND_OF = {stem(word): kind for kind, group in KINDS.items() for word in group.split()}


SMALL = frozenset({"of", "the", "a", "an", "to", "der", "die", "das"})


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
    kinds = kinds_of(phrase)
    for name in names:
        stems = [stem(word) for word in words(name)]
        if any(KIND_OF[item] in kinds for item in stems if item in KIND_OF):
            return name
    return ""


def kinds_of(text: str) -> set[str]:
    """Return the kinds of thing that a text names: drink, food, weapon and the like."""
    return {KIND_OF[item] for word in words(text) if (item := stem(word)) in KIND_OF}


def match_exit(phrase: str, exits: Sequence[str]) -> str:
    """Return the exit that a phrase means, by its name or target; "" if none."""
    return match_name(re.sub(r"\bgo\b", "", phrase), exits, loose=False)
