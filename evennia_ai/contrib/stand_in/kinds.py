"""The kind of a sentence: by a linear classifier over its words, and by what the patterns say.

`data/kinds_<code>.npz` holds the weights. `python -m tests.contrib.stand_in.learn_kinds --write`
learns them from sentences that several hands wrote (tests/contrib/stand_in/kinds.tsv).
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evennia_ai.policy.texts import word_features

# Kinds of sentences that no phrase or handler of their own answers.
OPEN = frozenset(
    "question opinion recall said_by remark noted pity order favour yes no recall_all recall_name"
    " keep_it inject nature crime threat".split()
)
ASKING = frozenset({"question", "opinion", "recall", "said_by"})
# Patterns that tell more exactly what sentences of some learned kinds ask.
EXACTER = {
    "ask_name": {"ask_self"}, "place_name": {"where"}, "food": {"wares"}, "drink": {"wares"},
    "carry": {"what_here"}, "buy": {"wares", "have", "order"}, "seen_there": {"what_here"},
    "called": {"greet", "who_here"},
}  # fmt: skip
# How sure a sentence must be of a kind with phrases, how much surer than of the next, and how unsure
# of all others: a wrong answer is worse than none. Of three strangers' 602 sentences 97 of 189 such
# kinds are told and 22 wrongly; the patterns alone tell 86 and 34, and with the nearest example
# (MiniLM) 94 and 56.
LEAST, LEAD, MOST_OPEN = 0.4, 0.1, 0.3
OF_PATTERN = 0.6  # weight of what the patterns say beside a word's
Floats = npt.NDArray[np.float32]


def features(text: str, pattern: str) -> dict[str, float]:
    """Return what a sentence is judged by: its words, and the kind that the patterns say."""
    return word_features(text) | {f"[{pattern}]": OF_PATTERN, "": 1.0}


class KindClassifier:
    """A linear classifier; ``weights`` has a row for each feature and a column for each kind."""

    def __init__(self, names: Sequence[str], kinds: Sequence[str], weights: Floats) -> None:
        self.kinds, self._weights = list(kinds), weights
        self._rows = {name: row for row, name in enumerate(names)}
        self._open = np.array([kind in OPEN for kind in kinds])

    def knows(self, key: str) -> bool:
        """Return True if a pattern's kind is one that was learned, with phrases of its own."""
        return key not in OPEN and (key in EXACTER or key in self.kinds)

    def scores(self, text: str, pattern: str) -> Floats:
        """Return about how sure a sentence is of each kind, 0 to 1."""
        known = [(self._rows[k], v) for k, v in features(text, pattern).items() if k in self._rows]
        rows, values = zip(*known, strict=True)
        return np.array(values, np.float32) @ self._weights[list(rows)]

    def kind_of(self, text: str, pattern: str) -> str:
        """Return the kind of a sentence for which the patterns say ``pattern``, "" if none."""
        scores = self.scores(text, pattern)
        closed = np.where(self._open, -9.0, scores)
        second, best = np.sort(closed)[-2:]
        if best >= max(LEAST, second + LEAD) and scores[self._open].sum() < MOST_OPEN:
            return self.kinds[int(closed.argmax())]
        return self.kinds[int(np.where(self._open, scores, -9.0).argmax())]


def read_classifier(file: Path) -> KindClassifier | None:
    """Return the classifier of a file, None if there is none."""
    if not file.exists():
        return None
    with np.load(file) as data:
        weights = data["weights"].astype(np.float32) * data["scale"]
        return KindClassifier(data["names"].tolist(), data["kinds"].tolist(), weights)
