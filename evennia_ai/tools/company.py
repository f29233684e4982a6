"""Tools to follow somebody and to wait."""

from pydantic import BaseModel, Field
from twisted.internet.defer import Deferred, succeed

from evennia_ai.errors import NothingDone
from evennia_ai.game import perception, presence
from evennia_ai.game.texts import TEXTS
from evennia_ai.policy.conversation.tool_call_rules import ONCE
from evennia_ai.ports import ToolContext
from evennia_ai.tools.base import tool
from evennia_ai.tools.tool_relevance import acts_unasked, has_exits

LONGEST_WAIT_S = 10.0
NOBODY = ("", "nobody", "no one", "none", "niemand", "niemandem")
PASSED = "The moment has passed."
SPOKEN_TO = "Somebody speaks to you: it is no time to wait."


class FollowArguments(BaseModel):
    """Whom to follow."""

    target: str = ""


class WaitArguments(BaseModel):
    """How long to wait."""

    seconds: float = Field(default=3.0, ge=0.5, le=LONGEST_WAIT_S)


@tool("follow", category=ONCE, safe_to_retry=True, needed=has_exits, rare=True)
def follow(context: ToolContext, arguments: FollowArguments) -> str:
    """Follow a person from now on; without target, stop."""
    character = context.character
    if arguments.target.strip().lower() in NOBODY:
        presence.follow(character, None)
        return "You follow nobody any more."
    leader = perception.find_named(
        arguments.target, perception.listening_objects(character), character
    )
    if leader is None:
        raise NothingDone(TEXTS["cannot_find"].format(item=perception.asked_for(arguments.target)))
    if character.dbref in getattr(leader, "muted_assistants", ()):
        who = perception.display_name(leader, character)
        raise NothingDone(TEXTS["cannot_follow"].format(name=who))
    presence.follow(character, leader)
    return f"You follow {perception.name_in_act(leader, character)} from now on."


@tool("wait", world=False, safe_to_retry=True, needed=acts_unasked)
def wait(context: ToolContext, arguments: WaitArguments) -> Deferred[str]:
    """Wait a moment between two things you do; it ends when somebody speaks to you."""
    parts = context.assistant
    if parts.inbox.open_events().waiting:
        return succeed(SPOKEN_TO)
    return parts.presence.pause(arguments.seconds).addCallback(
        lambda whole: PASSED if whole else SPOKEN_TO
    )
