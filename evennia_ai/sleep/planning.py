"""Plan the character's next day, so that it is occupied when a player comes near."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.policy.authors import BUILDER, of_records
from evennia_ai.policy.records.day_plan import (
    MOST_GOALS,
    Planned,
    places_near,
    plan_plainly,
    plan_request,
    read_plan,
)
from evennia_ai.policy.records.goal import by_weight
from evennia_ai.policy.records.provenance import Record
from evennia_ai.ports import Character, Script
from evennia_ai.scheduling import Steps, persist
from evennia_ai.turn.background import (
    Asked,
    BackgroundReply,
    ask_each,
    ask_in_background,
    has_model,
    skip,
)
from evennia_ai.turn.prompt_contexts import CONTEXT_PLAN_DAY

REPLY_TOKENS = 400


@inlineCallbacks
def plan_day(script: Script, character: Character) -> Steps[dict[str, Any]]:
    """Plan the coming day, once a day; the new plan replaces the old one.

    The plan is made of the persona, the neighbouring places and the public goals (P9). A model is
    asked once. Without a model, or if its reply is of no use, the plan is that of the trade which
    the persona names, if any.

    Fires with ``success``, ``parts`` (of the day), ``calls``, ``cut_off`` 1 if the model's plan
    reached its token limit, so that its end is missing, and ``error`` if a provider failed; or with
    ``skipped`` True and ``reason``. Fails with TurnAborted and StoreUnavailable.
    """
    if not script.config.daily_plan:
        return skip("no plans wanted")
    services, plan = script.services, character.ai_plan
    yield plan.load(services.slices.put)
    yield character.ai_goals.load(services.slices.put)
    if not plan.is_stale:
        return skip("its day is planned, or cannot be")
    goals = by_weight(character.ai_goals.open())[:MOST_GOALS]
    told = [goal["content"] for goal in goals]
    requests = [goals] if has_model(script) else []
    work = partial(ask_for_plan, script)
    asked: Asked[tuple[Sequence[Planned], bool]] = yield ask_each(script, requests, work)
    if asked.error:
        return asked.report(parts=0, calls=asked.calls)
    planned, is_cut = asked.results[0] if asked.results else ((), False)
    planned = planned or plan_plainly(script.persona, told)
    if not planned:
        plan.give_up()
        reason = "the plan was cut off" if is_cut else "nothing is known of its days"
        return skip(reason, calls=asked.calls)
    # A player may have been forgotten while the model was asked.
    if any(character.ai_goals.get(goal["id"]) is None for goal in goals):
        return skip("its goals have changed meanwhile", calls=asked.calls)
    store = partial(plan.replace, planned, sorted({BUILDER} | of_records(goals)))
    parts: int = yield persist(services.clock, store)
    return asked.report(parts=parts, calls=asked.calls, cut_off=int(is_cut))


@inlineCallbacks
def ask_for_plan(script: Script, goals: Sequence[Record]) -> Steps[tuple[Sequence[Planned], bool]]:
    """Ask a model for a plan.

    Fires with its complete parts, none if they are too few, and True if the reply reached its token
    limit. Fails with `ProviderError`.
    """
    context, name = CONTEXT_PLAN_DAY, script.character_name
    places = places_near(script.services.world.situation(script.character).exits)
    told = [goal["content"] for goal in goals]
    wire = plan_request(context.prompt, name, script.persona, told, places)
    reply: BackgroundReply = yield ask_in_background(
        script, context.name, wire, REPLY_TOKENS, goals
    )
    return read_plan(reply.text, places), reply.is_cut
