"""How much of what answers a question is found: LoCoMo's dialogues (Maharana et al., 2024)."""

import gc
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evennia_ai.memory import embedders
from evennia_ai.memory.index import MemoryIndex
from evennia_ai.memory.vectors import pack
from tests.bench import public_talks, retrieving
from tests.bench.figures import Sheet, percentile
from tests.bench.retrieving import NONE, SHIPPED, by_words

SIZES = {1_000: 2.0, 100_000: 8.0}  # memories: ms a search may take at p95
ADD_AT_MOST_MS = 1.0
BYTES_AT_MOST = 1_024  # a memory, all in
SEARCHES = 400


@pytest.fixture(scope="module")
def talks() -> list[dict[str, Any]]:
    """The dialogues; without them there is nothing to measure."""
    file = public_talks.find_file()
    if file is None:
        pytest.skip("No LoCoMo dialogues: EVENNIA_AI_DATA names no folder with locomo-0-4.json")
    return public_talks.load(file)


@pytest.fixture(scope="module")
def embedder() -> Any:
    """The embedded embedder, loaded."""
    loaded = embedders.default()
    loaded.embed(["to load it"])
    return loaded


def test_recall_of_the_shipped_weights(
    talks: list[dict[str, Any]], embedder: Any, sheet: Callable[[str], Sheet]
) -> None:
    paper = sheet("Retrieval: what is found of LoCoMo's evidence")
    ways: dict[str, Any] = {
        "BM25": by_words,
        "cosine alone": retrieving.by_index(embedder, replace(NONE, meaning=1)),
        "the index without an embedder": retrieving.by_index(None, SHIPPED),
        "the index, turns alone": retrieving.by_index(embedder, SHIPPED),
        "  asked a day after the end": retrieving.by_index(embedder, SHIPPED, now=True),
        "the index with facts": retrieving.by_index(embedder, SHIPPED, facts=True),
    }
    for name, way in ways.items():
        for k, value in retrieving.recalls(talks, way).items():
            paper.add(f"{name}, recall@{k}", value)


def resident_bytes() -> int:
    """What the process holds in memory."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4_096


def some_text(rng: np.random.Generator, turns: list[dict[str, Any]], number: int) -> str:
    """A line as people say them, that nobody said."""
    one, other = (turns[i]["text"].split() for i in rng.integers(0, len(turns), 2))
    return " ".join([*one[: len(one) // 2], *other[len(other) // 2 :], f"n{number // 7}"])


@pytest.fixture(scope="module")
def texts(talks: list[dict[str, Any]]) -> list[str]:
    """As many lines as the largest index has."""
    turns = [turn for talk in talks for turn in talk["turns"]]
    rng = np.random.default_rng(1)
    return [some_text(rng, turns, number) for number in range(max(SIZES))]


def add(index: MemoryIndex, number: int, text: str, vector: bytes | None = None) -> None:
    """Add a line; every fourth is private."""
    audience = {f"#{number % 50}"} if number % 4 == 0 else None
    at = 1.6e9 + 60.0 * number
    index.add(f"m{number}", text, f"Guest {number % 300}", at, 5, audience, vector=vector)


@pytest.mark.parametrize(("indices", "size"), [(1, 100_000), (100, 1_000)])
def test_size(
    texts: list[str], embedder: Any, sheet: Callable[[str], Sheet], indices: int, size: int
) -> None:
    paper = sheet(f"Retrieval: memory of {indices:,} x {size:,} memories")
    vectors = [pack(vector) for vector in embedder.embed(texts[:2_000])]
    before, all_indices = resident_bytes(), [MemoryIndex(embedder) for _ in range(indices)]
    for index in all_indices:
        for number in range(size):
            add(index, number, texts[number], vectors[number % len(vectors)])
        index.find("What is it?", 10)
    held = (resident_bytes() - before) / (indices * size)
    counted = sum(index.nbytes for index in all_indices) / (indices * size)
    paper.add("a memory, resident", held, "bytes", BYTES_AT_MOST)
    paper.add("a memory, by the index's count", counted, "bytes", BYTES_AT_MOST)
    paper.check()


@pytest.mark.parametrize("size", SIZES)
def test_speed(
    talks: list[dict[str, Any]],
    texts: list[str],
    embedder: Any,
    sheet: Callable[[str], Sheet],
    size: int,
) -> None:
    paper = sheet(f"Retrieval: {size:,} memories")
    asked = [question.text for talk in talks for question in retrieving.questions_of(talk)]
    vectors = [pack(vector) for vector in embedder.embed(texts[:2_000])]
    queries = dict(zip(asked[:SEARCHES], embedder.embed_query(asked[:SEARCHES]), strict=True))
    took, index = [], MemoryIndex()
    for number, text in enumerate(texts[:size]):
        began = time.perf_counter()
        add(index, number, text, vectors[number % len(vectors)])
        took.append((time.perf_counter() - began) * 1000)
    paper.add("add, median", percentile(took, 50), "ms", ADD_AT_MOST_MS)
    paper.add("add, p99", percentile(took, 99), "ms")
    paper.add("add, max", max(took), "ms")
    for name, more in {"for all": {}, "for one": {"audience": {"#8"}}}.items():
        for again in (False, True):
            took = []
            for text, vector in queries.items():
                if not again:
                    add(index, size, text, pack(vector))
                began = time.perf_counter()
                index.find(text, 10, now=1.7e9, vector=vector, **more)
                took.append((time.perf_counter() - began) * 1000)
            when = "again" if again else "after an add"
            paper.add(f"search {name} {when}, median", percentile(took, 50), "ms")
            paper.add(f"search {name} {when}, p95", percentile(took, 95), "ms", SIZES[size])
    paper.check()
