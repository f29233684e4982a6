"""Is a memory found by a question in other words, in German, French, Spanish and Russian?

``data/paraphrases.json`` has sixty pairs in each language, mostly without a shared word. Ten more
in each language are on other subjects.
If ``EVENNIA_AI_EMBEDDER`` holds the setting of another embedder as JSON, that is measured, too::

    {"base_url": "http://127.0.0.1:8123/v1", "model": "e5-query", "dimensions": 384}
"""

import json
import os
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import cache
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np
import pytest

from evennia_ai.llm.loop_thread import LoopThread
from evennia_ai.llm.openai_client import OpenAIClient
from evennia_ai.memory import embedders
from evennia_ai.memory.index import MemoryIndex
from tests.bench import public_talks, retrieving
from tests.bench.figures import Sheet

DATA = json.loads((Path(__file__).parent / "data" / "paraphrases.json").read_text(encoding="utf-8"))
PAIRS: dict[str, list[tuple[str, str]]] = DATA["pairs"]
APART: dict[str, list[tuple[str, str]]] = DATA["apart"]
FOUND_AT_LEAST = 0.38  # by "multilingual", at the mean of the languages
SETTING = "EVENNIA_AI_EMBEDDER"
ALONE = replace(retrieving.SHIPPED, before=0, after=0)


class Waiting:
    """An embedder that waits for a remote one; each text is asked once."""

    def __init__(self, remote: Any, calls: Queue[Any]) -> None:
        self._remote, self._calls = remote, calls
        self._vector = cache(self._fetch)
        self.name, self.dimensions = remote.name, remote.dimensions

    def embed(self, texts: list[str]) -> np.ndarray:
        return np.array([self._vector(text, False) for text in texts])

    def embed_query(self, texts: list[str]) -> np.ndarray:
        return np.array([self._vector(text, True) for text in texts])

    def _fetch(self, text: str, query: bool) -> np.ndarray:
        outcome: list[Any] = []
        self._remote.embed_later([text], query=query).addBoth(outcome.append)
        while not outcome:
            function, *given = self._calls.get(timeout=60)
            function(*given)
        found: np.ndarray = outcome[0][0]
        return found


@pytest.fixture(scope="module")
def other() -> Generator[Any]:
    """The embedder of the environment."""
    if SETTING not in os.environ:
        pytest.skip(f"{SETTING} names no other embedder")
    calls: Queue[Any] = Queue()
    thread = LoopThread(lambda *call: calls.put(call))
    thread.start()
    client = OpenAIClient(thread, os.environ)
    made = embedders.make(json.loads(os.environ[SETTING]), client)
    yield Waiting(made, calls) if hasattr(made, "embed_later") else made
    thread.stop()


def found_first(embedder: Any, pairs: list[Any], beside: list[Any] | None = None) -> float:
    """The share of the pairs whose memory is the first result among those ``beside``, too."""
    index = MemoryIndex(embedder, ALONE)
    for number, (memory, _) in enumerate([*pairs, *(beside or ())]):
        index.add(str(number), memory)
    firsts = [index.find(question, 1)[0][0] for _, question in pairs]
    return float(np.mean([first == str(number) for number, first in enumerate(firsts)]))


def found_apart(embedder: Any) -> float:
    """The share of the pairs on other subjects whose memory is the first of sixty."""
    shares = [found_first(embedder, pairs, PAIRS[name][:50]) for name, pairs in APART.items()]
    return float(np.mean(shares))


def test_what_finds_paraphrases(sheet: Callable[[str], Sheet]) -> None:
    paper = sheet("Paraphrases: the memory is the first of sixty")
    multilingual = embedders.make("multilingual")
    ways = {"words alone": None, "minilm": embedders.default(), "multilingual": multilingual}
    for name, embedder in ways.items():
        shares = {language: found_first(embedder, pairs) for language, pairs in PAIRS.items()}
        for language, share in shares.items():
            paper.add(f"{language}, by {name}", share)
        paper.add(f"other subjects, by {name}", found_apart(embedder))
        missed = 1 - float(np.mean(list(shares.values())))
        bound = [1 - FOUND_AT_LEAST] if embedder is multilingual else []
        paper.add(f"all languages, missed by {name}", missed, "", *bound)
    paper.check()


def test_another_embedder(sheet: Callable[[str], Sheet], other: Any) -> None:
    paper = sheet(f"Paraphrases and dialogues: {other.name}")
    for language, pairs in PAIRS.items():
        paper.add(f"{language}, first of sixty", found_first(other, pairs))
    paper.add("other subjects, first of sixty", found_apart(other))
    file = public_talks.find_file()
    if file is not None:
        way = retrieving.by_index(other, retrieving.SHIPPED)
        for k, value in retrieving.recalls(public_talks.load(file), way).items():
            paper.add(f"LoCoMo, turns alone, recall@{k}", value)
