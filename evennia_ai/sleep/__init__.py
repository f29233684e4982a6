"""Asleep: what an assistant does with what it has been through. This file is the order of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred
from twisted.logger import Logger

from evennia_ai.errors import TurnAborted
from evennia_ai.sleep.compaction import compact_conversation_history
from evennia_ai.sleep.extraction import run_pre_compaction_extraction

log = Logger()

Step = Callable[[Any, Any], Any]
NOT_BUILT: Mapping[str, Any] = {"skipped": True, "reason": "not built"}


def not_built(script: Any, character: Any) -> dict[str, Any]:
    """The place of a step that memory will fill."""
    return dict(NOT_BUILT)


STEPS: tuple[tuple[str, Step], ...] = (
    ("memory_links", not_built),
    ("entity_consolidation", not_built),
    ("orphaned_links", not_built),
    ("episodic_prune", not_built),
    ("stale_conversations", not_built),
    ("pre_compaction_extraction", run_pre_compaction_extraction),
    ("context_compaction", compact_conversation_history),
)


@inlineCallbacks
def run_sleep_tick(
    script: Any, character: Any, steps: tuple[tuple[str, Step], ...] = STEPS
) -> Generator[Deferred[Any], Any, dict[str, dict[str, Any]]]:
    """One pass of sleep: every step in its order, each by itself, so that one that fails never
    keeps the next from being done.

    Each step may be done again without doing anything twice. Fires with each step's result by its
    name; fails with TurnAborted alone, where the server stops: the next pass makes it good.
    """
    results: dict[str, dict[str, Any]] = {}
    for name, step in steps:
        try:
            results[name] = yield maybeDeferred(step, script, character)
        except TurnAborted:
            raise
        except Exception as error:  # noqa: BLE001  # a step's own boundary
            log.failure("{name}: asleep, {step} failed", name=script.character_name, step=name)
            results[name] = {"success": False, "error": f"{type(error).__name__}: {error}"}
    return results
