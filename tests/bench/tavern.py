"""Talk of many speakers: scenes in a tavern, questions, and the lines that answer them."""

import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "data" / "tavern.json"


def load() -> list[dict[str, Any]]:
    """Return the talks, in the shape that `retrieving` reads."""
    talks: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return talks
