"""Tools with which the model steers itself."""

from __future__ import annotations

from pydantic import BaseModel, Field

from evennia_ai.policy.react import FINAL
from evennia_ai.ports import ToolContext
from evennia_ai.tools.base import tool


class NoopArguments(BaseModel):
    """Why nothing is done."""

    reason: str = Field(default="", description="Why you stay silent, in a few words.")


@tool("noop", category=FINAL, world=False, safe_to_retry=True)
def noop(context: ToolContext, arguments: NoopArguments) -> str:
    """Do nothing and end your turn, when nothing you heard needs an answer."""
    return "You do nothing."
