"""The search over the older lines of a long log by pgvector: how fast, and how much of it is found.

python -m tests.postgresql -s -m "bench and not soak" tests/bench/test_old_lines.py
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection, transaction
from twisted.internet.defer import maybeDeferred

from evennia_ai import models
from evennia_ai.memory import embedders
from evennia_ai.memory.index import MemoryIndex
from evennia_ai.memory.old_lines import AT_ONCE, NEWEST, OldLines, as_row
from evennia_ai.memory.vectors import pack, to_bytes, unit
from evennia_ai.ports import LineQuery
from evennia_ai.store.old_lines import OldLineTable, seen_by, seen_clause
from evennia_ai.testing.memory_conversation import MemoryLines
from tests.bench import public_talks, retrieving
from tests.bench.figures import Sheet, percentile
from tests.bench.test_million_rows import add_assistants
from tests.bench.test_postgresql import fill
from tests.bench.test_retrieval import some_text
from tests.faults.own_database import IS_POSTGRESQL, on_own_database

pytestmark = pytest.mark.skipif(not IS_POSTGRESQL, reason="only PostgreSQL has the extension")

SIZES = (100_000, 1_000_000)  # lines; a shorter log is searched in memory
SEARCH_MS = 20.0  # at p95
RECALL_AT_LEAST, STRETCH_MS = 0.98, 10.0
SEARCHES, BATCH = 200, 1_000
ASKER = frozenset({"#8"})


@pytest.fixture
def db(django_db_setup: None, django_db_blocker: Any, tmp_path: Path) -> Generator[None]:
    with django_db_blocker.unblock(), on_own_database(tmp_path):
        yield


class Slices:
    """Time slices that note how long each stretch took."""

    def __init__(self) -> None:
        self.stretches: list[float] = []
        self.slices = self
        self.began = time.perf_counter()

    def put(self, call: Callable[[], None]) -> None:
        self.stretches.append((time.perf_counter() - self.began) * 1000)
        self.began = time.perf_counter()
        call()


def texts_of(talks: list[dict[str, Any]], size: int) -> list[str]:
    turns = [turn for talk in talks for turn in talk["turns"]]
    rng = np.random.default_rng(1)
    return [some_text(rng, turns, number) for number in range(size)]


def audience_of(seq: int) -> list[str] | None:
    return None if seq % 4 else [f"#{seq % 50}"]


def stored(size: int, texts: list[str], embedder: Any) -> tuple[OldLineTable, np.ndarray]:
    """Store lines as one character's log, the older ones in their table; return their vectors."""
    add_assistants()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
    fill(models.Message, size)
    models.Message.objects.update(assistant_id=1)
    table = OldLineTable(1, embedder.name, embedder.dimensions)
    table.open(NEWEST, NEWEST)
    vectors = np.empty((size, embedder.dimensions), dtype=np.float32)
    for first in range(0, size, BATCH):
        some = range(first, min(first + BATCH, size))
        made = embedder.embed(texts[some.start : some.stop])
        packed = {n + 1: pack(vector) for n, vector in zip(some, made, strict=True)}
        for n in some:  # as they are stored
            vectors[n] = unit(to_bytes(packed[n + 1]))
        models.LineVector.objects.bulk_create(
            models.LineVector(pk=seq, embedder="e", packed=value) for seq, value in packed.items()
        )
        lines = ({"seq": n + 1, "words": texts[n], "speaker_name": "Ann",
                  "audience": audience_of(n + 1)} for n in some if n < size - NEWEST)  # fmt: skip
        table.store(as_row(line, packed[line["seq"]]) for line in lines)
    table.build()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return table, vectors


def recall_at_10(table: OldLineTable, vectors: np.ndarray, asked: np.ndarray) -> float:
    """The share of the ten nearest lines that the asker may know among those that are found."""
    seqs = np.arange(1, len(vectors) + 1)
    known = (seqs % 4 != 0) | (seqs % 50 == 8)
    known[-NEWEST:] = False
    found = []
    for vector in asked:
        query = LineQuery(vector.tolist(), [], (1.0, 0.0), ASKER, None)
        with transaction.atomic():  # the settings hold until its end
            table.prepare_search()
            rows = table._run(
                "SELECT message_id FROM {table} WHERE {seen} "
                "ORDER BY meaning <=> %(asked)s::halfvec LIMIT 64",
                {**seen_by(query), "asked": str(vector.tolist())},
                seen=seen_clause(query),
            )
        cosines = np.where(known, vectors @ vector, -1)
        least = np.partition(cosines, -10)[-10] - 1e-3  # equal ones stand for each other
        found.append(min(10, sum(cosines[seq - 1] >= least for (seq,) in rows)) / 10)
    return float(np.mean(found))


@pytest.mark.timeout(7_200)
@pytest.mark.parametrize(
    "size", [SIZES[0], pytest.param(SIZES[1], marks=pytest.mark.soak)], ids="{:,}".format
)
def test_older_lines(db: None, sheet: Callable[[str], Sheet], size: int) -> None:
    file = public_talks.find_file()
    if file is None:
        pytest.skip("No LoCoMo dialogues: EVENNIA_AI_DATA names no folder with locomo-0-4.json")
    talks, embedder = public_talks.load(file), embedders.default()
    texts = texts_of(talks, size)
    table, vectors = stored(size, texts, embedder)
    asked = [q.text for talk in talks for q in retrieving.questions_of(talk)][:SEARCHES]
    index, slices = MemoryIndex(embedder), Slices()
    for n in range(size - NEWEST, size):
        audience = audience_of(n + 1)
        index.add(f"line:{n + 1}", texts[n], "Ann", 1.6e9 + 60.0 * n, audience=audience,
                  vector=pack(vectors[n]), place=n + 1)  # fmt: skip
    database: list[float] = []

    def run(call: Callable[[], Any], _seconds: float) -> Any:
        began = time.perf_counter()
        done = maybeDeferred(call)
        database.append((time.perf_counter() - began) * 1000)
        slices.began = time.perf_counter()
        return done

    old = OldLines(table, MemoryLines([]), "Mira", embedder, run, run)
    took = []
    for text in asked:
        began = slices.began = time.perf_counter()
        old.bring(slices, index, text, ASKER, None, None)  # type: ignore[arg-type]
        index.search(text, 10, ASKER, now=1.7e9)
        took.append((time.perf_counter() - began) * 1000)
    paper = sheet(f"pgvector: {size:,} lines")
    paper.add("search, median", percentile(took, 50), "ms")
    paper.add("search, p95", percentile(took, 95), "ms", SEARCH_MS)
    paper.add("  in the database, p95", percentile(database, 95), "ms")
    paper.add(f"  longest stretch of {AT_ONCE} lines", max(slices.stretches), "ms", STRETCH_MS)
    recall = recall_at_10(table, vectors, embedder.embed(asked))
    paper.add("missed of recall@10 by meaning", 1 - recall, "", 1 - RECALL_AT_LEAST)
    paper.check()
