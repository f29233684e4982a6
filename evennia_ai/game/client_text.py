"""What clients show of assistants: safe words and links."""

import os
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from evennia_ai.config.profiles import default_profiles, merge_profiles
from evennia_ai.errors import ConfigError
from evennia_ai.game.settings import game_setting
from evennia_ai.policy.sanitize import ANY_HOST, clean_heard, inert
from evennia_ai.store.names import own_name

NAME_CHARS = 60
ADDRESS_CHARS = 200


def link_hosts() -> Collection[str]:
    """Return the hosts to which addresses stay links; none if the setting is wrong."""
    try:
        return read_hosts(game_setting("LINK_HOSTS", ()))
    except ConfigError:  # `aistatus` shows it
        return ()


def read_hosts(value: Any) -> tuple[str, ...]:
    """Return the setting ``LINK_HOSTS``; raises ConfigError if it is no list of host names."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f'must be a list of host names, such as ["example.org"], not {value!r}')
    return tuple(host.strip().lower().removeprefix("*.") for host in value if host.strip())


def as_shown(words: str, hosts: Collection[str] | None = None) -> str:
    """Return words, already one line, escaped for a client; ``hosts`` replaces the setting."""
    parses = getattr(settings, "FUNCPARSER_PARSE_OUTGOING_MESSAGES_ENABLED", False)
    return inert(words, link_hosts() if hosts is None else hosts, functions=bool(parses))


def clean_output(text: str, limit: int = 6_000) -> str:
    """Return any text as one escaped line for a client; ``limit`` counts what a person sees."""
    return as_shown(clean_heard(text, limit))


def clean_error(text: str, limit: int = 6_000) -> str:
    """Return an error for staff, in which addresses of the game's own endpoints can be copied."""
    try:
        profiles = merge_profiles(default_profiles(os.environ), game_setting("PROFILES", {}))
        own = [urlsplit(str(entries.get("base_url"))).hostname for entries in profiles.values()]
    except (ConfigError, ValueError):  # `aistatus` shows it
        own = []
    return as_shown(clean_heard(text, limit), (*link_hosts(), *filter(None, own)))


def clean_address(address: str) -> str:
    """Return an address of the game's own settings, which staff may copy."""
    return as_shown(clean_heard(address, ADDRESS_CHARS), hosts=(ANY_HOST,))


def shown_name(obj: Any) -> str:
    """Return the name of an object, or of an assistant's character, escaped for a client."""
    return clean_output(getattr(obj, "character_name", "") or own_name(obj), NAME_CHARS)
