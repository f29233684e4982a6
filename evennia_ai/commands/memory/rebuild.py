"""Rebuild a character's index and long-term memory from its journal."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.commands.common import UsageError
from evennia_ai.policy.sanitize import clean_output
from evennia_ai.ports import GameScript
from evennia_ai.sleep.consolidation import rebuild

PROGRESS_EVERY = 500  # entries


@inlineCallbacks
def rebuild_memory(
    script: GameScript, tell: Callable[[str], Any]
) -> Generator[Deferred[Any], Any, None]:
    """Rebuild both in time slices, and call ``tell`` with lines about the progress.

    Fires when it is done. Fails with UsageError if a rebuild is running already, with
    StoreUnavailable and with TurnAborted.
    """
    name = clean_output(script.character_name, 60)
    if script.ndb.rebuilding:
        raise UsageError(f"{name}'s memory is being rebuilt already.")
    script.ndb.rebuilding = True
    reported = 0

    def report(done: int, left: int) -> None:
        nonlocal reported
        if done - reported >= PROGRESS_EVERY:
            reported = done
            tell(f"{name}: {done:,} entries done, {left:,} to go ...")

    try:
        tell(f"Rebuilding {name}'s memory from its journal ...")
        services = script.services
        services.memory_indices.drop(script)
        yield script.memories.prepare(services)
        tell(f"The index is done, with {len(script.memories):,} memories.")
        result = yield rebuild(script, report)
    finally:
        script.ndb.rebuilding = False
    tell(describe(result))


def describe(result: dict[str, Any]) -> str:
    """Return the result for the long-term memory as a sentence."""
    if result.get("skipped"):
        return f"Long-term memory is not rebuilt: {clean_output(result['reason'], 300)}"
    if not result["success"]:
        error = clean_output(result["error"], 300)
        return f"Long-term memory is not complete: {error} The next sleep pass continues."
    trouble = f"; {result['failed']:,} could not be stored" if result["failed"] else ""
    return f"Done: {result['stored']:,} entries are in long-term memory{trouble}."
