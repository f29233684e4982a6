"""Public dialogues as memories: what a question finds."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from evennia_ai.memory.index import MemoryIndex
from evennia_ai.policy.retrieval.relevance import RelevanceWeights, score_texts

KS = (5, 10, 20)
NONE = RelevanceWeights(**{field.name: 0 for field in fields(RelevanceWeights)})
SHIPPED = RelevanceWeights()


class Question(NamedTuple):
    """A question, and the ids of the turns that answer it."""

    text: str
    evidence: frozenset[str]


def said_at(talk_time: str) -> float:
    """A dialogue's "1:56 pm on 8 May, 2023" in unix seconds."""
    moment = datetime.strptime(talk_time, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    return moment.timestamp()


def index_of(
    talk: Mapping[str, Any], embedder: Any, weights: RelevanceWeights, facts: bool = False
) -> MemoryIndex:
    """A dialogue's turns, and the facts drawn from them after these."""
    index = MemoryIndex(embedder, weights)
    for turn in talk["turns"]:
        index.add(turn["id"], turn["text"], turn["speaker"], said_at(turn["at"]))
    for number, fact in enumerate(talk["facts"] if facts else ()):
        index.add(f"fact {number}", fact["text"], sources=fact["sources"])
    return index


def questions_of(talk: Mapping[str, Any]) -> list[Question]:
    """The questions that some turn answers."""
    ids = {turn["id"] for turn in talk["turns"]}
    asked = [Question(q["question"], frozenset(q["evidence"]) & ids) for q in talk["questions"]]
    return [question for question in asked if question.evidence]


def recall(found: Sequence[str], evidence: frozenset[str], k: int) -> float:
    """The share of the evidence among the first ``k``."""
    return len(evidence & set(found[:k])) / len(evidence)


def recalls(
    talks: Iterable[Mapping[str, Any]],
    search: Callable[[Mapping[str, Any]], Callable[[str], Sequence[str]]],
) -> dict[int, float]:
    """The mean recall by k over all questions; ``search(talk)`` gives what a question finds."""
    values: dict[int, list[float]] = {k: [] for k in KS}
    for talk in talks:
        find = search(talk)
        for question in questions_of(talk):
            found = find(question.text)
            for k in KS:
                values[k].append(recall(found, question.evidence, k))
    return {k: float(np.mean(of_k)) for k, of_k in values.items()}


def by_index(
    embedder: Any, weights: RelevanceWeights, facts: bool = False, now: bool = False
) -> Callable[[Mapping[str, Any]], Callable[[str], Sequence[str]]]:
    """For `recalls`: the first results of a `MemoryIndex`; ``now``: asked a day after the end."""

    def search(talk: Mapping[str, Any]) -> Callable[[str], Sequence[str]]:
        index = index_of(talk, embedder, weights, facts)
        asked = max(said_at(turn["at"]) for turn in talk["turns"]) + 86_400.0 if now else None
        return lambda text: [name for name, *_ in index.find(text, max(KS), now=asked)]

    return search


def by_words(talk: Mapping[str, Any]) -> Callable[[str], Sequence[str]]:
    """For `recalls`: plain BM25."""
    ids = [turn["id"] for turn in talk["turns"]]
    texts = [turn["text"] for turn in talk["turns"]]
    return lambda text: [
        ids[n] for n in np.argsort(-np.array(score_texts(text, texts)), kind="stable")
    ]
