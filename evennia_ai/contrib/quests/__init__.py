"""Quest flags: characters look up and set tags in the category ``quest``.

A character knows only the flags that a builder listed in its Attribute ``ai_quests``: a list, or a
dictionary with what must have happened before each, such as ``{"fed_cat": "give milk"}``, or the
lock that the person must pass: ``{"trusted": "lock tag(guild)"}``; "" for nothing. Words and poses
never count (`AssistantMixin.ai_perceived`).
"""

from collections.abc import Iterable, Mapping

from evennia.locks.lockhandler import check_lockstring
from pydantic import BaseModel

from evennia_ai.errors import NothingDone
from evennia_ai.extension import Extension, NoArguments, Tool, tool
from evennia_ai.game.perception import asked_for, display_name
from evennia_ai.policy.conversation.tool_call_rules import ONCE
from evennia_ai.ports import Character, ToolContext
from evennia_ai.store.attributes import read_attribute
from evennia_ai.tools.permission import only_speaker

QUEST = "quest"


def quests_of(character: Character) -> Mapping[str, str]:
    """Return the flags that a builder listed, each with what must have happened before it."""
    listed = read_attribute(character, "ai_quests") or ()
    conditions = listed if isinstance(listed, Mapping) else dict.fromkeys(listed, "")
    return {str(flag).lower(): str(condition) for flag, condition in conditions.items()}


def has_quests(context: ToolContext) -> bool:
    """Return True if a builder listed flags for the character."""
    return bool(quests_of(context.character))


class FlagArguments(BaseModel):
    """A quest flag."""

    flag: str


@tool("check_quests", world=False, reads=True, safe_to_retry=True, needed=has_quests)
def check_quests(context: ToolContext, arguments: NoArguments) -> str:
    """Look up which quest flags the person who speaks to you has."""
    person = only_speaker(context)
    quest_lines = (
        f"{flag}: {'yes' if person.tags.has(flag, category=QUEST) else 'no'}"
        for flag in quests_of(context.character)
    )
    return f"{display_name(person, context.character)} has {', '.join(quest_lines) or 'none'}."


@tool("set_quest", category=ONCE, safe_to_retry=True, needed=has_quests)
def set_quest(context: ToolContext, arguments: FlagArguments) -> str:
    """Note that the person who speaks to you has done what a quest flag stands for."""
    character, person = context.character, only_speaker(context)
    flag, quests = arguments.flag.strip().lower(), quests_of(character)
    if flag not in quests:
        raise NothingDone(f"There is no flag {asked_for(flag)}. There are: {', '.join(quests)}.")
    if person.tags.has(flag, category=QUEST):
        raise NothingDone("They have that flag already.")
    kind, _, item = quests[flag].partition(" ")
    if kind == "lock":
        if not check_lockstring(person, f"{QUEST}:{item}"):
            raise NothingDone("They may not have that yet.")
    elif kind and not character.ai_perceived(kind, person, item.strip() or None):
        raise NothingDone("You did not see them do that.")
    person.tags.add(flag, category=QUEST)
    return f"{display_name(person, character)} has {flag} now."


class QuestsExtension(Extension):
    """Lets characters set the flags that a builder listed for them."""

    name = "quests"
    by_default = False

    def tools(self) -> Iterable[Tool]:
        return (check_quests, set_quest)


EXTENSION = QuestsExtension
