"""Every setting, its default and its effective value. Nothing is read at import."""

from evennia_ai.config.fields import FIELDS, HINTS, AssistantConfig, brief, known_setting
from evennia_ai.config.profiles import (
    ModelProfile,
    default_profiles,
    default_settings,
    resolve_profile,
    usable_window,
    window_known,
)
from evennia_ai.config.resolve import parse_value, resolve_config, resolve_lenient

__all__ = [
    "FIELDS",
    "HINTS",
    "AssistantConfig",
    "ModelProfile",
    "brief",
    "default_profiles",
    "default_settings",
    "known_setting",
    "parse_value",
    "resolve_config",
    "resolve_lenient",
    "resolve_profile",
    "usable_window",
    "window_known",
]
