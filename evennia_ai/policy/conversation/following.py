"""Whether somebody asks the character that follows them to stay behind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile

MOST_READ = 500  # characters of a line
CLAUSE_END = re.compile(r"(?<!auf),|[.;:!?–]", re.IGNORECASE)
# Words before a request; it must begin its clause: "he told me to stop following her" is none.
BEFORE = frozenset(
    "hey now ok okay and so but just please then can could would will you may must should i want "
    "need wish like to bitte jetzt aber kannst könntest würdest du mal sofort".split()
)
PLEASE = r"(?:bitte |jetzt |sofort |mal |endlich )"
REQUEST = re.compile(
    r"\A(?:(?:stop|quit) (?:following|tailing|trailing|shadowing|chasing)(?: (?:me|us))?(?: |\Z)"
    r"|(?:do not|don'?t|no longer|never) (?:follow|tail|chase|come with|come after) (?:me|us)\b"
    r"|leave (?:me|us) (?:alone|be)\b|(?:stay|wait|remain) (?:right )?(?:here|where you are)\b"
    rf"|hör(?:e|t)? {PLEASE}{{0,2}}auf,? {PLEASE}{{0,1}}(?:mir|uns) "
    r"(?:nachzulaufen|zu folgen|hinterherzulaufen|nachzugehen)\b"
    r"|folg(?:e|t)? (?:mir|uns) (?:bitte )?nicht\b"
    r"|(?:lauf|geh|komm)e? (?:mir|uns) (?:bitte )?nicht (?:mehr |länger )?(?:nach|hinterher)\b"
    r"|lass(?:t)? (?:mich|uns) (?:bitte |endlich )?(?:in ruhe|in frieden|allein)\b"
    rf"|(?:bleib|warte)e? {PLEASE}{{0,2}}(?:hier|da|stehen|zurück)\b)",
    re.IGNORECASE,
)


def asks_to_stay(words: str, names: Sequence[str]) -> bool:
    """Return True for a request to follow no longer; ``names`` are the character's."""
    bare = words[:MOST_READ].replace("’", "'")
    for name in sorted(names, key=len, reverse=True):
        bare = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", ".", bare, flags=re.IGNORECASE)
    clauses = map(str.split, CLAUSE_END.split(bare))
    requests = (dropwhile(lambda word: word.lower() in BEFORE, words) for words in clauses)
    return any(REQUEST.match(" ".join(words)) for words in requests)
