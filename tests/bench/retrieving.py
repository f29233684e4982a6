"""Public dialogues as memories: what a question finds, and weights fitted on some of them.

The score of a memory is a sum of signs, each times its weight. A sign is what the ranking gives
with that weight at 1 and all others at 0, so that nothing of the ranking is written twice here.
Fitted is a softmax over the memories of a dialogue, towards the evidence (gradient descent with
momentum by Adam, Kingma and Ba, 2015).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from evennia_ai.memory.index import MemoryIndex
from evennia_ai.policy.retrieval.relevance import RelevanceWeights, score_texts

KS = (5, 10, 20)
NONE = RelevanceWeights(
    **{
        field.name: (0, 0) if field.name in ("before", "after") else 0
        for field in fields(RelevanceWeights)
    }
)
SHIPPED = RelevanceWeights()
OWN = ("speaker", "time", "number", "around", "within", "question", "length")
STEPS, RATE, RIDGE = 100, 0.1, 1e-3


class Question(NamedTuple):
    """A question, and the ids of the turns that answer it."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Case:
    """A question's signs by memory (a row each), which rows are turns, which are evidence."""

    signs: np.ndarray
    evidence: np.ndarray


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
        return lambda text: [name for name, _ in index.search(text, max(KS), now=asked)]

    return search


def by_words(talk: Mapping[str, Any]) -> Callable[[str], Sequence[str]]:
    """For `recalls`: plain BM25."""
    ids = [turn["id"] for turn in talk["turns"]]
    texts = [turn["text"] for turn in talk["turns"]]
    return lambda text: [
        ids[n] for n in np.argsort(-np.array(score_texts(text, texts)), kind="stable")
    ]


def signs_of(facts: bool) -> list[RelevanceWeights]:
    """One set of weights for each sign; company and sessions as the shipped weights mix them."""
    near = {"before": SHIPPED.before, "after": SHIPPED.after}
    both = {"meaning": SHIPPED.meaning, "words": SHIPPED.words, **near}
    signs = [replace(NONE, meaning=1, **near), replace(NONE, words=1, **near)]
    signs.append(replace(NONE, session=1, **both))
    signs += [replace(NONE, **{name: 1}) for name in OWN]
    return [*signs, replace(NONE, sources=1, **both)] if facts else signs


def cases_of(talk: Mapping[str, Any], embedder: Any, facts: bool = False) -> list[Case]:
    """Every question of a dialogue with the signs of its turns."""
    ids = [turn["id"] for turn in talk["turns"]]
    index = index_of(talk, embedder, NONE, facts)
    place = dict(zip(ids, range(len(ids)), strict=True))
    base = replace(NONE, meaning=SHIPPED.meaning, words=SHIPPED.words)
    base = replace(base, before=SHIPPED.before, after=SHIPPED.after)
    cases = []
    for question in questions_of(talk):
        columns = [scores_of(index, question.text, place, w) for w in signs_of(facts)]
        plain = scores_of(index, question.text, place, base)
        for number in (2, len(columns) - 1) if facts else (2,):
            columns[number] = columns[number] - plain  # the sign alone, without what it builds on
        evidence = np.array(sorted(place[turn] for turn in question.evidence))
        cases.append(Case(np.stack(columns, axis=1), evidence))
    return cases


def scores_of(
    index: MemoryIndex, text: str, place: Mapping[str, int], weights: RelevanceWeights
) -> np.ndarray:
    """The score of each turn under these weights, nothing set aside as said again."""
    index.weights = weights
    view = index._columns.view(None, True)
    ranked = index._rank(text, view, None, None, len(index))
    found = np.zeros(len(index))
    found[ranked.rows] = ranked.scores
    return found[: len(place)]  # the turns were added first


def fit(cases: Sequence[Case]) -> np.ndarray:
    """The weights under which evidence stands out best."""
    signs = np.concatenate([case.signs for case in cases])
    sizes = np.array([len(case.signs) for case in cases])
    firsts = np.cumsum(sizes) - sizes
    wanted = np.zeros(len(signs))
    for first, case in zip(firsts, cases, strict=True):
        wanted[first + case.evidence] = 1 / len(case.evidence)
    spread = np.mean([case.signs.std(axis=0) for case in cases], axis=0) + 1e-6
    signs = signs / spread
    weights = np.zeros(signs.shape[1])
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        scores = signs @ weights
        share = np.exp(scores - np.repeat(np.maximum.reduceat(scores, firsts), sizes))
        share /= np.repeat(np.add.reduceat(share, firsts), sizes)
        slope = 2 * RIDGE * weights + signs.T @ (share - wanted) / len(cases)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        rate = RATE / (1 - 0.9**step)
        weights = weights - rate * mean / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return weights / spread


def recall_of(weights: np.ndarray, cases: Iterable[Case], k: int = 10) -> list[float]:
    """The recall of each question under fitted weights."""
    found = []
    for case in cases:
        first = np.argsort(-(case.signs @ weights), kind="stable")[:k]
        found.append(len(set(first.tolist()) & set(case.evidence.tolist())) / len(case.evidence))
    return found
