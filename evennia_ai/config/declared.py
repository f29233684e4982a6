"""Declares settings, checks values of them, and knows their former names.

Every setting stands once, as a field of `AssistantConfig` or of an extension's own class; the
documentation and `aisetup` read type, default, unit, range and help from it. Former names, also of
ready-made tools, are read until the next release.
"""

from collections.abc import Callable, Mapping
from dataclasses import Field, field, fields
from difflib import get_close_matches
from functools import partial
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

from evennia_ai.errors import ConfigError

LARGEST = 10**15  # larger integers may not be comparable with floats

# All settings by name, and their types.
FIELDS: dict[str, Field[Any]] = {}
HINTS: dict[str, Any] = {}
OWNERS: dict[str, type] = {}  # the class that each is a field of


class Bounds(NamedTuple):
    """The range of a number, with its unit; None is unlimited."""

    low: float
    high: float | None = None
    unit: str = ""


seconds = partial(Bounds, unit="s")
days = partial(Bounds, unit="days")
tokens = partial(Bounds, unit="tokens")
characters = partial(Bounds, unit="characters")


def setting(
    default: Any,
    help: str,
    within: Bounds | None = None,
    *,
    choices: tuple[str, ...] = (),
    check: Callable[[Any], object] | None = None,
) -> Any:
    """Declare one setting; ``check`` raises ConfigError for a bad value."""
    low, high, unit = within or (None, None, "")
    meta = {"help": help, "unit": unit, "low": low, "high": high}
    return field(default=default, metadata={**meta, "choices": choices, "check": check})


def declare_settings(owner: type) -> None:
    """Let the fields of a dataclass be settings; raises ValueError if another class has one."""
    hints = get_type_hints(owner)
    declared = {item.name: item for item in fields(owner) if "help" in item.metadata}
    if taken := sorted(name for name in declared if OWNERS.get(name, owner) != owner):
        raise ValueError(f"there is a setting {taken[0]} already")
    for name, item in declared.items():
        FIELDS[name], HINTS[name], OWNERS[name] = item, hints[name], owner


def known_setting(name: str) -> str:
    """Return ``name`` if there is such a setting; raises ConfigError otherwise."""
    if name in FORMER_NAMES:
        raise ConfigError(f"'{name}' is called '{FORMER_NAMES[name]}' now.")
    if name not in FIELDS:
        near = get_close_matches(name, FIELDS, 1)
        meant = f"Did you mean '{near[0]}'? " if near else ""
        raise ConfigError(
            f"There is no setting '{name}'. {meant}Use one of {', '.join(sorted(FIELDS))}."
        )
    return name


def check_value(name: str, value: object) -> None:
    """Raise ConfigError if ``value`` does not fit the setting ``name``."""
    allowed = get_args(HINTS[name]) or (HINTS[name],)
    meta = FIELDS[name].metadata
    if value is None and type(None) in allowed:
        return
    kinds = tuple(kind for kind in allowed if kind is not type(None))
    number = float in kinds and isinstance(value, int)
    if (isinstance(value, bool) and bool not in kinds) or not (number or isinstance(value, kinds)):
        raise ConfigError(f"{name} must be {describe_kind(kinds)}, not {brief(value)}.")
    if meta["choices"] and value not in meta["choices"]:
        raise ConfigError(f"{name} must be one of {', '.join(meta['choices'])}, not '{value}'.")
    if isinstance(value, int | float):
        check_range(name, value)
    if meta["check"]:
        meta["check"](value)


def check_range(name: str, value: float) -> None:
    """Raise ConfigError if a number is outside the range of the setting ``name``."""
    meta = FIELDS[name].metadata
    low, high, unit = meta["low"], meta["high"], f" {meta['unit']}".rstrip()
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ConfigError(f"{name} must be at most {LARGEST:,}, not {brief(value)}.")
    if low is not None and not value >= low:
        raise ConfigError(f"{name} must be at least {low:.15g}{unit}, not {brief(value)}.")
    if high is not None and not value <= high:
        raise ConfigError(f"{name} must be at most {high:.15g}{unit}, not {brief(value)}.")


def brief(value: object) -> str:
    """Return any value as text for a sentence, on one line."""
    try:
        return f"{value:g}" if isinstance(value, float) else f"{value!r:.80}"
    except ValueError:  # Python does not convert an integer of thousands of digits to text
        return "a number with thousands of digits"


def describe_kind(kinds: tuple[type, ...]) -> str:
    """Return a setting's type in words."""
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    return " or ".join(words[kind] for kind in kinds)


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
