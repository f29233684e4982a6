"""Whether somebody asks the character that follows them to stay behind."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_READ = 500  # characters of a line
# Words before a request; it must begin its sentence: "he told me to stop following her" is none.
BEFORE = (
    r"(?:(?:hey|now|ok|okay|and|so|but|just|please|then|can|could|would|will|you|may|must|should|i"
    r"|want|need|wish|like|to|bitte|jetzt|aber|kannst|könntest|würdest|du|mal|sofort)\b[\s,]{1,3})"
)
PLEASE = r"(?:bitte |jetzt |sofort |mal |endlich )"
REQUEST = re.compile(
    rf"(?:\A|[.,;:!?–-])\s{{0,3}}{BEFORE}{{0,8}}(?:"
    r"(?:stop|quit) (?:following|tailing|trailing|shadowing|chasing)(?: (?:me|us))?(?: |\Z)"
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
        bare = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", ",", bare, flags=re.IGNORECASE)
    return REQUEST.search(" ".join(bare.replace(" ,", ",").split()) + " ") is not None
