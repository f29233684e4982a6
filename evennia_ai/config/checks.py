"""Checks of settings that are valid alone but do not work together."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from evennia_ai.config.fields import AssistantConfig
from evennia_ai.config.profiles import ModelProfile, usable_window, window_known
from evennia_ai.policy.compaction.plan import CompactionLimits
from evennia_ai.policy.limits.money import FREE

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


def money_complaint(own: Mapping[str, Any], profile: ModelProfile) -> str:
    """Return why a budget in money among an assistant's own settings limits nothing, "" if not."""
    if "money_per_day" not in own or profile.price not in (None, FREE):
        return ""
    why = f"the calls of the profile '{profile.name}' have no price"
    return f"money_per_day limits nothing: {why}. Set its prices, or use tokens_per_day."


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
