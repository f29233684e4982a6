"""How a word may stand in a file, for tests that look for what must not be there."""

import base64
from collections.abc import Iterator


def forms(word: str) -> Iterator[bytes]:
    """Yield a word plain, and in base64 as Attributes are stored, wherever it begins in a text."""
    raw = word.encode()
    yield raw
    for shift in range(3):
        encoded = base64.b64encode(b"x" * shift + raw + b"xxx")
        yield encoded[-(-shift * 4 // 3) : (shift + len(raw)) * 4 // 3]
