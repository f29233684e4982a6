"""How a word may stand in a file, for tests that look for what must not be there."""

import base64
from collections.abc import Iterator


def forms(word: str) -> Iterator[bytes]:
    """Yield a word plain, in base64 as Evennia stores Attributes, and so once more, as records."""
    yield word.encode()
    for encoded in in_base64(word.encode()):
        yield encoded
        yield from in_base64(encoded)


def in_base64(raw: bytes) -> Iterator[bytes]:
    """Yield what bytes are in base64, wherever in a text they stand."""
    for shift in range(3):
        encoded = base64.b64encode(b"x" * shift + raw + b"xxx")
        yield encoded[-(-shift * 4 // 3) : (shift + len(raw)) * 4 // 3]
