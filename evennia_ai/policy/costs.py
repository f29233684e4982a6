"""What a row of model calls has cost together. Pure."""

from __future__ import annotations

from collections.abc import Mapping

CALLS, TOKENS_IN, TOKENS_OUT, MS = "calls", "tokens_in", "tokens_out", "ms"
NOTHING: Mapping[str, int] = {CALLS: 0, TOKENS_IN: 0, TOKENS_OUT: 0, MS: 0}


def add_call(
    cost: Mapping[str, int], tokens_in: int, tokens_out: int, duration_ms: int
) -> dict[str, int]:
    """The cost with one call more, whether it came to anything or not."""
    more = {CALLS: 1, TOKENS_IN: tokens_in, TOKENS_OUT: tokens_out, MS: duration_ms}
    return {name: cost.get(name, 0) + more[name] for name in NOTHING}
