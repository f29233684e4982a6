"""Review goals and plan the next day."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.policy.audience import BUILDER, of_records
from evennia_ai.policy.records import day_plan
from evennia_ai.policy.records.goal import (
    by_weight,
    needs_steps,
    plan_fading,
    read_steps,
    steps_request,
)
from evennia_ai.policy.records.record import Record
from evennia_ai.ports import Goals, Identity, Services, Settings
from evennia_ai.ports.background import BackgroundReply, BatchResult, skip
from evennia_ai.scheduling import Coroutine, retry_write
from evennia_ai.turn.model_call import BackgroundCalls
from evennia_ai.turn.prompt_contexts import CONTEXT_GOAL_DECOMPOSE, CONTEXT_PLAN_DAY

CALLS_A_PASS = 3
REPLY_TOKENS = 300


@dataclass(frozen=True, eq=False)
class GoalReview:
    """Reviews the goals of a character."""

    _who: Identity
    _settings: Settings
    _background: BackgroundCalls
    _services: Services

    @inlineCallbacks
    def review(self) -> Coroutine[dict[str, Any]]:
        """Drop neglected goals, remove those that closed long ago, and find steps for important
        ones.

        A model is asked once for each goal and sees that goal and the persona only (P9). Without a
        model no steps are found. The steps, and the mark that they were asked for, are one
        transaction.

        Its figures are ``faded``, ``removed``, ``steps`` (new sub-goals) and ``calls``.
        """
        goals, config = self._who.character.ai_goals, self._settings.config
        yield goals.load(self._services.slices.put)
        every = goals.all()
        if not every:
            return skip("no goals")
        fading = plan_fading(every, self._services.now(), config.goal_half_life)
        faded: int = yield retry_write(self._services.clock, partial(goals.update_all, fading))
        over = goals.over(config.archive_days)
        removed: int = yield retry_write(self._services.clock, partial(goals.remove, *over))
        every = goals.all()
        has_model = self._background.has_model
        wanting = [goal for goal in every if has_model and needs_steps(goal, every)]
        work = partial(self._find_steps, goals)
        results: BatchResult[Counter[str]] = yield self._background.ask_each(
            wanting[:CALLS_A_PASS], work
        )
        if not (faded or removed or results.calls):
            return skip("nothing to do about them")
        total = sum(results.results, Counter[str]())
        figures = {"steps": total["steps"], "calls": results.calls, "cut_off": total["cut_off"]}
        return results.report(faded=faded, removed=removed, **figures)

    @inlineCallbacks
    def _find_steps(self, goals: Goals, goal: Record) -> Coroutine[Counter[str]]:
        """Ask for a goal's steps and store them. Fires with figures; fails with `ProviderError`."""
        context, name = CONTEXT_GOAL_DECOMPOSE, self._who.name
        wire = steps_request(context.prompt, name, self._who.persona, goal)
        reply: BackgroundReply = yield self._background.ask(
            context.name, wire, REPLY_TOKENS, [goal]
        )
        work = partial(goals.add_steps, goal["id"], read_steps(reply.text, goal))
        steps: int = yield retry_write(self._services.clock, work)
        return Counter(steps=steps, cut_off=int(reply.is_cut))


PLAN_TOKENS = 400


@dataclass(frozen=True, eq=False)
class DayPlanning:
    """Plans the days of a character."""

    _who: Identity
    _settings: Settings
    _background: BackgroundCalls
    _services: Services

    @inlineCallbacks
    def plan(self) -> Coroutine[dict[str, Any]]:
        """Plan the coming day, once a day; the new plan replaces the old one.

        The plan is made of the persona, the neighbouring places and the public goals (P9). A model
        is asked once; without one, or if its reply is of no use, the day has no plan.

        Its figures are ``parts`` (of the day) and ``calls``; the end of a plan that was cut off is
        missing.
        """
        if not self._settings.config.daily_plan:
            return skip("no plans wanted")
        plan = self._who.character.ai_plan
        yield plan.load(self._services.slices.put)
        yield self._who.character.ai_goals.load(self._services.slices.put)
        if not plan.is_stale:
            return skip("its day is planned, or cannot be")
        goals = by_weight(self._who.character.ai_goals.open())[: day_plan.MOST_GOALS]
        requests = [goals] if self._background.has_model else []
        results: BatchResult[
            tuple[Sequence[day_plan.PlannedBlock], bool]
        ] = yield self._background.ask_each(requests, self._ask)
        if results.error:
            return results.report(parts=0, calls=results.calls)
        planned, is_cut = results.results[0] if results.results else ((), False)
        if not planned:
            plan.give_up()
            reason = "the plan was cut off" if is_cut else "no model made a plan"
            return skip(reason, calls=results.calls)
        # A player may have been forgotten while the model was asked.
        if any(self._who.character.ai_goals.get(goal["id"]) is None for goal in goals):
            return skip("its goals have changed meanwhile", calls=results.calls)
        store = partial(plan.replace, planned, sorted({BUILDER} | of_records(goals)))
        parts: int = yield retry_write(self._services.clock, store)
        return results.report(parts=parts, calls=results.calls, cut_off=int(is_cut))

    @inlineCallbacks
    def _ask(
        self, goals: Sequence[Record]
    ) -> Coroutine[tuple[Sequence[day_plan.PlannedBlock], bool]]:
        """Fire with the complete parts of a model's plan, none if too few, and True if it was cut.

        Fails with `ProviderError`.
        """
        context, name = CONTEXT_PLAN_DAY, self._who.name
        places = day_plan.places_near(self._services.world.situation(self._who.character).exits)
        goal_texts = [goal["content"] for goal in goals]
        wire = day_plan.plan_request(context.prompt, name, self._who.persona, goal_texts, places)
        reply: BackgroundReply = yield self._background.ask(context.name, wire, PLAN_TOKENS, goals)
        return day_plan.read_plan(reply.text, places), reply.is_cut
