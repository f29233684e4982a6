"""How somebody's words were meant, told without a model: a rule of thumb.

A few words of several languages. Of most lines it can tell nothing, and says so.
"""

from __future__ import annotations

import re

KIND = re.compile(
    r"\b(?:thanks?|thank you|please|bless you|well done|wonderful|lovely|kind of you|good friend"
    r"|dear|love you|like you|appreciate|welcome|sorry|danke\w*|bitte|lieb\w*|wunderbar|freund\w*"
    r"|entschuldig\w*|merci|s'il (?:te|vous) plaît|gracias|por favor|amig[oa]|grazie|obrigad[oa]"
    r"|спасибо|пожалуйста)\b|谢谢|ありがとう|[❤♥😀😊🙂👍]",
    re.IGNORECASE,
)
UNKIND = re.compile(
    r"\b(?:idiots?|fools?|stupid|shut up|hate|liars?|damn you|go away|get lost|coward|ugly"
    r"|worthless|scum|useless|kill you|dumm\w*|dummkopf|halt(?:'s)? maul|hasse|lügner\w*"
    r"|hau ab|verschwinde|feigling|nutzlos\w*|imbécile|menteu(?:r|se)|tais-toi"
    r"|idiota|mentiros[oa]|cállate|дурак"
    r"|идиот|заткнись)\b|[😠😡👎]",
    re.IGNORECASE,
)
NEGATED = re.compile(r"\b(?:not|never|no|n't|nicht|kein\w*|pas|nunca|не)\W+(?:\w+\W+){0,2}$", re.I)
MOST_CHARS = 2_000


def sentiment_of(text: str) -> float | None:
    """How kindly something was said, -1 to 1; None where nothing tells."""
    text = text[:MOST_CHARS]
    kind = sum(not is_negated(text, found.start()) for found in KIND.finditer(text))
    unkind = sum(not is_negated(text, found.start()) for found in UNKIND.finditer(text))
    if kind + unkind == 0:
        return None
    return (kind - unkind) / (kind + unkind)


def is_negated(text: str, at: int) -> bool:
    """True where a word just before takes back what follows."""
    return bool(NEGATED.search(text, max(0, at - 40), at))


def mean_sentiment(texts: list[str]) -> float | None:
    """How kindly several things were said, on the whole; None where none of them tells."""
    felt = [found for found in map(sentiment_of, texts) if found is not None]
    return sum(felt) / len(felt) if felt else None
