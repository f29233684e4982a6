"""Every setting, its default and its effective value. Nothing is read at import."""

from evennia_ai.config.fields import FIELDS, HINTS, AssistantConfig, brief, known_setting
from evennia_ai.config.profiles import (
    ModelProfile,
    default_profiles,
    fit_deadline,
    resolve_profile,
    setting_layers,
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
    "fit_deadline",
    "known_setting",
    "parse_value",
    "resolve_config",
    "resolve_lenient",
    "resolve_profile",
    "setting_layers",
    "usable_window",
    "window_known",
]
