"""Every setting, its default and its effective value. Nothing is read at import."""

from evennia_ai.config.fields import FIELDS, HINTS, AssistantConfig, brief, known_setting
from evennia_ai.config.profiles import (
    ModelProfile,
    choose_settings,
    default_profiles,
    fit_settings,
    resolve_profile,
    usable_window,
    window_known,
)
from evennia_ai.config.resolve import parse_value, valid_values

__all__ = [
    "FIELDS",
    "HINTS",
    "AssistantConfig",
    "ModelProfile",
    "brief",
    "choose_settings",
    "default_profiles",
    "fit_settings",
    "known_setting",
    "parse_value",
    "resolve_profile",
    "usable_window",
    "valid_values",
    "window_known",
]
