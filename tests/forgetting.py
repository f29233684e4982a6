"""Forgetting in steps, as tests count them."""

from collections.abc import Iterator

from evennia_ai.store.forget import Forgetting

_running: dict[str, Iterator[int]] = {}


def forget_chunk(dbref: str) -> int:
    """Delete some rows or records of somebody; return how many, 0 when none is left."""
    running = _running.pop(dbref, None) or Forgetting([dbref]).steps()
    for gone in running:
        if gone:
            _running[dbref] = running
            return gone
    return 0
