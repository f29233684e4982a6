"""What an assistant is after, and what it does in a day."""

from collections.abc import Iterable
from typing import Any

from evennia_ai.contrib.goals.command import CmdAIGoals
from evennia_ai.contrib.goals.goal_settings import GoalSettings
from evennia_ai.contrib.goals.goals import set_goal, update_goal
from evennia_ai.contrib.goals.review import plan_day, review_goals
from evennia_ai.contrib.goals.tree import goal_lines
from evennia_ai.extension import Extension, SleepStep, Tool
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.records.goal import block_line
from evennia_ai.ports import MindContext

GOALS, OCCUPATION = "You are after", "You are about"


class GoalsExtension(Extension):
    """Lets assistants set themselves goals, work on them in sleep, and plan their days."""

    name = "goals"
    settings = GoalSettings

    def tools(self) -> Iterable[Tool]:
        return (set_goal, update_goal)

    @classmethod
    def commands(cls) -> Iterable[type[Any]]:
        return (CmdAIGoals,)

    def sleep_steps(self) -> Iterable[SleepStep]:
        return (
            SleepStep("goals", "What it is after", review_goals),
            SleepStep("daily_plan", "Its day to come", plan_day),
        )

    def prompt_rows(
        self, around: MindContext, audience: Audience
    ) -> Iterable[tuple[str, KnownLine]]:
        """Return the goals, in what the pins leave of ``pin_tokens``, and what it is doing now.

        The goals have at least a third of these tokens.
        """
        character, count = around.character, around.settings.count_text
        most: int = around.config.pin_tokens
        pinned = sum(count(pin["content"]) for pin in character.journal.pinned(audience))
        room = max(most - pinned, most // 3)
        lines = goal_lines(character.ai_goals.known(audience), room, count)
        rows = [(GOALS, line) for line in lines]
        planned = around.config.part(GoalSettings).daily_plan
        block = character.ai_plan.at(around.world_clock.minute()) if planned else None
        if block:
            place = character.location
            here = around.world.name_of(character, place.dbref) if place else ""
            rows.append((OCCUPATION, block_line(block, here)))
        return rows


EXTENSION = GoalsExtension
