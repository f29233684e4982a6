"""The former names of settings and of ready-made tools, which are read until the next release."""

from collections.abc import Mapping
from typing import Any, TypeVar

V = TypeVar("V")

FORMER_NAMES = {
    "max_hops": "max_bot_replies",
    "discretion": "whisper_policy",
    "filler_after": "thinking_after",
    "machine_line": "ai_disclosure_line",
    "prune_floor": "prune_keep_at_least",
}
# Entries of ``TOOLS`` that are extensions now.
FORMER_TOOLS = {
    "evennia_ai.tools.trade": "shop",
    "evennia_ai.tools.quests": "quests",
    "evennia_ai.tools.doors": "doors",
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


def by_present_tools(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``AI_ASSISTANT`` with former entries of ``TOOLS`` in ``EXTENSIONS``."""
    former, names = former_tools(values.get("TOOLS")), values.get("EXTENSIONS") or ()
    if not former or not isinstance(names, list | tuple):
        return dict(values)
    tools = [path for path in values["TOOLS"] if path not in former]
    added = [FORMER_TOOLS[path] for path in former]
    return {**values, "TOOLS": tools, "EXTENSIONS": [*added, *names]}


def former_tools(tools: object) -> list[str]:
    """Return those of the entries of ``TOOLS`` that are extensions now."""
    paths = tools if isinstance(tools, list | tuple) else ()
    return [path for path in paths if isinstance(path, str) and path in FORMER_TOOLS]


def tools_advice(tools: object) -> list[str]:
    """Return a sentence for each former entry of ``TOOLS``."""
    return [
        f"AI_ASSISTANT['TOOLS'] has '{path}': write '{FORMER_TOOLS[path]}' into "
        "AI_ASSISTANT['EXTENSIONS'] instead. The next release reads that only."
        for path in former_tools(tools)
    ]
