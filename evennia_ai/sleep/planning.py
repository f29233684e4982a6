"""Asleep, a character plans its day, so that it is at something when somebody comes near."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import ProviderError
from evennia_ai.policy.audience import speakers_in
from evennia_ai.policy.records.day_plan import (
    MOST_GOALS,
    places_near,
    plan_plainly,
    plan_request,
    read_plan,
)
from evennia_ai.policy.records.goal_tree import by_weight
from evennia_ai.scheduling import persist
from evennia_ai.turn.background_call import ask_in_background, has_model
from evennia_ai.turn.prompt_contexts import CONTEXT_PLAN_DAY

log = Logger()

REPLY_TOKENS = 400


@inlineCallbacks
def plan_day(script: Any, character: Any) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """Plan the day to come, once a day, in the place of the plan before.

    It is made of the persona, of the places next to this one and of goals that everybody may know
    (P9). A model is asked once; where its answer is of no use, and without one, the day is that of
    the trade the persona names, if any.

    Args:
        script: the assistant.
        character: its character, with ``ai_plan`` and ``ai_goals``.

    Fires with ``success``, ``parts`` (of the day), ``calls``, and ``error`` where a model failed;
    or with ``skipped`` True and ``reason``. Fails with TurnAborted and StoreUnavailable.
    """
    if not script.config.daily_plan:
        return {"skipped": True, "reason": "no plans wanted"}
    services, plan = script.services, character.ai_plan
    yield plan.load(services.slices.put)
    yield character.ai_goals.load(services.slices.put)
    if not plan.is_stale:
        return {"skipped": True, "reason": "its day is planned, or cannot be"}
    goals = by_weight(character.ai_goals.open())[:MOST_GOALS]
    told = [goal["content"] for goal in goals]
    calls, planned = 0, plan_plainly(script.persona, told)
    if has_model(script):
        calls = 1
        context, name = CONTEXT_PLAN_DAY, script.character_name
        places = places_near(services.world.situation(character).exits)
        wire = plan_request(context.prompt, name, script.persona, told, places)
        try:
            reply: str = yield ask_in_background(script, context.name, wire, REPLY_TOKENS)
        except ProviderError as error:
            log.warn("{name}: no plan: {error}", name=name, error=error)
            return {"success": False, "parts": 0, "calls": calls, "error": str(error)}
        planned = read_plan(reply, places) or planned
    if not planned:
        plan.give_up()
        return {"skipped": True, "reason": "nothing is known of its days", "calls": calls}
    # Somebody may have been forgotten while the model thought.
    if any(character.ai_goals.get(goal["id"]) is None for goal in goals):
        return {"skipped": True, "reason": "its goals have changed meanwhile", "calls": calls}
    store = partial(plan.replace, planned, sorted(speakers_in(goals)))
    parts: int = yield persist(services.clock, store)
    return {"success": True, "parts": parts, "calls": calls}
