"""How near a text is to what was said: BM25 over content words.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
usual k1 = 1.2 and b = 0.75.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

K1 = 1.2
B = 0.75
WORD = re.compile(r"[^\W_]+")
ENDINGS = ("ings", "ing", "ies", "ed", "es", "s", "e", "y")
COMMON = frozenset(
    "a an and any are as at be been but by can could did do does for from get had has have he her "
    "here him his how i if in into is it its just let like me my no not of on or our out say says "
    "she so some tell than that the their them then there they this to too up us was we were what "
    "when where which who why will with would you your yes about am oh well please know".split()
)


def stem(word: str) -> str:
    """A word without its commonest English endings; words of other languages mostly stay."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def content_words(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order."""
    return [stem(word) for word in WORD.findall(text.lower()) if word not in COMMON]


def score_texts(query: str, texts: Sequence[str]) -> list[float]:
    """BM25 of each text for the query; 0 where they share no content word."""
    documents = [Counter(content_words(text)) for text in texts]
    wanted = set(content_words(query))
    if not documents or not wanted:
        return [0.0] * len(documents)
    lengths = [sum(document.values()) for document in documents]
    average = sum(lengths) / len(lengths) or 1.0
    rarity = {word: _idf(word, documents) for word in wanted}
    return [
        sum(_weight(document[word], length, average) * rarity[word] for word in wanted)
        for document, length in zip(documents, lengths, strict=True)
    ]


def _idf(word: str, documents: Iterable[Counter[str]]) -> float:
    counted = [word in document for document in documents]
    holding = sum(counted)
    return math.log(1 + (len(counted) - holding + 0.5) / (holding + 0.5))


def _weight(count: int, length: int, average: float) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))
