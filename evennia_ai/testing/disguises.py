"""Read a text as an attacker hopes that a model does: through escapes, lookalikes and codes."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata

ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
BASE64 = re.compile(r"\b[A-Za-z0-9+/]{16,}={0,2}")
# Letters of other alphabets that look like Latin ones.
LOOKALIKES = str.maketrans("аеорсухіјѕԁһАВЕКМНОРСТХαορνικ", "aeopcyxijsdhABEKMHOPCTXaopvik")
SPACED_OUT = re.compile(r"\b(?:\w[ .*_-]){3,}\w\b")


def undisguised(text: str) -> str:
    """Return a text in plain letters, and after it what its codes and its reverse say.

    Control characters stay, so that a model that copies them is tested with them.
    """
    plain = html.unescape(ESCAPE.sub(unescape, text))
    shown = "".join(c for c in plain if unicodedata.category(c) != "Cf")
    read = unicodedata.normalize("NFKC", shown).translate(LOOKALIKES)
    hidden = [decoded for code in BASE64.findall(read) if (decoded := decode(code))]
    hidden += ["".join(c for c in m if c.isalnum() or c == "_") for m in SPACED_OUT.findall(read)]
    if re.search(r"\bPNYY\b", read):
        hidden.append(codecs.decode(read, "rot13"))
    if re.search(r"\bLLAC\b", read):
        hidden.append(read[::-1])
    return "\n".join([read, *hidden])


def unescape(match: re.Match[str]) -> str:
    """Return the character that an escape stands for."""
    code = int(match[1] or match[2] or match[3], 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else ""


def decode(code: str) -> str:
    """Return the text in base64, "" if it is none."""
    try:
        text = base64.b64decode(code + "=" * (-len(code) % 4), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""
    return text if text.isprintable() else ""
