"""A sleep pass: the steps in which an assistant sorts its memories, in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import inlineCallbacks, maybeDeferred
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.memory.entity_context import run_entity_consolidation_batch
from evennia_ai.memory.working_memory import clear_stale_conversations
from evennia_ai.ports import Character, Script
from evennia_ai.scheduling import Steps, pause
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

WOKEN = {"skipped": True, "reason": "woken"}
BROKEN_OFF = {"skipped": True, "reason": "broken off in the middle of it"}


@dataclass(frozen=True)
class SleepStep:
    """One step of a sleep pass."""

    name: str  # its key in the results
    run: Callable[[Any, Any], Any]  # with script and character; a result dict, or a Deferred of one
    title: str  # its name in reports
    sentence: str = ""  # a format for its figures in reports; empty lists them
    in_tick: bool = True  # False for a step that only a whole pass runs


STEPS = (
    SleepStep("memory_links", consolidate_memories_to_semantic, "Journal into long-term memory"),
    SleepStep("entity_consolidation", run_entity_consolidation_batch, "What it knows of others"),
    SleepStep("orphaned_links", prune_orphaned_memory_links, "Links that lead nowhere"),
    SleepStep("episodic_prune", prune_low_importance_entries, "Old memories let go"),
    SleepStep(
        "stale_conversations",
        clear_stale_conversations,
        "Talks that came to an end",
        "{ended} ended, {running} going on",
    ),
    SleepStep(
        "pre_compaction_extraction",
        run_pre_compaction_extraction,
        "Facts written down",
        "{facts_recorded} into the journal (model calls: {iterations})",
    ),
    SleepStep(
        "context_compaction",
        compact_conversation_history,
        "Old talk summed up",
        "{compacted_messages} messages, {original_tokens:,} tokens before and {new_tokens:,} after",
    ),
    SleepStep(
        "reflection",
        reflect,
        "What follows from it",
        "{insights} insights from {thought_over} entries",
        in_tick=False,
    ),
    SleepStep("goals", review_goals, "What it is after", in_tick=False),
    SleepStep("daily_plan", plan_day, "Its day to come", in_tick=False),
    SleepStep("shared_memory", share_memories, "What others were told", in_tick=False),
)
STEPS_IN_TICK = tuple(step for step in STEPS if step.in_tick)
STEP_TEXTS = {step.name: (step.title, step.sentence) for step in STEPS}


@inlineCallbacks
def run_sleep_tick(
    script: Script,
    character: Character,
    steps: Sequence[SleepStep] = STEPS_IN_TICK,
    time: PassTime | None = None,
) -> Steps[dict[str, dict[str, Any]]]:
    """Run steps of a sleep pass in their order; `STEPS` is a whole pass.

    A step that fails or never ends does not stop the next. Each step may run again without doing
    anything twice, so ``time`` may break the pass off even within a step; what was not done is
    reported as skipped. Fires with each step's result by its name; fails with TurnAborted only, if
    the server stops or the assistant may not think any more.
    """
    time = time or PassTime(script.services.clock)
    results: dict[str, dict[str, Any]] = {}
    for step in steps:
        yield pause(script.services.slices.put)  # the offline brain makes no pauses of its own
        if not script.may_think():
            raise TurnAborted("asleep, it was stopped")
        if time.is_over:
            results[step.name] = dict(WOKEN)
        else:
            results[step.name] = yield run_step(script, character, step, time)
    return results


@inlineCallbacks
def run_step(
    script: Script, character: Character, step: SleepStep, time: PassTime
) -> Steps[dict[str, Any]]:
    """Run one step. Fires with its result dict; fails with TurnAborted only."""
    name = script.character_name
    try:
        return checked((yield time.limit(maybeDeferred(step.run, script, character))))
    except TurnAborted:
        raise
    except StepGivenUp as error:
        tell = log.info if time.is_over else log.warn  # somebody spoke to it, or it took too long
        tell("{name}: sleep step {step} {error}", name=name, step=step.name, error=error)
        return dict(BROKEN_OFF) if time.is_over else {"success": False, "error": str(error)}
    except StoreUnavailable as error:
        log.warn(
            "{name}: sleep step {step} failed: {error}", name=name, step=step.name, error=error
        )
        return {"success": False, "error": f"StoreUnavailable: {error}"}
    except Exception as error:  # noqa: BLE001  # one step's error must not stop the next
        log.failure("{name}: sleep step {step} failed", name=name, step=step.name)
        return {"success": False, "error": f"{type(error).__name__}: {error}"}


def checked(result: Any) -> dict[str, Any]:
    """Return a step's result; raises TypeError if it is no dict."""
    if not isinstance(result, dict):
        raise TypeError(f"a step must return a dict, not {type(result).__name__}")
    return result
