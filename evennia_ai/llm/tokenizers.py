"""Exact token counts for OpenAI's models, from encodings in this package.

Nothing is downloaded. Load an encoding before the game opens: tiktoken's constructor blocks the
interpreter for 0.1 to 0.3 s, whatever thread it runs in. o200k_base takes 75 MB of memory,
cl100k_base 30 MB. Counting takes 4 µs for a line of talk and 13 ms for 100,000 tokens.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from itertools import accumulate, chain, pairwise
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

FOLDER = Path(__file__).parent / "encodings"
# tiktoken takes seconds for a word of millions of letters, and a million spaces exhaust its stack.
# Each cut adds one token at most.
CHUNK_CHARS = 4_000

O200K, CL100K = "o200k_base", "cl100k_base"
SIZES = {O200K: 199_998, CL100K: 100_256}
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
PIECES = {
    O200K: (
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTION}",
        rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ),
    CL100K: (
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    ),
}
PATTERNS = {name: "|".join(pieces) for name, pieces in PIECES.items()}

# Matched against the start of a name, after the prefix of a vendor or fine-tune; first match wins.
MODELS = (
    (re.compile(r"(?:chat)?gpt-4o|gpt-4\.[15]|gpt-5|gpt-oss|o[1-9](?![\w.])"), O200K),
    (re.compile(r"gpt-4(?![\w.])|gpt-3\.?5"), CL100K),
)

_encodings: dict[str, tiktoken.Encoding] = {}
_loading = Lock()


def encoding_for(model: str) -> str | None:
    """Return the encoding of a model by its name; None if it is not known."""
    name = model.strip().lower().rpartition("/")[2].removeprefix("ft:")
    return next((encoding for pattern, encoding in MODELS if pattern.match(name)), None)


def count_for(model: str) -> Callable[[str], int] | None:
    """Return a function that counts a text's tokens, None if no encoding of the model is loaded."""
    encoding = _encodings.get(encoding_for(model) or "")
    return None if encoding is None else _counter(encoding)


@lru_cache  # so that the counts of the same counter can be remembered
def _counter(encoding: tiktoken.Encoding) -> Callable[[str], int]:
    return partial(_count, encoding)


def load_for(models: Iterable[str]) -> tuple[str, ...]:
    """Load the encodings of these models; return their names. Blocks as `load`."""
    names = sorted({name for name in map(encoding_for, models) if name})
    for name in names:
        load(name)
    return tuple(names)


def load(name: str) -> None:
    """Load one encoding from its file, unless it is loaded.

    Blocks every thread for 0.1 to 0.3 s: call it at start, before players connect. Raises KeyError
    if this package has no such encoding, ImportError without tiktoken, OSError if the file is
    missing, and ValueError if it is damaged.
    """
    with _loading:
        if name not in _encodings:
            ranks = read_ranks(name)
            import tiktoken

            _encodings[name] = tiktoken.Encoding(
                name, pat_str=PATTERNS[name], mergeable_ranks=ranks, special_tokens={}
            )


def read_ranks(name: str) -> dict[bytes, int]:
    """Return an encoding's tokens and their ranks, from its file."""
    size = SIZES[name]
    try:
        packed = zlib.decompress((FOLDER / f"{name}.zlib").read_bytes())
    except zlib.error as error:
        raise ValueError(f"The encoding {name} is damaged: {error}") from error
    ends = accumulate(chain((size,), packed[:size]))
    return {packed[start:end]: rank for rank, (start, end) in enumerate(pairwise(ends))}


def _count(encoding: tiktoken.Encoding, text: str) -> int:
    if len(text) <= CHUNK_CHARS:
        return len(encoding.encode_ordinary(text))
    chunks = (text[at : at + CHUNK_CHARS] for at in range(0, len(text), CHUNK_CHARS))
    return sum(len(encoding.encode_ordinary(chunk)) for chunk in chunks)
