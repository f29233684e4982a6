"""What a sentence states of one kind of fact, told from examples by their nearness in meaning.

Kernel ridge regression over the examples of ``examples.toml``: a sentence near to those of a class
gets a score near 1 for it. It knows only cosines, so that every embedder will do.
"""

import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evennia_ai.policy.texts import listed_examples

Cosines = Callable[[str, Sequence[str]], Sequence[float]]
SO, NOT, OTHER = "so", "not", "other"  # it is so, or not so, here and now; neither is stated
DAYTIME = "daytime"  # no kind of fact: which part of the day a sentence tells
SHARPNESS, RIDGE = 2.0, 0.1
EXAMPLES = Path(__file__).with_name("examples.toml")


@cache
def classes_of(kind: str) -> dict[str, list[str]]:
    """Return the examples of a kind of fact by class, `SO` and `NOT` among them."""
    tables = tomllib.loads(EXAMPLES.read_text(encoding="utf-8"))
    return {name: listed_examples(text.strip()) for name, text in tables[kind].items()}


def examples_of(kind: str) -> list[str]:
    """Return all examples of a kind of fact."""
    return [text for texts in classes_of(kind).values() for text in texts]


class ClaimReader:
    """Scores sentences by kinds of facts; what it has learned of a kind is kept."""

    def __init__(self) -> None:
        self._weights: dict[str, Any] = {}

    def scores(self, kind: str, sentence: str, cosines: Cosines) -> dict[str, float]:
        """Return how sure a sentence belongs to each class, about 0 to 1; empty if not known.

        ``cosines`` know the sentence and `examples_of` the kind, or return nothing.
        """
        examples = examples_of(kind)
        near = cosines(sentence, examples)
        if not near:
            return {}
        if kind not in self._weights:
            self._weights[kind] = learned(
                kind, [cosines(example, examples) for example in examples]
            )
        values = kernel(np.array(near)) @ self._weights[kind]
        return dict(zip(classes_of(kind), map(float, values), strict=True))


def kernel(cosines: Any) -> Any:
    return np.exp(SHARPNESS * (cosines - 1.0))


def learned(kind: str, cosines: Sequence[Sequence[float]]) -> Any:
    """Return weights of shape (examples, classes)."""
    parts = classes_of(kind).values()
    goals = np.repeat(np.eye(len(parts)), [len(texts) for texts in parts], axis=0)
    matrix = kernel(np.array(cosines))
    return np.linalg.solve(matrix + RIDGE * np.eye(len(goals)), goals)
