"""Tools to set a goal and to note its progress."""

from functools import partial
from typing import Literal

from pydantic import BaseModel, Field
from twisted.internet.defer import inlineCallbacks

from evennia_ai.contrib.goals.goal_settings import GoalSettings
from evennia_ai.contrib.goals.tree import MOST_OPEN, WHY_CHARS, find_goal
from evennia_ai.errors import NothingDone
from evennia_ai.extension import tool
from evennia_ai.game.perception import plain
from evennia_ai.policy.limits.people import is_reached
from evennia_ai.policy.records.goal import (
    BUILDER,
    DONE,
    DROPPED,
    GOAL_CHARS,
    OPEN,
    USUAL_IMPORTANCE,
)
from evennia_ai.policy.records.record import Record
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Coroutine, retry_write
from evennia_ai.tools.memory_sources import content_of, sources_of, store_record
from evennia_ai.tools.tool_relevance import acts_unasked

TOO_MANY_GOALS = "You have enough goals for their sake: finish or drop one before you set another."


class GoalArguments(BaseModel):
    """What to be after."""

    goal: str
    why: str = ""
    part_of: str = Field(default="", description="a goal")
    importance: int = Field(default=USUAL_IMPORTANCE, ge=1, le=10)


class ProgressArguments(BaseModel):
    """What has come of a goal."""

    goal: str = Field(description="Its number, such as g3, or its words.")
    progress: int | None = Field(default=None, ge=0, le=100, description="Percent done.")
    state: Literal["open", "done", "dropped"] = "open"


def has_goals(context: ToolContext) -> bool:
    """Return True if the character has an open goal that the whole audience may know."""
    return bool(known_goals(context))


def may_set_goal(context: ToolContext) -> bool:
    return acts_unasked(context) or has_goals(context)


@tool("set_goal", world=False, safe_to_retry=True, needed=may_set_goal)
@inlineCallbacks
def set_goal(context: ToolContext, arguments: GoalArguments) -> Coroutine[str]:
    """Set yourself a goal for the next days, or a step towards one."""
    goals, services = context.character.ai_goals, context.assistant.services
    content = content_of(context, arguments.goal, GOAL_CHARS)
    yield goals.load(services.slices.put)
    known = known_goals(context)
    whose = sources_of(context)
    if arguments.part_of:
        parent = meant(arguments.part_of, known)
        whose["parent"] = parent["id"]
        if whose["audience"] is None:  # what leads to a confidence is one
            whose["audience"] = parent["audience"]
    own = [goal for goal in known if goal["origin"] != BUILDER]
    if len(own) >= MOST_OPEN and find_goal(content, own) is None:
        raise NothingDone(f"You have {len(own)} goals: finish or drop one before you set another.")

    caused = [goal for goal in goals.held() if goal["state"] == OPEN and goal["origin"] != BUILDER]
    if is_reached(caused, context.causes, context.assistant.config.part(GoalSettings).person_goals):
        raise NothingDone(TOO_MANY_GOALS)
    why = clean_heard(arguments.why, WHY_CHARS)
    add = partial(goals.add, content, why=why, importance=arguments.importance, **whose)
    kept: str = yield store_record(context, add)
    return f"You have set yourself that goal: {kept}."


@tool("update_goal", world=False, safe_to_retry=True, needed=has_goals)
@inlineCallbacks
def update_goal(context: ToolContext, arguments: ProgressArguments) -> Coroutine[str]:
    """Note the progress of one of your goals, or that you reached it or gave it up."""
    goals, services = context.character.ai_goals, context.assistant.services
    yield goals.load(services.slices.put)
    goal = meant(arguments.goal, known_goals(context))
    ensure_may_change(context, goal, arguments.state)
    number, state, percent = goal["id"], arguments.state, arguments.progress
    if state in (DONE, DROPPED):
        yield retry_write(services.clock, partial(goals.close, number, state))
        return f"{number} is {state}."
    if percent is None:
        raise NothingDone("Say how far it has come, or that it is done or dropped.")
    yield retry_write(services.clock, partial(goals.touch, number, progress=percent / 100))
    return f"{number} has come {percent} % of the way."


def known_goals(context: ToolContext) -> list[Record]:
    """Return the open goals that the whole audience may know."""
    return context.character.ai_goals.open(context.audience)


def meant(words: str, goals: list[Record]) -> Record:
    """Return the goal that some words mean; raises NothingDone."""
    goal = find_goal(clean_heard(words, GOAL_CHARS), goals)
    if goal is None:
        numbers = ", ".join(goal["id"] for goal in goals) or "none"
        raise NothingDone(f"You have no goal '{plain(words, 60)}'. There are: {numbers}.")
    return goal


def ensure_may_change(context: ToolContext, goal: Record, state: str) -> None:
    """Raise NothingDone for a goal that others know, in private, and to drop a builder's."""
    known_by = goal["audience"]
    if context.private and (known_by is None or not context.audience.issuperset(known_by)):
        raise NothingDone(
            "Others know of that goal: what is confided to you does not change it before them."
        )
    if state == DROPPED and goal["origin"] == BUILDER:
        raise NothingDone("That goal was given to you for good: you cannot drop it.")
