"""Stored words of the log as persons read them."""

from __future__ import annotations

import json
from collections.abc import Mapping

ERROR_KINDS: Mapping[str, str] = {
    "unavailable": "the model is unavailable",
    "deadline": "the model did not reply in time",
    "circuit": "the model is paused after failures",
    "unspoken": "the model's reply could not be spoken",
    "memory": "long-term memory is unavailable",
    "busy": "too many model calls at once",
    "quota": "the account at the provider is used up",
    "budget": "a budget of today does not allow the call",
    "stopped": "an admin stopped all model calls",
    "rejected": "the model refused the request",
    "misconfigured": "a key, address or model name is wrong",
    "overflow": "the request is longer than the context window",
}
COMPACTED_FOR: Mapping[str, str] = {
    "sleep": "while asleep",
    "emergency": "the context window was nearly full",
    "overflow": "the model refused so long a request",
    "manual": "an admin asked for it",
}
SUMMARISED: Mapping[str, str] = {
    "summary": "summarised",
    "cleared": "summarised without tool results",
    "chunks": "summarised in parts",
    "other model": "summarised by another model",
    "digest": "condensed without a model",
    "last turn": "only the last turn is left",
}
ACT_STATES: Mapping[str, str] = {"intended": "begun", "unknown": "outcome unknown"}


def worded(words: Mapping[str, str], stored: str) -> str:
    """Return what a stored word means; an unknown one is shown as it is stored."""
    return words.get(stored, stored)


def call_words(arguments: str) -> tuple[str, str]:
    """Return the text of a tool call, and its other arguments in words, such as ``target Ann``."""
    try:
        values = json.loads(arguments or "{}")
    except ValueError:
        values = arguments
    if not isinstance(values, dict):
        return str(values), ""
    words = str(values.pop("text", ""))
    return words, ", ".join(f"{key} {value}" for key, value in values.items())
