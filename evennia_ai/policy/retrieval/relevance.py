"""Relevance of texts to a query: BM25 over content words.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
usual k1 = 1.2 and b = 0.75.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache

from evennia_ai.policy.retrieval.words import asked_words, find_words

K1 = 1.2
B = 0.75


def score_texts(query: str, texts: Sequence[str]) -> list[float]:
    """Return the BM25 score of each text; 0 if it shares no content word."""
    return score_documents(query, [known_words(text) for text in texts])


@lru_cache(maxsize=512)
def known_words(text: str) -> tuple[str, ...]:
    """Return the content words of a text, such as a persona, that is compared again and again."""
    return tuple(find_words(text))


def score_documents(query: str, documents: Sequence[Sequence[str]]) -> list[float]:
    """Return the BM25 score of each text, given by its content words."""
    return score_weighted(dict.fromkeys(asked_words(query), 1.0), documents)


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
