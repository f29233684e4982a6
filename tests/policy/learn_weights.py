"""Learns which words tell what a text is, from sentences of several hands in `rows`.

`python -m tests.policy.learn_weights --write` writes the weights, in thousandths.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evennia_ai.policy.conversation import ai_disclosure, persona_and_lore
from evennia_ai.policy.texts import word_features

ROWS = Path(__file__).with_name("rows")
# The rows of each file of weights, and the label of what they speak for.
LEARNED = {
    ai_disclosure.DENIAL_WEIGHTS: ("denials", "denies"),
    persona_and_lore.TALK_RULE_WEIGHTS: ("talk_rules", "talk"),
}
RIDGE, LEAST_SEEN, SMALLEST = 2.0, 2, 40  # thousandths


def read_rows(name: str, label: str) -> list[tuple[bool, str]]:
    """Return (is of the label, text) of each row."""
    lines = (ROWS / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [(kind == label, text) for kind, _, text in (line.partition("\t") for line in lines)]


def matrix_of(made: Sequence[Mapping[str, float]], always: str = "") -> tuple[list[str], Any]:
    """Return the names of features seen `LEAST_SEEN` times, or that begin with ``always``, and a
    matrix with a row for each text and a column for each of them."""
    seen = Counter(name for own in made for name in own)
    kept = (n for n, count in seen.items() if count >= LEAST_SEEN or (always and n[:1] == always))
    columns = {name: at for at, name in enumerate(kept)}
    matrix = np.zeros((len(made), len(columns)), np.float32)
    for row, own in enumerate(made):
        for name in own.keys() & columns.keys():
            matrix[row, columns[name]] = own[name]
    return [*columns], matrix


def learn(rows: Sequence[tuple[bool, str]]) -> dict[str, int]:
    """Return the weights of a ridge regression, in thousandths; "" is the constant."""
    names, matrix = matrix_of([word_features(text) | {"": 1.0} for _is_one, text in rows])
    goals = np.array([1.0 if is_one else -1.0 for is_one, _text in rows], np.float32)
    inner = matrix @ matrix.T + RIDGE * np.eye(len(rows), dtype=np.float32)
    weights = matrix.T @ np.linalg.solve(inner, goals)
    pairs = zip(names, np.round(1000 * weights).astype(int).tolist(), strict=True)
    return {name: value for name, value in sorted(pairs) if abs(value) >= SMALLEST or not name}


if __name__ == "__main__":
    for file, (name, label) in LEARNED.items():
        learned = learn(read_rows(name, label))
        print(name, len(learned), "weights")
        if "--write" in sys.argv:
            file.write_text(json.dumps(learned, indent=0, ensure_ascii=False) + "\n", "utf-8")
