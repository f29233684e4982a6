"""Relevance of texts to a query: BM25 over content words.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
usual k1 = 1.2 and b = 0.75.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

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

# Polite words in English and German; they ask for no memory.
POLITE = (
    "hello hi hey hail greetings good day morning evening afternoon night bye goodbye farewell "
    "welcome well fine great nice lovely thanks thank sorry pardon excuse okay ok yeah nope sure "
    "today tonight now again doing going feeling day weather really indeed ha haha hm hmm "
    "hallo guten tag abend morgen nacht gute gut danke bitte tschüss servus wie geht es dir ihnen "
    "heute schön ja nein"
)


def stem(word: str) -> str:
    """Return a word without common English endings."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def content_words(text: str) -> list[str]:
    """Return the stems of the words that carry meaning, in order."""
    return [stem(word) for word in WORD.findall(text.lower()) if word not in COMMON]


SMALL_TALK = frozenset(content_words(POLITE))


def is_small_talk(text: str, names: Iterable[str] = ()) -> bool:
    """Return True if a text is polite words and names, and nothing else."""
    besides = SMALL_TALK.union(content_words(" ".join(names)))
    return besides.issuperset(content_words(text))


def score_texts(query: str, texts: Sequence[str]) -> list[float]:
    """Return the BM25 score of each text; 0 if it shares no content word."""
    return score_documents(query, [content_words(text) for text in texts])


def score_documents(query: str, documents: Sequence[Sequence[str]]) -> list[float]:
    """Return the BM25 score of each text, given by its content words."""
    return score_weighted(dict.fromkeys(content_words(query), 1.0), documents)


def score_weighted(wanted: Mapping[str, float], documents: Sequence[Sequence[str]]) -> list[float]:
    """Return the BM25 score of each text for content words with weights."""
    average = sum(map(len, documents)) / (len(documents) or 1) or 1.0
    scores = [0.0] * len(documents)
    for word in sorted(wanted):
        counts = [document.count(word) for document in documents]
        rarity = wanted[word] * _idf(len(counts) - counts.count(0), len(counts))
        for index, count in enumerate(counts):
            if count:
                scores[index] += _weight(count, len(documents[index]), average) * rarity
    return scores


def _idf(holding: int, total: int) -> float:
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def _weight(count: int, length: int, average: float) -> float:
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / average))
