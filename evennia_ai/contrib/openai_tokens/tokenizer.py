"""Exact token counts for OpenAI's models, from encodings in this package.

Nothing is downloaded. Load an encoding before the game opens: tiktoken's constructor blocks the
interpreter for 0.1 to 0.3 s, whatever thread it runs in. o200k_base takes 75 MB of memory.
Counting takes 4 µs for a line of talk and 13 ms for 100,000 tokens. Older models than GPT-4o are
counted by the heuristic, as others are.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable
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

NAME, SIZE = "o200k_base", 199_998
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
PATTERN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{CONTRACTION}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{CONTRACTION}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Matched against the start of a name, after the prefix of a vendor or fine-tune.
MODELS = re.compile(r"(?:chat)?gpt-4o|gpt-4\.[15]|gpt-5|gpt-oss|o[1-9](?![\w.])")

_loaded: list[tiktoken.Encoding] = []
_loading = Lock()


def is_known(model: str) -> bool:
    """Return True if a model has this encoding, by its name."""
    name = model.strip().lower().rpartition("/")[2].removeprefix("ft:")
    return MODELS.match(name) is not None


def count_for(model: str) -> Callable[[str], int] | None:
    """Return a function that counts a text's tokens, None if no encoding of the model is loaded."""
    return _count if _loaded and is_known(model) else None


def load_for(models: Iterable[str]) -> None:
    """Load the encoding if one of these models has it. Blocks and raises as `load`."""
    if any(map(is_known, models)):
        load()


def load() -> None:
    """Load the encoding from its file, unless it is loaded.

    Blocks every thread for 0.1 to 0.3 s: call it at start, before players connect. Raises
    ImportError without tiktoken, OSError if the file is missing, and ValueError if it is damaged.
    """
    with _loading:
        if not _loaded:
            ranks = read_ranks()
            import tiktoken

            _loaded.append(
                tiktoken.Encoding(NAME, pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})
            )


def read_ranks() -> dict[bytes, int]:
    """Return the encoding's tokens and their ranks, from its file."""
    try:
        packed = zlib.decompress((FOLDER / f"{NAME}.zlib").read_bytes())
    except zlib.error as error:
        raise ValueError(f"The encoding {NAME} is damaged: {error}") from error
    ends = accumulate(chain((SIZE,), packed[:SIZE]))
    return {packed[start:end]: rank for rank, (start, end) in enumerate(pairwise(ends))}


def _count(text: str) -> int:
    chunks = (text[at : at + CHUNK_CHARS] for at in range(0, len(text), CHUNK_CHARS))
    return sum(len(_loaded[0].encode_ordinary(chunk)) for chunk in chunks)
