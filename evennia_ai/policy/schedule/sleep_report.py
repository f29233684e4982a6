"""Report a sleep pass: as figures to store, and as sentences to read. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.schedule.sleep_schedule import HOURS, NAP, ORDER, WISH

Figures = dict[str, Any]
# Title, and format for the figures, of each sleep step by its name; both may be empty.
StepTexts = Mapping[str, tuple[str, str]]

# Results under these keys are texts of the code, which quote nobody.
TEXT_KEYS = ("reason", "rung", "stopped_by")
TEXT_CHARS = 200
DONE, WOKEN, STOPPED = "done", "woken", "stopped"

REASONS = {
    HOURS: "in its hours",
    NAP: "a nap, with nobody near",
    ORDER: "it was told to",
    WISH: "it wanted to",
}
OUTCOMES = {
    DONE: "done after {took_s:.1f} s",
    WOKEN: "broken off after {took_s:.1f} s, since it was woken",
    STOPPED: "broken off after {took_s:.1f} s, since it was stopped",
}
NOTES = ("repaired", "refused", "cut_off")  # figures that are added to a step's sentence
# Figures that do not show that a step changed anything.
BACKGROUND = frozenset({"success", "running", "kept", "left", "iterations", "calls", *TEXT_KEYS})


def split_result(result: Mapping[str, Any]) -> tuple[Figures, str]:
    """Split a step's result into figures, which quote nobody, and its error, which may."""
    # Of a list or other collection its length is kept.
    figures: Figures = {}
    for key, value in result.items():
        if value is None or isinstance(value, bool | int):
            figures[str(key)] = value
        elif isinstance(value, float):
            figures[str(key)] = round(value, 3) if math.isfinite(value) else None
        elif isinstance(value, str):
            if key in TEXT_KEYS:
                figures[key] = clean_heard(value, TEXT_CHARS)
        elif hasattr(value, "__len__"):
            figures[str(key)] = len(value)
    return figures, clean_heard(str(result.get("error") or ""), TEXT_CHARS)


def describe_step(texts: StepTexts, name: str, figures: Mapping[str, Any], error: str = "") -> str:
    """Return what one step did, as a line: its title, then its result."""
    title, sentence = texts.get(name, ("", ""))
    return f"{title or plain(name)}: {describe_result(sentence, figures, error)}"


def describe_result(sentence: str, figures: Mapping[str, Any], error: str) -> str:
    """Return a step's result in words."""
    if error or figures.get("success") is False:
        return f"failed, {error or 'for a reason that stands in the log'}"
    if figures.get("skipped"):
        return f"not done, {figures.get('reason') or 'for no reason given'}"
    try:
        told = sentence.format(**figures)
    except (KeyError, ValueError, TypeError):
        told = ""
    if not told:
        return list_figures(figures) or "nothing to do"
    notes = list_figures({name: figures.get(name) for name in NOTES})
    return f"{told}; {notes}" if notes else told


def list_figures(figures: Mapping[str, Any]) -> str:
    """Return the figures that are not zero as a list in words, empty for none."""
    said = {key: value for key, value in figures.items() if key != "success" and value}
    return ", ".join(
        plain(key) if value is True else f"{plain(key)} {value}" for key, value in said.items()
    )


def plain(name: str) -> str:
    """Return a name of the code in plain words."""
    return name.replace("_", " ")


def summarise_pass(
    texts: StepTexts, results: Mapping[str, Mapping[str, Any]], errors: Mapping[str, str]
) -> str:
    """Return a pass as a line: what was done, then what failed."""
    done = [
        describe_step(texts, name, figures)
        for name, figures in results.items()
        if name not in errors
        and not figures.get("skipped")
        and any(figures[key] for key in figures.keys() - BACKGROUND)  # it changed something
    ]
    failed = [describe_step(texts, name, {}, error) for name, error in errors.items()]
    return "; ".join([*done, *failed]) or "nothing was to be done"


def describe_cost(cost: Mapping[str, Any]) -> str:
    """Return the cost of a pass in words: model calls and tokens."""
    calls = cost.get("calls") or 0
    if not calls:
        return "no model calls"
    tokens = (cost.get("prompt_tokens") or 0) + (cost.get("completion_tokens") or 0)
    return f"{calls} model call{'s' if calls > 1 else ''}, {tokens:,} tokens"
