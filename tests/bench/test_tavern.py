"""How much of what answers a question is found in talk of many speakers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from evennia_ai.memory import embedders
from tests.bench import retrieving, tavern
from tests.bench.figures import Sheet
from tests.bench.retrieving import NONE, SHIPPED, by_words

LEAST_LEAD = 0.15  # of the index over BM25, recall@10
KINDS = {"about": ("speaker", "third"), "worded": ("plainly", "otherwise")}


def only(talk: dict[str, Any], field: str, kind: str) -> dict[str, Any]:
    """Return a talk with one kind of its questions."""
    return talk | {"questions": [q for q in talk["questions"] if q[field] == kind]}


def with_speakers(talk: dict[str, Any]) -> dict[str, Any]:
    """Return a talk whose texts begin with their speakers."""
    turns = [turn | {"text": f"{turn['speaker']} says: {turn['text']}"} for turn in talk["turns"]]
    return talk | {"turns": turns}


def test_index_finds_more_than_bm25_in_a_tavern(sheet: Callable[[str], Sheet]) -> None:
    talks = tavern.load()
    embedder = embedders.default()
    paper = sheet("Tavern: what is found of the evidence")
    ways: dict[str, Any] = {
        "BM25 of the words alone": by_words,
        "BM25": lambda talk: by_words(with_speakers(talk)),
        "cosine alone": retrieving.by_index(embedder, replace(NONE, meaning=1)),
        "the index": retrieving.by_index(embedder, SHIPPED),
    }
    at_10 = {}
    for name, way in ways.items():
        found = retrieving.recalls(talks, way)
        at_10[name] = found[10]
        for k, value in found.items():
            paper.add(f"{name}, recall@{k}", value)
        for field, kinds in KINDS.items():
            for kind in kinds:
                part = retrieving.recalls([only(talk, field, kind) for talk in talks], way)
                paper.add(f"  {field}: {kind}, recall@10", part[10])
    lead = at_10["the index"] - at_10["BM25"]
    paper.add("tavern: R@10 of the index against BM25", lead)
    paper.add("  missing to the least lead", LEAST_LEAD - lead, "", 0)
    paper.check()
