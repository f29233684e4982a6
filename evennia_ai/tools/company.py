"""Tools to follow somebody and to wait."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater

from evennia_ai.errors import ToolError
from evennia_ai.game.perception import display_name, find_named, listening_objects, plain
from evennia_ai.policy.conversation.react import ONCE
from evennia_ai.ports import ToolContext
from evennia_ai.store.attributes import write_attribute
from evennia_ai.tools.base import tool
from evennia_ai.tools.needs import acts_unasked, has_exits

LONGEST_WAIT_S = 10.0


class FollowArguments(BaseModel):
    """Whom to follow."""

    target: str = ""


class WaitArguments(BaseModel):
    """How long to wait."""

    seconds: float = Field(default=3.0, ge=0.5, le=LONGEST_WAIT_S)


@tool("follow", category=ONCE, safe_to_retry=True, needed=has_exits)
def follow(context: ToolContext, arguments: FollowArguments) -> str:
    """Follow a person from now on; without a target, stop following."""
    character = context.character
    if not arguments.target:
        write_attribute(character, "ai_following", None)
        return "You follow nobody any more."
    leader = find_named(arguments.target, listening_objects(character), character)
    if leader is None:
        raise ToolError(f"There is nobody called '{plain(arguments.target, 60)}' here.")
    write_attribute(character, "ai_following", leader.dbref)
    return f"You follow {display_name(leader, character)} from now on."


@tool("wait", world=False, safe_to_retry=True, needed=acts_unasked)
def wait(context: ToolContext, arguments: WaitArguments) -> Deferred[str]:
    """Wait a moment between two things you do."""
    clock: Any = context.script.services.clock
    return deferLater(clock, arguments.seconds, lambda: "The moment has passed.")
