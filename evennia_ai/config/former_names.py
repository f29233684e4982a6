"""The former names of settings, which are read until the next release."""

from collections.abc import Mapping
from typing import TypeVar

V = TypeVar("V")

FORMER_NAMES = {
    "max_hops": "max_bot_replies",
    "discretion": "whisper_policy",
    "filler_after": "thinking_after",
    "machine_line": "ai_disclosure_line",
    "prune_floor": "prune_keep_at_least",
}


def by_present_names(values: Mapping[str, V]) -> dict[str, V]:
    """Return values by the present names of their settings; one under its present name counts."""
    former = {FORMER_NAMES[name]: value for name, value in values.items() if name in FORMER_NAMES}
    return former | {name: value for name, value in values.items() if name not in FORMER_NAMES}


def rename_advice(values: Mapping[str, object], where: str) -> list[str]:
    """Return a sentence for each former name among some entries."""
    return [
        f"{where} has '{name}', which is called '{FORMER_NAMES[name]}' now: rename it. The next "
        "release reads the new name only."
        for name in values
        if name in FORMER_NAMES
    ]
