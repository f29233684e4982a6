"""Emotes for the day plan: "mend the nets" gives "mends the nets."."""

# ruff: noqa: E501  # a pattern is read best in one piece

from __future__ import annotations

import re
from collections.abc import Sequence

from evennia_ai.offline.grammar import base_form, third_form
from evennia_ai.offline.words import ended

PLANNED = re.compile(r"(?P<what>.+?)(?P<elsewhere>, at [^,]+)?, until \d\d:\d\d")
VERB = re.compile(r"[a-z]{2,}")
# Emotes for kinds of entries, besides the entry's own words.
DEEDS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(rf"\b(?:{words})\b", re.I), deeds)
    for words, deeds in (
        (r"eat|meal|breakfast|lunch|supper|dinner", ("eats a piece of bread.", "brushes a few crumbs from a sleeve.")),
        (r"rest|nap|doze|sit", ("leans back for a moment.", "stretches both legs.")),
        (r"talk|chat|gossip|company|guests", ("looks round for somebody to talk to.",)),
        (r"watch|guard|rounds|patrol", ("walks a few steps to and fro.", "runs an eye over everybody here.")),
        (r"sweep|clean|tidy|wipe", ("sweeps a corner clean.",)),
        (r"think|plan|ponder|consider", ("frowns at nothing in particular.", "counts something off on the fingers.")),
        (r"read|write|copy|notes|accounts", ("turns a page.", "makes a note of something.")),
    )
)  # fmt: skip


def occupation_deeds(about: str) -> Sequence[str]:
    """Return emotes for a day plan's entry, as the prompt words it.

    Return none if the entry is for another place. An entry without a leading verb gives only emotes of
    its kind.
    """
    planned = PLANNED.fullmatch(about)
    if planned is None or planned["elsewhere"]:
        return ()
    what = planned["what"]
    kind = [deed for words, deeds in DEEDS if words.search(what) for deed in deeds]
    verb, _, rest = what.partition(" ")
    plain = VERB.fullmatch(verb) and ":" not in what and not verb.endswith("ing")
    own = [ended(f"{third_form(base_form(verb))} {rest}".strip())] if plain else []
    return [*own, *kind]
