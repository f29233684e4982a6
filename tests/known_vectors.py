"""Let the embedder of the package run once for each text, in all processes of a call of `run`.

Thousands of tests embed the same examples, questions and lines, at 5 to 14 ms of CPU for each text.
Other models are left alone.
"""

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from evennia_ai.memory.local_models import MINILM, OnnxEmbedder

TABLE = "CREATE TABLE IF NOT EXISTS vectors (text TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID"


class KnownVectors:
    """The vectors of texts: in memory, and in a folder that several processes may share."""

    def __init__(self, folder: str | None) -> None:
        self._file = Path(folder, f"vectors-3.{sys.version_info.minor}.db3") if folder else None
        self._known: dict[str, Any] = {}
        if folder:
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


def keep_vectors(folder: str | None = os.environ.get("EVENNIA_AI_TEMPLATE")) -> None:
    """Look a text up before it is embedded."""
    known, mean = KnownVectors(folder), OnnxEmbedder._mean

    def mean_once(self: OnnxEmbedder, text: str) -> Any:
        if self.name != MINILM:
            return mean(self, text)
        if (vector := known.get(text)) is None:
            vector = mean(self, text)
            known.put(text, vector)
        return vector

    OnnxEmbedder._mean = mean_once  # type: ignore[method-assign]
