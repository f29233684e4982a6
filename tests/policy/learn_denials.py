"""Learns which words of a reply deny a machine behind it, from `denials.tsv`.

`python -m tests.policy.learn_denials --write` writes the weights, in thousandths.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from evennia_ai.policy.conversation import ai_disclosure
from evennia_ai.policy.texts import word_features

ROWS = Path(__file__).with_name("denials.tsv")
WEIGHTS = Path(ai_disclosure.__file__).with_name("denial_weights.json")
RIDGE, LEAST_SEEN, SMALLEST = 2.0, 2, 40  # thousandths


def read_rows(file: Path = ROWS) -> list[tuple[bool, str]]:
    """Return (denies, reply) of each row."""
    rows = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if line)
    return [(kind == "denies", text) for kind, text in rows]


def learn(rows: list[tuple[bool, str]]) -> dict[str, int]:
    """Return the weights of a ridge regression, in thousandths; "" is the constant."""
    made = [word_features(text) for _denies, text in rows]
    seen = Counter(name for own in made for name in own)
    names = [name for name, count in seen.items() if count >= LEAST_SEEN]
    columns = {name: at for at, name in enumerate(names)}
    matrix = np.ones((len(rows), len(names) + 1), np.float32)
    matrix[:, :-1] = 0.0
    for row, own in enumerate(made):
        for name, value in own.items():
            if name in columns:
                matrix[row, columns[name]] = value
    goals = np.array([1.0 if denies else -1.0 for denies, _text in rows], np.float32)
    inner = matrix @ matrix.T + RIDGE * np.eye(len(rows), dtype=np.float32)
    weights = matrix.T @ np.linalg.solve(inner, goals)
    whole = np.round(1000 * weights).astype(int).tolist()
    pairs = zip([*names, ""], whole, strict=True)
    return {name: value for name, value in sorted(pairs) if abs(value) >= SMALLEST or not name}


if __name__ == "__main__":
    learned = learn(read_rows())
    if "--write" in sys.argv:
        WEIGHTS.write_text(json.dumps(learned, indent=0, ensure_ascii=False) + "\n", "utf-8")
    print(len(learned), "weights")
