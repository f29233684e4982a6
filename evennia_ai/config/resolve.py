"""Values of settings: from a builder's text, and from layers of stored values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, get_args

from pydantic import ValidationError

from evennia_ai.config.fields import (
    FIELDS,
    HINTS,
    AssistantConfig,
    brief,
    check_value,
    known_setting,
)
from evennia_ai.config.profiles import ModelProfile, usable_window, window_known
from evennia_ai.errors import ConfigError
from evennia_ai.policy.compaction.plan import CompactionLimits
from evennia_ai.policy.limits.people import PersonLimits

TRUE_WORDS = ("true", "yes", "on", "1")
FALSE_WORDS = ("false", "no", "off", "0")


def parse_value(name: str, text: str) -> object:
    """Return a builder's text as the setting's type, checked; raises ConfigError."""
    known_setting(name)
    allowed = get_args(HINTS[name]) or (HINTS[name],)
    text = text.strip()
    value: object = text
    if text.lower() == "none" and type(None) in allowed:
        return None
    try:
        if int in allowed:
            value = int(text)
        elif float in allowed:
            value = float(text)
        elif bool in allowed and text.lower() in TRUE_WORDS + FALSE_WORDS:
            value = text.lower() in TRUE_WORDS
    except ValueError:
        pass
    check_value(name, value)
    return value


def valid_values(*layers: Mapping[str, object]) -> tuple[dict[str, Any], list[str]]:
    """Merge layers of settings, lowest first; return the values that are set and valid.

    None and unknown names are left out. The list has a sentence for each invalid value.
    """
    merged: dict[str, Any] = {}
    complaints: list[str] = []
    for name, value in (item for layer in layers for item in layer.items()):
        if name not in FIELDS or value is None:
            continue
        try:
            check_value(name, value)
            merged[name] = value
        except ConfigError as error:
            complaints.append(str(error))
    return merged, complaints


def read_switch(value: Any) -> bool:
    """Return a setting that is on or off; raises ConfigError."""
    if not isinstance(value, bool):
        raise ConfigError(f"it must be True or False, not {value!r}.")
    return value


def source_of(name: str, layers: Mapping[str, Mapping[str, object]]) -> str:
    """Return the name of the last layer that sets a valid value, "" if none does."""
    return next(
        (key for key, layer in [*layers.items()][::-1] if name in valid_values(layer)[0]), ""
    )


THRESHOLDS = ("mask_threshold", "compact_sleep_threshold", "compact_emergency_threshold")


def context_complaints(
    config: AssistantConfig, profile: ModelProfile, fixed_tokens: int
) -> Iterator[str]:
    """Yield one sentence for each problem; ``fixed_tokens`` are those outside the conversation."""
    yield from out_of_order(config)
    if profile.client == "openai" and profile.model and window_known(profile).tokens is None:
        yield (
            f"The context window of the model '{profile.model}' is unknown; "
            f"{config.max_context_tokens:,} tokens (max_context_tokens) are assumed. Set "
            f"context_window in the profile '{profile.name}'."
        )
    yield from too_little_room(config, usable_window(config, profile), fixed_tokens)


def out_of_order(config: AssistantConfig) -> Iterator[str]:
    """Yield the thresholds that are not in order: masking, sleep, emergency."""
    for earlier, later in pairwise(THRESHOLDS):
        low, high = getattr(config, earlier), getattr(config, later)
        if low >= high:
            yield f"{earlier} ({low:g}) must be below {later} ({high:g}). Change one of them."


def too_little_room(config: AssistantConfig, window: int, fixed_tokens: int) -> Iterator[str]:
    """Yield a complaint if the window has too little space for conversation."""
    limits = CompactionLimits(
        window, fixed_tokens, config.max_reply_tokens, config.compact_target, 0
    )
    if fixed_tokens + config.max_reply_tokens >= window:
        yield (
            f"The context window of {window:,} tokens is full before anybody speaks: tools, "
            f"persona and the reply take {fixed_tokens + config.max_reply_tokens:,}. Raise "
            "max_context_tokens or the profile's context_window, or shorten the persona."
        )
    elif limits.is_cramped:
        yield (
            f"Only {limits.target_tokens:,} of {window:,} tokens are left for conversation after "
            "a compaction, so it will compact again and again. Raise max_context_tokens, the "
            "profile's context_window, or compact_target."
        )


def read_person_limits(value: object) -> PersonLimits:
    """Return the limits; raises ConfigError for an unknown name or a value out of its range."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"it must be a dictionary, not {brief(value)}.")
    try:
        return PersonLimits(**value)
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg'].lower()}" for one in error.errors()
        )
        known = ", ".join(PersonLimits.model_fields)
        raise ConfigError(f"{wrong}. The limits are: {known}.") from error
