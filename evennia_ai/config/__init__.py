"""Every setting, its default and its effective value. Nothing is read at import."""

from evennia_ai.config.declared import FIELDS as FIELDS
from evennia_ai.config.declared import HINTS as HINTS
from evennia_ai.config.declared import brief as brief
from evennia_ai.config.declared import declare_settings as declare_settings
from evennia_ai.config.declared import known_setting as known_setting
from evennia_ai.config.declared import setting as setting
from evennia_ai.config.fields import ALWAYS_ON as ALWAYS_ON
from evennia_ai.config.fields import AssistantConfig as AssistantConfig
from evennia_ai.config.fields import read_families as read_families
from evennia_ai.config.profiles import ModelProfile as ModelProfile
from evennia_ai.config.profiles import choose_settings as choose_settings
from evennia_ai.config.profiles import default_profiles as default_profiles
from evennia_ai.config.profiles import fit_settings as fit_settings
from evennia_ai.config.profiles import resolve_profile as resolve_profile
from evennia_ai.config.profiles import usable_window as usable_window
from evennia_ai.config.profiles import window_known as window_known
from evennia_ai.config.resolve import parse_value as parse_value
from evennia_ai.config.resolve import source_of as source_of
from evennia_ai.config.resolve import valid_values as valid_values
