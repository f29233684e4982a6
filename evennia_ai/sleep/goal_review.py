"""Review the goals: let neglected ones fade, and find steps for important ones."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.policy.records.goal import needs_steps, plan_fading, read_steps, steps_request
from evennia_ai.policy.records.provenance import Record
from evennia_ai.ports import Goals, Identity, Services, Settings
from evennia_ai.scheduling import Steps, persist
from evennia_ai.turn.model_call import (
    Asked,
    Background,
    BackgroundReply,
    skip,
)
from evennia_ai.turn.prompt_contexts import CONTEXT_GOAL_DECOMPOSE

CALLS_A_PASS = 3
REPLY_TOKENS = 300


class GoalReview:
    """Reviews the goals of a character."""

    def __init__(
        self, who: Identity, settings: Settings, background: Background, services: Services
    ) -> None:
        self._who, self._settings, self._background = who, settings, background
        self._clock, self._now, self._put = services.clock, services.now, services.slices.put

    @inlineCallbacks
    def review(self) -> Steps[dict[str, Any]]:
        """Drop neglected goals, remove those that closed long ago, and find steps for important
        ones.

        A model is asked once for each goal and sees that goal and the persona only (P9). Without a
        model no steps are found. The steps, and the mark that they were asked for, are one
        transaction.

        Fires with ``success``, ``faded``, ``removed``, ``steps`` (new sub-goals), ``calls``,
        ``cut_off`` (replies that reached their limit, if any), and ``error`` if a provider failed;
        or with ``skipped`` True and ``reason``. Fails with TurnAborted and StoreUnavailable.
        """
        goals, config = self._who.character.ai_goals, self._settings.config
        yield goals.load(self._put)
        every = goals.all()
        if not every:
            return skip("no goals")
        fading = plan_fading(every, self._now(), config.goal_half_life)
        faded: int = yield persist(self._clock, partial(goals.update_all, fading))
        over = goals.over(config.archive_days)
        removed: int = yield persist(self._clock, partial(goals.remove, *over))
        every = goals.all()
        wanting = (
            [goal for goal in every if needs_steps(goal, every)]
            if self._background.has_model
            else []
        )
        work = partial(self._find_steps, goals)
        asked: Asked[Counter[str]] = yield self._background.ask_each(wanting[:CALLS_A_PASS], work)
        if not (faded or removed or asked.calls):
            return skip("nothing to do about them")
        total = sum(asked.results, Counter[str]())
        figures = {
            "faded": faded,
            "removed": removed,
            "steps": total["steps"],
            "calls": asked.calls,
        }
        return asked.report(**figures, cut_off=total["cut_off"])

    @inlineCallbacks
    def _find_steps(self, goals: Goals, goal: Record) -> Steps[Counter[str]]:
        """Ask for a goal's steps and store them.

        Fires with the number of ``steps``, and ``cut_off`` 1 if the reply reached its limit; fails
        with `ProviderError`.
        """
        context, name = CONTEXT_GOAL_DECOMPOSE, self._who.name
        wire = steps_request(context.prompt, name, self._who.persona, goal)
        reply: BackgroundReply = yield self._background.ask(
            context.name, wire, REPLY_TOKENS, [goal]
        )
        work = partial(goals.add_steps, goal["id"], read_steps(reply.text, goal))
        steps: int = yield persist(self._clock, work)
        return Counter(steps=steps, cut_off=int(reply.is_cut))
