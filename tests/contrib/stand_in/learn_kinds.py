"""Learns the weights of the stand-in's kinds of sentences from `kinds.tsv`.

`python -m tests.contrib.stand_in.learn_kinds --write` writes them; run it after a change of the
sentences, or of a language's patterns, which are evidence, too.
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from evennia_ai.contrib.stand_in import kinds
from evennia_ai.contrib.stand_in.languages import DATA, ENGLISH, read
from tests.policy.learn_weights import matrix_of

ROWS = Path(__file__).with_name("kinds.tsv")
RIDGE, MOST_FEATURES = 3.0, 3000


def read_rows(file: Path = ROWS) -> list[tuple[str, str]]:
    """Return (kind, sentence) of each row."""
    rows = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if line)
    return [(kind, text) for kind, text in rows]


def learn(rows: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the arrays of a classifier, by ridge regression; a rare kind's rows weigh more."""
    language = read(ENGLISH)
    made = [kinds.features(text, language.matched(text)[0].key) for _kind, text in rows]
    names, matrix = matrix_of(made, always="[")
    seen = Counter(name for own in made for name in own)
    every = sorted({kind for kind, _text in rows})
    goals = np.eye(len(every), dtype=np.float32)[[every.index(kind) for kind, _text in rows]]
    counts = Counter(kind for kind, _text in rows)
    balance = np.array([counts["question" if k in kinds.OPEN else k] ** -0.5 for k, _text in rows])
    balance = np.sqrt(balance / balance.mean())[:, None].astype(np.float32)
    weighed = matrix * balance
    inner = weighed @ weighed.T + RIDGE * np.eye(len(rows), dtype=np.float32)
    weights = weighed.T @ np.linalg.solve(inner, goals * balance)
    worth = np.linalg.norm(weights, axis=1) * np.sqrt([seen[name] for name in names])
    kept = np.argsort(-worth)[:MOST_FEATURES]
    scale = np.abs(weights[kept]).max(axis=0) / 127
    return {
        "names": np.array([names[at] for at in kept]),
        "kinds": np.array(every),
        "weights": np.round(weights[kept] / scale).astype(np.int8),
        "scale": scale.astype(np.float32),
    }


if __name__ == "__main__":
    arrays = learn(read_rows())
    if "--write" in sys.argv:
        np.savez_compressed(DATA / f"kinds_{ENGLISH}.npz", **arrays)
    print({name: array.shape for name, array in arrays.items()})
