"""Public dialogues (LoCoMo) and the evidence that their questions need.

The data is not part of this repository: ``EVENNIA_AI_DATA`` names its folder, or it lies in
``shared/data`` beside the repository.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evennia_ai.messages import ChatMessage
from tests.bench.planted import content
from tests.bench.remembering import TURN_S, heard
from tests.bench.retrieving import said_at

FILE = "locomo-0-4.json"
BESIDE = Path(__file__).parents[3] / "shared" / "data"
ASKER = ("Rowan", "#13")
DBREFS = ("#11", "#12")
PART_OF = 0.8  # of a line's words, for it to come from a turn
ENOUGH = 0.5  # of a turn's words, for it to stand in a prompt


def find_file() -> Path | None:
    """Return the file of the dialogues; None if it is not here."""
    file = Path(os.environ.get("EVENNIA_AI_DATA", BESIDE)) / FILE
    return file if file.is_file() else None


def load(file: Path) -> list[dict[str, Any]]:
    """Return the dialogues."""
    talks: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return talks


def turns_of(talk: Mapping[str, Any]) -> list[list[ChatMessage]]:
    """Return a dialogue as the log of somebody who hears both."""
    dbrefs = dict(zip(talk["speakers"], DBREFS, strict=True))
    return [[heard(t["speaker"], dbrefs[t["speaker"]], t["text"])] for t in talk["turns"]]


def pauses_of(talk: Mapping[str, Any]) -> list[float]:
    """Return the seconds before each turn; those of a session follow each other by TURN_S."""
    began = [said_at(turn["at"]) for turn in talk["turns"]]
    return [TURN_S + now - before for before, now in zip([began[0], *began], began, strict=False)]


def questions_of(talk: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Return each question with the words of the turns that answer it, if there are any."""
    said = {turn["id"]: turn["text"] for turn in talk["turns"]}
    asked = (
        (one["question"], [said[turn] for turn in one["evidence"] if turn in said])
        for one in talk["questions"]
    )
    return [(question, evidence) for question, evidence in asked if evidence]


def share_of_evidence(evidence: Sequence[str], lines: Iterable[str]) -> float:
    """Return the share of these turns that stand in lines, whole or in their main words.

    A turn stands there if lines that are parts of it, or hold it, have half of its words.
    """
    shown = [content(line) for line in lines]
    return sum(_stands(content(text), shown) for text in evidence) / len(evidence)


def _stands(turn: frozenset[str], shown: Sequence[frozenset[str]]) -> bool:
    found: set[str] = set()
    for words in shown:
        common = words & turn
        if len(common) >= min(ENOUGH * len(turn), PART_OF * len(words)) > 0:
            found |= common
    return len(found) >= ENOUGH * len(turn)
