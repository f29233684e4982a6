"""The settings of an assistant that has goals and plans its day."""

from dataclasses import dataclass

from evennia_ai.config import setting
from evennia_ai.config.declared import Bounds, days


@dataclass(frozen=True)
class GoalSettings:
    """How long goals last, whose words may cause them, and whether days are planned."""

    goal_half_life: float = setting(
        7.0,
        "Half-life of an untouched goal of the character's own; it fades at an eighth. Important "
        "goals last longer. 0 disables fading.",
        days(0.0, 36_500.0),
    )
    daily_plan: bool = setting(
        True, "Let the character plan its day in sleep, so it is busy when players come."
    )
    person_goals: int = setting(
        5, "Maximum open goals that one person's words may cause. 0 allows none.", Bounds(0, 100)
    )
