"""Review goals and plan the next day."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.contrib.goals import day
from evennia_ai.contrib.goals.goal_settings import GoalSettings
from evennia_ai.contrib.goals.tree import (
    by_weight,
    needs_steps,
    plan_fading,
    read_steps,
    steps_request,
)
from evennia_ai.extension import SleepContext
from evennia_ai.policy.audience import BUILDER, of_records
from evennia_ai.policy.records.goal import PlannedBlock
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import Goals
from evennia_ai.ports.background import BackgroundReply, BatchResult, skip
from evennia_ai.scheduling import Coroutine, retry_write
from evennia_ai.turn.prompt_contexts import CONTEXT_GOAL_DECOMPOSE

CALLS_A_PASS = 3
STEPS_TOKENS, PLAN_TOKENS = 300, 400


@inlineCallbacks
def review_goals(mind: SleepContext) -> Coroutine[dict[str, Any]]:
    """Drop neglected goals, remove those that closed long ago, and find steps for important
    ones.

    A model is asked once for each goal and sees that goal and the persona only (P9). Without a
    model no steps are found. The steps, and the mark that they were asked for, are one
    transaction.

    Its figures are ``faded``, ``removed``, ``steps`` (new sub-goals) and ``calls``.
    """
    goals, config = mind.character.ai_goals, mind.config
    yield goals.load(mind.slices.put)
    every = goals.all()
    if not every:
        return skip("no goals")
    fading = plan_fading(every, mind.now(), config.part(GoalSettings).goal_half_life)
    faded: int = yield retry_write(mind.clock, partial(goals.update_all, fading))
    over = goals.over(config.archive_days)
    removed: int = yield retry_write(mind.clock, partial(goals.remove, *over))
    every = goals.all()
    has_model = mind.profile.has_model
    wanting = [goal for goal in every if has_model and needs_steps(goal, every)]
    work = partial(find_steps, mind, goals)
    results: BatchResult[Counter[str]] = yield mind.background.ask_each(
        wanting[:CALLS_A_PASS], work
    )
    if not (faded or removed or results.calls):
        return skip("nothing to do about them")
    total = sum(results.results, Counter[str]())
    figures = {"steps": total["steps"], "calls": results.calls, "cut_off": total["cut_off"]}
    return results.report(faded=faded, removed=removed, **figures)


@inlineCallbacks
def find_steps(mind: SleepContext, goals: Goals, goal: Record) -> Coroutine[Counter[str]]:
    """Ask for a goal's steps and store them. Fires with figures; fails with `ProviderError`."""
    context, name = CONTEXT_GOAL_DECOMPOSE, mind.name
    wire = steps_request(context.prompt, name, mind.who.persona, goal)
    reply: BackgroundReply = yield mind.background.ask(context.name, wire, STEPS_TOKENS, [goal])
    work = partial(goals.add_steps, goal["id"], read_steps(reply.text, goal))
    steps: int = yield retry_write(mind.clock, work)
    return Counter(steps=steps, cut_off=int(reply.is_cut))


@inlineCallbacks
def plan_day(mind: SleepContext) -> Coroutine[dict[str, Any]]:
    """Plan the coming day, once a day; the new plan replaces the old one.

    The plan is made of the persona, the neighbouring places and the public goals (P9). A model
    is asked once; without one, or if its reply is of no use, the day has no plan.

    Its figures are ``parts`` (of the day) and ``calls``; the end of a plan that was cut off is
    missing.
    """
    if not mind.config.part(GoalSettings).daily_plan:
        return skip("no plans wanted")
    plan = mind.character.ai_plan
    yield plan.load(mind.slices.put)
    yield mind.character.ai_goals.load(mind.slices.put)
    if not plan.is_stale:
        return skip("its day is planned, or cannot be")
    goals = by_weight(mind.character.ai_goals.open())[: day.MOST_GOALS]
    requests = [goals] if mind.profile.has_model else []
    results: BatchResult[tuple[Sequence[PlannedBlock], bool]] = yield mind.background.ask_each(
        requests, partial(ask_for_plan, mind)
    )
    if results.error:
        return results.report(parts=0, calls=results.calls)
    planned, is_cut = results.results[0] if results.results else ((), False)
    if not planned:
        plan.give_up()
        reason = "the plan was cut off" if is_cut else "no model made a plan"
        return skip(reason, calls=results.calls)
    # A player may have been forgotten while the model was asked.
    if any(mind.character.ai_goals.get(goal["id"]) is None for goal in goals):
        return skip("its goals have changed meanwhile", calls=results.calls)
    store = partial(plan.replace, planned, sorted({BUILDER} | of_records(goals)))
    parts: int = yield retry_write(mind.clock, store)
    return results.report(parts=parts, calls=results.calls, cut_off=int(is_cut))


@inlineCallbacks
def ask_for_plan(
    mind: SleepContext, goals: Sequence[Record]
) -> Coroutine[tuple[Sequence[PlannedBlock], bool]]:
    """Fire with the complete parts of a model's plan, none if too few, and True if it was cut.

    Fails with `ProviderError`.
    """
    context, name = day.CONTEXT_PLAN_DAY, mind.name
    places = day.places_near(mind.world.situation(mind.character).exits)
    goal_texts = [goal["content"] for goal in goals]
    wire = day.plan_request(context.prompt, name, mind.who.persona, goal_texts, places)
    reply: BackgroundReply = yield mind.background.ask(context.name, wire, PLAN_TOKENS, goals)
    return day.read_plan(reply.text, places), reply.is_cut
