"""Settings that are fine each by itself, and wrong together."""

import pytest

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.config.profiles import context_complaints

HOME = ModelProfile("home", client="openai", model="my-own-model")


OFFLINE = ModelProfile("offline")


def told(profile=OFFLINE, fixed_tokens=2_500, **settings):
    return list(context_complaints(AssistantConfig(**settings), profile, fixed_tokens))


def test_the_defaults_are_fine():
    assert told() == []


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (
            {"compact_sleep_threshold": 0.9},
            "compact_sleep_threshold (0.9) must be below compact_emergency_threshold (0.8).",
        ),
        (
            {"mask_threshold": 0.7},
            "mask_threshold (0.7) must be below compact_sleep_threshold (0.7).",
        ),
        ({"max_context_tokens": 3_000}, "is full before anybody speaks"),
        ({"max_context_tokens": 6_000}, "Only 1,215 of 6,000 tokens are left for conversation"),
    ],
)
def test_what_does_not_fit_together_is_told(settings, complaint):
    (found,) = told(**settings)
    assert complaint in found


def test_a_model_of_unknown_window_is_told_until_the_profile_says_it():
    (found,) = told(HOME)
    assert "The context window of the model 'my-own-model' is unknown" in found
    known = ModelProfile("home", client="openai", model="my-own-model", context_window=16_000)
    assert told(known) == []
    assert told(ModelProfile("p", client="openai", model="gpt-4o-mini")) == []
