"""What is wrong with settings that are each fine by themselves: thresholds, windows, room."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from evennia_ai.config.fields import AssistantConfig
from evennia_ai.config.profiles import ModelProfile, usable_window, window_known
from evennia_ai.policy.compaction.plan import CompactionLimits

THRESHOLDS = ("mask_threshold", "compact_sleep_threshold", "compact_emergency_threshold")


def context_complaints(
    config: AssistantConfig, profile: ModelProfile, fixed_tokens: int
) -> Iterator[str]:
    """One sentence for each thing that will not work as it is set; the assistant answers all the
    same.

    Args:
        config: the effective settings.
        profile: the model profile in force.
        fixed_tokens: what every request holds beside the conversation.
    """
    yield from out_of_order(config)
    model = config.llm_model or profile.model
    if profile.client == "openai" and model and window_known(config, profile).tokens is None:
        yield (
            f"How much the model '{model}' can read is not known; {config.max_context_tokens:,} "
            f"tokens (max_context_tokens) are taken for it. Say it: context_window in the profile "
            f"'{profile.name}'."
        )
    yield from too_little_room(config, usable_window(config, profile), fixed_tokens)


def out_of_order(config: AssistantConfig) -> Iterator[str]:
    """Masking should come before sleep, and sleep before an emergency."""
    for earlier, later in pairwise(THRESHOLDS):
        low, high = getattr(config, earlier), getattr(config, later)
        if low >= high:
            yield f"{earlier} ({low:g}) must be below {later} ({high:g})."


def too_little_room(config: AssistantConfig, window: int, fixed_tokens: int) -> Iterator[str]:
    """A window that the fixed part nearly fills leaves no room for talk."""
    limits = CompactionLimits(
        window, fixed_tokens, config.max_reply_tokens, config.compact_target, 0
    )
    if fixed_tokens + config.max_reply_tokens >= window:
        yield (
            f"The window of {window:,} tokens is full before anybody has spoken: tools, persona "
            f"and the reply take {fixed_tokens + config.max_reply_tokens:,}. Give it more "
            "(max_context_tokens, context_window), or a shorter persona."
        )
    elif limits.is_cramped:
        yield (
            f"Only {limits.target_tokens:,} of {window:,} tokens are left for talk after a "
            "compaction, so that it will compact again and again. Give it a larger window, or "
            "raise compact_target."
        )
