"""The evidence of public dialogues (LoCoMo): does what a question needs stand in the next prompt?

The data is not part of this repository: ``EVENNIA_AI_DATA`` names its folder, or it lies in
``shared/data`` beside the repository. Nothing here comes from the package's search for facts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evennia_ai.messages import Message
from tests.bench.planted import content
from tests.bench.remembering import heard

FILE = "locomo-0-4.json"
BESIDE = Path(__file__).parents[3] / "shared" / "data"
ASKER = ("Rowan", "#13")
DBREFS = ("#11", "#12")
PART_OF = 0.8  # of a line's words, for it to come from a turn
ENOUGH = 0.5  # of a turn's words, for it to stand in a prompt


def find_file() -> Path | None:
    """Where the dialogues are; None where they are not."""
    file = Path(os.environ.get("EVENNIA_AI_DATA", BESIDE)) / FILE
    return file if file.is_file() else None


def load(file: Path) -> list[dict[str, Any]]:
    """The dialogues."""
    talks: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return talks


def turns_of(talk: Mapping[str, Any]) -> list[list[Message]]:
    """A dialogue as somebody's log who listens to both."""
    dbrefs = dict(zip(talk["speakers"], DBREFS, strict=True))
    return [[heard(t["speaker"], dbrefs[t["speaker"]], t["text"])] for t in talk["turns"]]


def share_of_evidence(evidence: Sequence[str], lines: Iterable[str]) -> float:
    """The share of these turns that stand in lines, whole or in the words that matter.

    A turn stands there where lines that are parts of it, or hold it, have half of its words.
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
