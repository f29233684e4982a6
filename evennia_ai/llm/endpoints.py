"""Where a profile's requests go and with which key, checked without a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import missing_model
from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.policy.secrecy import mask_key, shown_address

OPENAI_ADDRESS = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Endpoint:
    """An address and its key, which is empty for an endpoint without one."""

    base_url: str = field(repr=False)  # with user and password, if the profile has them
    key: str = field(repr=False)

    @property
    def address(self) -> str:
        """Return the address as an admin may read it."""
        return mask_key(shown_address(self.base_url), self.key)


def find_endpoint(profile: ModelProfile, environ: Mapping[str, str]) -> Endpoint:
    """Return a profile's endpoint; raises ProviderMisconfigured if a part of it is unusable."""
    key = environ.get(profile.api_key_env, "").strip() if profile.api_key_env else ""
    if profile.api_key_env and not profile.api_key_env.isidentifier():
        raise ProviderMisconfigured(
            f"The api_key_env of the profile '{profile.name}' must be the name of an environment "
            "variable, not the key itself."
        )
    if profile.api_key_env and not key:
        raise ProviderMisconfigured(
            f"The profile '{profile.name}' needs the environment variable {profile.api_key_env}."
        )
    if not (key.isascii() and key.isprintable()):
        raise ProviderMisconfigured(
            f"The environment variable {profile.api_key_env} holds characters no key can have."
        )
    if not profile.model:
        raise ProviderMisconfigured(missing_model(profile.name))
    if not profile.base_url and not key:
        raise ProviderMisconfigured(
            f"The profile '{profile.name}' has neither a base_url nor an api_key_env."
        )
    base_url = profile.base_url or OPENAI_ADDRESS
    check_address(base_url, profile)
    return Endpoint(base_url, key)


def check_address(base_url: str, profile: ModelProfile) -> None:
    """Raise ProviderMisconfigured unless ``base_url`` is the address of a web server."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ProviderMisconfigured(
            f"The base_url of the profile '{profile.name}' must look like "
            "http://localhost:11434/v1 or https://api.openai.com/v1."
        )
