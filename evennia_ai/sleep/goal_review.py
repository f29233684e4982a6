"""Asleep, goals that were left alone fade, and steps are thought of for those that weigh much."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import ProviderError
from evennia_ai.policy.records.goal import needs_steps, plan_fading
from evennia_ai.policy.records.goal_steps import read_steps, steps_request
from evennia_ai.policy.records.provenance import Record
from evennia_ai.scheduling import pause, persist
from evennia_ai.turn.background_call import ask_in_background, has_model
from evennia_ai.turn.prompt_contexts import CONTEXT_GOAL_DECOMPOSE

log = Logger()

CALLS_A_PASS = 3
REPLY_TOKENS = 300


@inlineCallbacks
def review_goals(script: Any, character: Any) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """Let go of goals nobody came back to, remove those that ended long ago, and think of steps
    for new ones that weigh much.

    A model is asked once for each goal, which is all that it is shown beside the persona (P9);
    without a model there are no steps. Steps and the mark that they were thought of are one
    transaction.

    Args:
        script: the assistant.
        character: its character, with ``ai_goals``.

    Fires with ``success``, ``faded``, ``removed``, ``steps`` (new sub-goals), ``calls``, and
    ``error`` where a model failed; or with ``skipped`` True and ``reason``. Fails with TurnAborted
    and StoreUnavailable.
    """
    goals, services, config = character.ai_goals, script.services, script.config
    yield goals.load(services.slices.put)
    every: list[Record] = goals.all()
    if not every:
        return {"skipped": True, "reason": "no goals"}
    fading = plan_fading(every, services.now(), config.goal_half_life)
    faded: int = yield persist(services.clock, partial(goals.update_all, fading))
    over = goals.over(config.archive_days)
    removed: int = yield persist(services.clock, partial(goals.remove, *over))
    done = {"faded": faded, "removed": removed, "steps": 0, "calls": 0}
    every = goals.all()
    wanting = [goal for goal in every if needs_steps(goal, every)] if has_model(script) else []
    for goal in wanting[:CALLS_A_PASS]:
        yield pause(services.slices.put)
        done["calls"] += 1
        try:
            done["steps"] += yield think_of_steps(script, goals, goal)
        except ProviderError as error:
            log.warn("{name}: no steps: {error}", name=script.character_name, error=error)
            return {"success": False, **done, "error": str(error)}
    if not any(done.values()):
        return {"skipped": True, "reason": "nothing to do about them"}
    return {"success": True, **done}


@inlineCallbacks
def think_of_steps(script: Any, goals: Any, goal: Record) -> Generator[Deferred[Any], Any, int]:
    """Ask for the steps towards a goal. Fires with how many were set; fails with `ProviderError`,
    and then it is asked for again."""
    context, name = CONTEXT_GOAL_DECOMPOSE, script.character_name
    wire = steps_request(context.prompt, name, script.persona, goal)
    reply: str = yield ask_in_background(script, context.name, wire, REPLY_TOKENS)
    store = partial(goals.add_steps, goal["id"], read_steps(reply, goal))
    stored: int = yield persist(script.services.clock, store)
    return stored
