"""Where a profile's requests go, and with which key."""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote_to_bytes, urlsplit, urlunsplit

from evennia_ai.config import ModelProfile
from evennia_ai.config.profiles import OPENAI_ADDRESS, missing_model
from evennia_ai.errors import ProviderMisconfigured
from evennia_ai.policy.redaction import mask_key, shown_address

PAGES = ("/chat/completions", "/completions", "/models")  # of an endpoint
AROUND = " \t\r\n\xa0\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\"'`<>"  # copied with an address


@dataclass(frozen=True)
class Endpoint:
    """An address and its key, which is empty for an endpoint without one."""

    base_url: str = field(repr=False)
    key: str = field(repr=False)
    query: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

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
    return read_address((profile.base_url or OPENAI_ADDRESS).strip(AROUND), key, profile)


def read_address(address: str, key: str, profile: ModelProfile) -> Endpoint:
    """Return the endpoint at an address; raises ProviderMisconfigured if it is none of a server.

    The address may have a user and password, a query, and the path of chat completions.
    """
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ProviderMisconfigured(
            f"The base_url of the profile '{profile.name}' must look like "
            "http://localhost:11434/v1 or https://api.openai.com/v1."
        )
    user, _, host = parts.netloc.rpartition("@")
    path = "".join(f"/{name}" for name in parts.path.split("/") if name)
    path = next((path.removesuffix(page) for page in PAGES if path.endswith(page)), path)
    name, _, password = user.partition(":")
    login = b64encode(unquote_to_bytes(name) + b":" + unquote_to_bytes(password)).decode()
    headers = (("Authorization", f"Basic {login}"),) if user else ()  # RFC 7617
    base_url = urlunsplit((parts.scheme, host, path, "", ""))
    return Endpoint(base_url, key, tuple(parse_qsl(parts.query, keep_blank_values=True)), headers)
