"""Learns which words tell what a text is, from sentences of several hands in `rows`.

`python -m tests.policy.learn_weights --write` writes the weights, in thousandths.
"""

import json
import sys
from collections import Counter
from pathlib import Path

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


def learn(rows: list[tuple[bool, str]]) -> dict[str, int]:
    """Return the weights of a ridge regression, in thousandths; "" is the constant."""
    made = [word_features(text) for _is_one, text in rows]
    seen = Counter(name for own in made for name in own)
    names = [name for name, count in seen.items() if count >= LEAST_SEEN]
    columns = {name: at for at, name in enumerate(names)}
    matrix = np.ones((len(rows), len(names) + 1), np.float32)
    matrix[:, :-1] = 0.0
    for row, own in enumerate(made):
        for name, value in own.items():
            if name in columns:
                matrix[row, columns[name]] = value
    goals = np.array([1.0 if is_one else -1.0 for is_one, _text in rows], np.float32)
    inner = matrix @ matrix.T + RIDGE * np.eye(len(rows), dtype=np.float32)
    weights = matrix.T @ np.linalg.solve(inner, goals)
    pairs = zip([*names, ""], np.round(1000 * weights).astype(int).tolist(), strict=True)
    return {name: value for name, value in sorted(pairs) if abs(value) >= SMALLEST or not name}


if __name__ == "__main__":
    for file, (name, label) in LEARNED.items():
        learned = learn(read_rows(name, label))
        print(name, len(learned), "weights")
        if "--write" in sys.argv:
            file.write_text(json.dumps(learned, indent=0, ensure_ascii=False) + "\n", "utf-8")
