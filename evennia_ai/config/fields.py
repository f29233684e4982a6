"""Every setting, once: type, default, unit, help. Nothing is read at import.

An effective value is found in this order, the last that says something wins: the default here, the
Django setting ``AI_ASSISTANT``, the named profile, the assistant's own attribute. ``None`` means
"inherit"; 0 means zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, get_args, get_type_hints

from evennia_ai.errors import ConfigError
from evennia_ai.policy.records.shared_memory import OFF, read_scopes
from evennia_ai.policy.schedule.sleep_schedule import (
    ANYBODY,
    GAME,
    NOBODY,
    REAL,
    STAFF,
    read_schedule,
)

LARGEST = 10**15  # beyond it an integer may not be compared with a fraction any more


def setting(  # noqa: PLR0913  # each is a part of a declaration, by name
    default: Any,
    help: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    check: Callable[[Any], object] | None = None,
) -> Any:
    """Declare one setting of `AssistantConfig`. ``check`` raises ConfigError for values that the
    other arguments cannot tell from good ones."""
    meta = {
        "help": help,
        "unit": unit,
        "low": low,
        "high": high,
        "choices": choices,
        "check": check,
    }
    return field(default=default, metadata=meta)


@dataclass(frozen=True)
class AssistantConfig:
    """The effective settings of one assistant."""

    profile: str = setting("default", "The named model profile to think with.")
    llm_model: str | None = setting(None, "Model name; None takes the profile's own.")
    max_context_tokens: int = setting(
        100_000, "The most of the model's window to use.", unit="tokens", low=1_000
    )
    max_reply_tokens: int = setting(
        800, "Room for one reply of the model.", unit="tokens", low=16, high=32_000
    )
    temperature: float | None = setting(
        None, "Sampling temperature; None takes the model's own.", low=0.0, high=2.0
    )
    turn_deadline: float = setting(
        20.0,
        "Time for one turn, over all its model calls; then the fallback line.",
        unit="s",
        low=0.5,
        high=600.0,
    )
    max_iterations: int = setting(6, "Model calls in one turn.", low=1, high=50)
    max_tool_calls: int = setting(8, "Tool calls taken from one reply.", low=1, high=50)
    tokens_per_day: int | None = setting(
        None, "Budget of tokens for one day (UTC); None is no limit.", unit="tokens", low=0
    )
    max_hops: int = setting(
        3, "How many answers in a row assistants may give one another.", low=0, high=50
    )
    conversation_timeout: float = setting(
        60.0,
        "How long after an exchange a speaker need not say the name again.",
        unit="s",
        low=0.0,
        high=3_600.0,
    )
    event_max_age: float = setting(
        300.0, "Words older than this are not answered any more.", unit="s", low=1.0
    )
    max_speech_chars: int = setting(
        1_000, "The longest line the character says.", unit="characters", low=20, high=6_000
    )
    max_heard_chars: int = setting(
        2_000, "How much of one line a model is shown.", unit="characters", low=100, high=20_000
    )
    tick_rate: float = setting(
        5.0, "Time between ticks while players are near.", unit="s", low=0.5, high=3_600.0
    )
    autonomous_calls_per_hour: int = setting(
        4, "How often it may act unasked while players are near; 0 is never.", low=0, high=3_600
    )
    autonomy_quiet: float = setting(
        30.0, "How long nobody must have spoken before it acts unasked.", unit="s", low=0.0
    )
    lore_tokens: int = setting(
        600, "Room in a prompt for pieces of lore; 0 is none.", unit="tokens", low=0, high=20_000
    )
    sleep_schedule: str | None = setting(
        None,
        "Its hours of sleep, such as 23:00-06:30, on the clock of sleep_clock; None is none.",
        check=read_schedule,
    )
    sleep_clock: str = setting(
        REAL,
        "What its hours go by. real: the game's time zone. game: the time of the game world.",
        choices=(REAL, GAME),
    )
    sleep_after_quiet: float = setting(
        120.0, "How long it must have been quiet before it falls asleep.", unit="s", low=0.0
    )
    sleep_after_long_quiet: float = setting(
        3_600.0,
        "How long after talk it takes a nap, with nobody near, to sort what it heard; 0 is never.",
        unit="s",
        low=0.0,
    )
    sleep_wake_within: float = setting(
        30.0,
        "How long who speaks to it may have to wait until it has sorted its memories.",
        unit="s",
        low=0.0,
        high=240.0,
    )
    sleep_on_request: str = setting(
        STAFF,
        "On whose word it may go to sleep: nobody's, that of builders and admins, or anybody's.",
        choices=(NOBODY, STAFF, ANYBODY),
    )
    tick_rate_sleep: float = setting(
        60.0, "How often is looked whether it should sleep or wake.", unit="s", low=5.0
    )
    compact_enabled: bool = setting(
        True,
        "Sum old talk up when the context fills; without it the oldest talk falls out of view.",
    )
    compact_sleep_threshold: float = setting(
        0.7, "Part of the window from which it compacts in its sleep.", low=0.1, high=1.0
    )
    compact_emergency_threshold: float = setting(
        0.8, "Part of the window from which it compacts at once.", low=0.1, high=1.0
    )
    compact_target: float = setting(
        0.45, "Part of the room for talk that may be full after a compaction.", low=0.05, high=0.9
    )
    compact_preserve_window: int = setting(
        20, "How many of the newest messages stay word for word.", low=0, high=10_000
    )
    compact_reserve_tokens: int | None = setting(
        None,
        "Room kept free for the reply; None is max_reply_tokens.",
        unit="tokens",
        low=0,
        high=100_000,
    )
    mask_threshold: float = setting(
        0.6, "Part of the window from which old results of tools are masked.", low=0.05, high=1.0
    )
    mask_keep_last: int = setting(
        3, "How many of the newest results of tools are never masked.", low=0, high=1_000
    )
    pre_compact_extraction_enabled: bool = setting(
        True, "Let it write facts into its journal before talk goes out of view."
    )
    pre_compact_max_iterations: int = setting(
        5, "Model calls for that, at most; at most 3 in an emergency.", low=1, high=20
    )
    pre_compact_prompt: str | None = setting(
        None, "What it is told then, in the place of the built-in words."
    )
    compact_model: str | None = setting(None, "Model that sums up; None takes the assistant's own.")
    compact_fallback_profile: str | None = setting(
        None, "Named profile whose model sums up where the assistant's own fails; None is none."
    )
    compact_prompt: str | None = setting(
        None, "Instructions for summing up, in the place of the built-in ones."
    )
    prune_enabled: bool = setting(
        True, "Put journal entries that faded into an archive in sleep; what it is about it keeps."
    )
    prune_floor: int = setting(
        500, "How many entries a journal keeps in any case.", low=0, high=1_000_000
    )
    prune_age_days: float = setting(
        14.0, "How old an entry must be before it may go.", unit="days", low=0.0
    )
    prune_importance: int = setting(
        4,
        "How much an entry that goes may have mattered at most, 1 to 10; 0 is none.",
        low=0,
        high=10,
    )
    prune_retention: float = setting(
        0.05,
        "How much may be left of an entry that goes: e^(-days/(1+recalls+importance/2)).",
        low=0.0,
        high=1.0,
    )
    archive_days: float = setting(
        90.0, "How long an entry that went can be brought back.", unit="days", low=0.0
    )
    reflection_threshold: int = setting(
        150,
        "How much new journal entries must matter together before it thinks them over in sleep; "
        "0 is never.",
        low=0,
        high=100_000,
    )
    share_memory: str = setting(
        OFF,
        "With whom it shares in sleep what it learnt openly, and who tells it: `faction`, `room`, "
        "`world`, or single ones such as `faction:guards`, with commas.",
        check=read_scopes,
    )
    share_delay: float = setting(
        3_600.0, "How long news takes from when it was learnt to the others.", unit="s", low=0.0
    )
    share_importance: int = setting(
        5, "How much an entry must matter to be told to others, 1 to 10.", low=1, high=10
    )
    goal_half_life: float = setting(
        7.0,
        "In which time half is left of a goal it set itself and left alone; at an eighth it is let "
        "go. Weightier ones last longer; 0 is for ever.",
        unit="days",
        low=0.0,
        high=36_500.0,
    )
    daily_plan: bool = setting(
        True, "Let it plan its day in sleep, so that it is at something when players are near."
    )
    pin_tokens: int = setting(
        300, "Room for what it keeps in mind for good.", unit="tokens", low=0, high=5_000
    )
    entity_tokens: int = setting(
        200,
        "Room in a prompt for what it knows of those present; 0 is none.",
        unit="tokens",
        low=0,
        high=5_000,
    )
    recall_tokens: int = setting(
        400,
        "Room in a prompt for what it calls to mind of talk that is out of view; 0 is none.",
        unit="tokens",
        low=0,
        high=20_000,
    )
    memory_tokens: int = setting(
        300,
        "Room in a prompt for memories of its journal and profiles; 0 is none.",
        unit="tokens",
        low=0,
        high=20_000,
    )
    filler_after: float = setting(
        2.0,
        "How long it thinks before it does something meanwhile, such as rubbing its chin; 0 is "
        "never.",
        unit="s",
        low=0.0,
        high=600.0,
    )
    discretion: str = setting(
        "strict",
        "strict: a whisper stays between its parties. trusting: it may be told on.",
        choices=("strict", "trusting"),
    )
    fallback_line: str | None = setting(
        None, "What the character says when no model answers in time; None takes the game's line."
    )

    def __post_init__(self) -> None:
        for item in fields(self):
            check_value(item.name, getattr(self, item.name))


HINTS = get_type_hints(AssistantConfig)
FIELDS = {item.name: item for item in fields(AssistantConfig)}


def known_setting(name: str) -> str:
    """Return ``name`` if there is such a setting; raises ConfigError with the list otherwise."""
    if name not in FIELDS:
        raise ConfigError(f"There is no setting '{name}'. There are: {', '.join(sorted(FIELDS))}.")
    return name


def check_value(name: str, value: object) -> None:
    """Raise ConfigError, in one sentence, where ``value`` does not fit the setting ``name``."""
    allowed = get_args(HINTS[name]) or (HINTS[name],)
    meta = FIELDS[name].metadata
    if value is None and type(None) in allowed:
        return
    kinds = tuple(kind for kind in allowed if kind is not type(None))
    if isinstance(value, bool) and bool not in kinds:
        raise ConfigError(f"{name} must be {describe_kind(kinds)}, not {brief(value)}.")
    if not isinstance(value, kinds) and not (float in kinds and isinstance(value, int)):
        raise ConfigError(f"{name} must be {describe_kind(kinds)}, not {brief(value)}.")
    if meta["choices"] and value not in meta["choices"]:
        raise ConfigError(f"{name} must be one of {', '.join(meta['choices'])}, not '{value}'.")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ConfigError(f"{name} must be a number that can be counted to, not {brief(value)}.")
    low, high = meta["low"], meta["high"]
    if low is not None and not value >= low:
        raise ConfigError(
            f"{name} must be at least {low:g}{spaced(meta['unit'])}, not {brief(value)}."
        )
    if high is not None and not value <= high:
        raise ConfigError(
            f"{name} must be at most {high:g}{spaced(meta['unit'])}, not {brief(value)}."
        )
    if meta["check"]:
        meta["check"](value)


def brief(value: object) -> str:
    """Whatever was found, for a sentence: no longer than a line."""
    try:
        return f"{value:g}" if isinstance(value, float) else f"{value!r:.80}"
    except ValueError:  # Python refuses to write out an integer of thousands of digits
        return "a number that is much too long"


def describe_kind(kinds: tuple[type, ...]) -> str:
    """Name a setting's type for a reader."""
    words = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
    return " or ".join(words[kind] for kind in kinds)


def spaced(unit: str) -> str:
    """The unit with a space before it, or nothing."""
    return f" {unit}" if unit else ""
