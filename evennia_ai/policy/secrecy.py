"""Keys and addresses in texts that people read: errors, logs and tables.

This module uses the standard library only: the demo imports it before anything is installed.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

MASK = "***"
LEAST_KEY_CHARS = 8  # a shorter key is part of ordinary words, and protects nothing
UNREADABLE = "an unreadable address"

KEY_LIKE = re.compile(r"\b(?:sk|pk|key|gsk|xai)-[\w*.-]{6,}", re.ASCII)
# It begins with the first letter at a word's beginning; ``lead`` is what stands before that.
ADDRESS = re.compile(
    r"(?<![\w+.-])(?P<lead>(?:[+.-]|\d[a-z0-9]*+)*+)(?P<address>[a-z][a-z0-9+.-]*+://\S+)",
    re.IGNORECASE | re.ASCII,
)
# The key begins a word. In raw JSON the letter before it may belong to an escape such as \n.
BEFORE = r"(?:(?<!\w)|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4}))"


def mask_key(text: str, key: str, least_chars: int = LEAST_KEY_CHARS) -> str:
    """Return a text with each whole occurrence of a key masked."""
    # Nothing is masked inside a longer word, nor for a key of fewer than ``least_chars``
    # characters. A slash in the key may be escaped, as some servers write JSON.
    if len(key) < least_chars:
        return text
    whole = re.escape(key).replace("/", r"\\?/")
    return re.sub(rf"{BEFORE}{whole}(?!\w)", MASK, text, flags=re.ASCII)


def hide_secrets(text: str, key: str = "") -> str:
    """Return a text for people: the key and what looks like one masked, addresses cleaned."""
    cleaned = hide_in_addresses(mask_key(text, key))
    return KEY_LIKE.sub(MASK, cleaned)


def hide_in_addresses(text: str) -> str:
    """Return a text with each address in it as `shown_address` gives it."""
    return ADDRESS.sub(lambda found: found["lead"] + shown_address(found["address"]), text)


def shown_address(address: str) -> str:
    """Return an address without user, password, query and fragment."""
    # Returns `UNREADABLE` if its parts cannot be told apart, since any of them may be a password.
    try:
        parts = urlsplit(address)
        is_clear = bool(parts.scheme and parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return UNREADABLE
    behind_the_host = f"{parts.path}{parts.query}{parts.fragment}"
    if not is_clear or "@" in behind_the_host:  # a password with a slash ends the host too early
        return UNREADABLE
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")
