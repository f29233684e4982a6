"""Asleep: what an assistant does with what it has been through. This file is the order of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred
from twisted.logger import Logger

from evennia_ai.errors import TurnAborted
from evennia_ai.memory.entity_context import run_entity_consolidation_batch
from evennia_ai.memory.working_memory import clear_stale_conversations
from evennia_ai.scheduling import pause
from evennia_ai.sleep.compaction.compact import compact_conversation_history
from evennia_ai.sleep.consolidation import (
    consolidate_memories_to_semantic,
    prune_orphaned_memory_links,
)
from evennia_ai.sleep.extraction import run_pre_compaction_extraction
from evennia_ai.sleep.goal_review import review_goals
from evennia_ai.sleep.pass_time import PassTime, StepGivenUp
from evennia_ai.sleep.planning import plan_day
from evennia_ai.sleep.pruning import prune_low_importance_entries
from evennia_ai.sleep.reflection import reflect
from evennia_ai.sleep.sharing import share_memories

log = Logger()

Step = Callable[[Any, Any], Any]
WOKEN: Mapping[str, Any] = {"skipped": True, "reason": "woken"}
BROKEN_OFF: Mapping[str, Any] = {"skipped": True, "reason": "broken off in the middle of it"}


STEPS: tuple[tuple[str, Step], ...] = (
    ("memory_links", consolidate_memories_to_semantic),
    ("entity_consolidation", run_entity_consolidation_batch),
    ("orphaned_links", prune_orphaned_memory_links),
    ("episodic_prune", prune_low_importance_entries),
    ("stale_conversations", clear_stale_conversations),
    ("pre_compaction_extraction", run_pre_compaction_extraction),
    ("context_compaction", compact_conversation_history),
)
# What is made of it all, once memories are in order: a pass of sleep ends with these.
AFTERTHOUGHTS: tuple[tuple[str, Step], ...] = (
    ("reflection", reflect),
    ("goals", review_goals),
    ("daily_plan", plan_day),
    ("shared_memory", share_memories),
)
WHOLE_PASS = (*STEPS, *AFTERTHOUGHTS)


@inlineCallbacks
def run_sleep_tick(
    script: Any,
    character: Any,
    steps: tuple[tuple[str, Step], ...] = STEPS,
    time: PassTime | None = None,
) -> Generator[Deferred[Any], Any, dict[str, dict[str, Any]]]:
    """One pass of sleep: every step in its order, each by itself, so that one that fails, or that
    never ends, does not keep the next from being done.

    Each step may be done again without doing anything twice; so ``time`` may break the pass off
    where somebody waits for it to end, in the middle of a step too, and what was not done is told
    as skipped. Fires with each step's result by its name; fails with TurnAborted alone, where the
    server stops or the assistant may not think any more: the next pass makes it good.
    """
    time = time or PassTime(script.services.clock)
    results: dict[str, dict[str, Any]] = {}
    for name, step in steps:
        yield pause(script.services.slices.put)  # the offline brain makes none of its own
        if not script.may_think():
            raise TurnAborted("asleep, it was stopped")
        if time.is_over:
            results[name] = dict(WOKEN)
            continue
        try:
            came = yield time.limit(maybeDeferred(step, script, character))
            results[name] = checked(came)
        except TurnAborted:
            raise
        except StepGivenUp as error:
            log.warn("{name}: asleep, {step}: {error}", **told(script, name), error=error)
            results[name] = (
                dict(BROKEN_OFF) if time.is_over else {"success": False, "error": str(error)}
            )
        except Exception as error:  # noqa: BLE001  # a step's own boundary
            log.failure("{name}: asleep, {step} failed", **told(script, name))
            results[name] = {"success": False, "error": f"{type(error).__name__}: {error}"}
    return results


def told(script: Any, step: str) -> dict[str, Any]:
    """Who does what, for a line of the log."""
    return {"name": script.character_name, "step": step}


def checked(result: Any) -> dict[str, Any]:
    """A step's result; raises TypeError where it is no dict, as each promises."""
    if not isinstance(result, dict):
        raise TypeError(f"a step must come to a dict, not to {type(result).__name__}")
    return result
