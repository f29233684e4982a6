"""Files of cards and lorebooks, which anybody may have written: bytes in, plain data out, and back.

Nothing is unpacked to a disk, run, or fetched. What fits no format or no bound ends in ConfigError
with a sentence.
"""

import base64
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evennia_ai.errors import ConfigError
from evennia_ai.policy.sanitize import storable

MOST_FILE, MOST_JSON = 32 * 2**20, 4 * 2**20  # bytes
MOST_DEPTH, MOST_VALUES = 40, 200_000
MOST_PACKED = 2_000  # files in a zip
MOST_NUMBER = 10**15
PNG, ZIP, ZIP_ENTRY = b"\x89PNG\r\n\x1a\n", b"PK\x03\x04", b"PK\x01\x02"
# By age: a reader of the last one prefers it (specification of V3).
CHUNKS = (b"chara", b"ccv3")
PACKED = "card.json"
NO_CARD = "This file holds no character card and no lorebook"
PLAIN_SIZE = (256, 384)  # pixels of the picture of a card that has none


def read_card_file(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; raises ConfigError and OSError."""
    if not path.is_file() or path.stat().st_size > MOST_FILE:
        raise ConfigError(f"{path.name} is no file, or is larger than {MOST_FILE >> 20} MiB.")
    return parse_card_file(path.read_bytes())


def parse_card_file(raw: bytes) -> dict[str, Any]:
    """Return the JSON object in a picture, a CHARX zip or a JSON text; raises ConfigError."""
    if raw.startswith(PNG):
        return parse_json(text_of_picture(raw))
    return parse_json(text_of_zip(raw) if raw.startswith(ZIP) else raw)


def parse_json(raw: bytes) -> dict[str, Any]:
    """Return a JSON object that is bounded plain data; raises ConfigError."""
    if len(raw) > MOST_JSON:
        raise ConfigError(f"The card is larger than {MOST_JSON >> 20} MiB of text.")
    try:
        value = json.loads(raw.decode("utf-8-sig"))
        if not isinstance(value, dict):
            raise ConfigError(f"{NO_CARD}.")
        ensure_bounded(value)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{NO_CARD}: it is no JSON.") from error
    return value


def ensure_bounded(value: object) -> None:
    """Raise ConfigError for data that is nested too deeply, too much, or no text."""
    left, seen = [(value, 0)], 0
    while left:
        item, depth = left.pop()
        seen += 1
        if depth > MOST_DEPTH or seen > MOST_VALUES:
            raise ConfigError(
                f"The card is deeper than {MOST_DEPTH}, or has more than {MOST_VALUES:,} parts."
            )
        if isinstance(item, dict):
            left += [(part, depth + 1) for pair in item.items() for part in pair]
        elif isinstance(item, list):
            left += [(part, depth + 1) for part in item]
        elif isinstance(item, str):
            if (not item.isascii() or "\0" in item) and storable(item) != item:
                raise ConfigError("The card holds characters that are no text.")
        elif isinstance(item, int | float) and not abs(item) <= MOST_NUMBER:  # nor is NaN
            raise ConfigError("The card holds a number that is too large.")


def text_of_zip(raw: bytes) -> bytes:
    """Return ``card.json`` of a CHARX file; nothing else in it is read. Raises ConfigError."""
    if raw.count(ZIP_ENTRY) > MOST_PACKED:
        raise ConfigError(f"The file packs more than {MOST_PACKED:,} files.")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed, packed.open(PACKED) as file:
            return file.read(MOST_JSON + 1)
    except KeyError as error:
        raise ConfigError(f"{NO_CARD}: a CHARX file has a {PACKED}.") from error
    # A damaged or encrypted file raises any of a dozen errors of the decompressors.
    except Exception as error:
        raise ConfigError(f"{NO_CARD}: its zip is damaged or encrypted.") from error


def chunks_of(raw: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the kind and the content of each chunk of a PNG picture; raises ConfigError."""
    at = len(PNG)
    while at < len(raw):
        size, kind = struct.unpack_from(">I4s", raw, at) if at + 12 <= len(raw) else (len(raw), b"")
        end = at + 12 + size
        body, check = raw[at + 4 : end - 4], raw[end - 4 : end]
        if end > len(raw) or zlib.crc32(body) != int.from_bytes(check):
            raise ConfigError("The picture is damaged or cut off.")
        yield kind, raw[at + 8 : end - 4]
        if kind == b"IEND":
            return
        at = end


def text_of_picture(raw: bytes) -> bytes:
    """Return the card's text in a picture; raises ConfigError."""
    texts: dict[bytes, bytes] = {}
    for kind, content in chunks_of(raw):
        name, _, text = content.partition(b"\0")
        if kind == b"tEXt" and name.lower() in CHUNKS:
            texts.setdefault(name.lower(), text)
    if not texts:
        raise ConfigError(f"{NO_CARD}: the picture has no text chunk 'chara' or 'ccv3'.")
    try:
        return base64.b64decode(texts[max(texts, key=CHUNKS.index)] + b"==")  # some leave them out
    except ValueError as error:
        raise ConfigError(f"{NO_CARD}: the picture's text is no base64.") from error


def chunk(kind: bytes, content: bytes) -> bytes:
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


def plain_picture() -> bytes:
    """Return a grey picture."""
    width, height = PLAIN_SIZE
    rows = zlib.compress((b"\0" + b"\x80" * width) * height, 9)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return PNG + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def picture_with(texts: dict[bytes, bytes], picture: bytes) -> bytes:
    """Return a picture with these texts in place of the card in it; raises ConfigError."""
    if not picture.startswith(PNG):
        raise ConfigError("The picture of a card must be a PNG file.")
    new = [(b"tEXt", name + b"\0" + base64.b64encode(text)) for name, text in texts.items()]
    body = []
    for kind, content in chunks_of(picture):
        body += new if kind == b"IEND" else []
        if kind != b"tEXt" or content.partition(b"\0")[0].lower() not in CHUNKS:
            body.append((kind, content))
    return PNG + b"".join(chunk(*item) for item in body)


def as_json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def card_file(kind: str, v2: object, v3: object | None, picture: bytes | None) -> bytes:
    """Return a card as a file; raises ConfigError.

    Args:
        kind: ``.json``, ``.png`` or ``.charx``, the ending of the file's name.
        v2: the card as V2 writes it.
        v3: the card as V3 writes it, None for a card of an earlier version.
        picture: a PNG picture for ``.png``, None for a plain one.
    """
    newest = v2 if v3 is None else v3
    if kind == ".json":
        return as_json(newest)
    if kind == ".png":
        texts = {name: as_json(card) for name, card in zip(CHUNKS, (v2, v3), strict=True) if card}
        return picture_with(texts, plain_picture() if picture is None else picture)
    if kind == ".charx" and v3 is not None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr(PACKED, as_json(v3))
        return packed.getvalue()
    raise ConfigError("A card's file ends in .json or .png, and that of a card of V3 in .charx.")
