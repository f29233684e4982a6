"""Speaking, to the right ears. What was told in confidence is never said to others (P9)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, Field

from evennia_ai.errors import ToolError
from evennia_ai.policy.audience import may_be_said
from evennia_ai.policy.react import FINAL, ONCE
from evennia_ai.policy.sanitize import spoken_words
from evennia_ai.ports import ToolContext
from evennia_ai.senses import find_named, listening_objects
from evennia_ai.tools.base import tool


class SayArguments(BaseModel):
    """Words for everybody here."""

    text: str = Field(description="The words you say, without quotation marks.")


class WhisperArguments(BaseModel):
    """Words for one person."""

    text: str = Field(description="The words you whisper, without quotation marks.")
    target: str = Field(default="", description="The name of the person who shall hear them.")


class EmoteArguments(BaseModel):
    """Something done for others to see."""

    text: str = Field(description="What you do, after your name: 'wipes the counter.'")


@tool("say", category=FINAL)
def say(context: ToolContext, arguments: SayArguments) -> str:
    """Say something aloud to everybody here. This ends your turn."""
    words = own_words(context, arguments.text)
    present = listening_objects(context.character)
    if context.whispered or not may_be_heard_by(context, present):
        return deliver_whisper(context, words, confidants(context, present))
    note_hops(context)
    context.character.at_say(words)
    return "You said it."


@tool("whisper", category=FINAL)
def whisper(context: ToolContext, arguments: WhisperArguments) -> str:
    """Whisper something to one person here; nobody else hears it. This ends your turn."""
    words = own_words(context, arguments.text)
    present = listening_objects(context.character)
    if arguments.target:
        target = find_named(arguments.target, present, context.character)
        receivers = [target] if target else []
    else:
        receivers = confidants(context, present)
    if not receivers:
        raise ToolError(f"Nobody of that name is here to hear you. {people_here(context, present)}")
    if not may_be_heard_by(context, receivers):
        raise ToolError("What was told you in confidence is not for that person.")
    return deliver_whisper(context, words, receivers)


@tool("emote", category=ONCE)
def emote(context: ToolContext, arguments: EmoteArguments) -> str:
    """Do something that everybody here sees, such as nodding or wiping a mug."""
    words = own_words(context, arguments.text)
    present = listening_objects(context.character)
    if not may_be_heard_by(context, present):
        raise ToolError("Others would see that, and this talk is private: whisper instead.")
    note_hops(context)
    context.character.location.msg_contents(
        ("{actor} {deed}", {"type": "pose"}),
        from_obj=context.character,
        mapping={"actor": context.character, "deed": words},
    )
    return "You did it."


def own_words(context: ToolContext, text: str) -> str:
    """The model's text as the character's words: cleaned, cut, and through its own hook."""
    character = context.character
    if character.location is None:
        raise ToolError("You are nowhere: nobody can hear or see you.")
    limit = context.script.config.max_speech_chars
    words = spoken_words(text, character.key, limit)
    words = spoken_words(character.at_ai_say(words) or "", character.key, limit)
    if not words:
        raise ToolError("There were no words in that.")
    return words


def may_be_heard_by(context: ToolContext, listeners: Iterable[Any]) -> bool:
    """True where these people may hear what this turn's prompt knew."""
    heard_by = frozenset(listener.dbref for listener in listeners)
    return may_be_said(heard_by, context.audience, context.private)


def confidants(context: ToolContext, present: Iterable[Any]) -> list[Any]:
    """Those of the turn's audience who are here."""
    return [listener for listener in present if listener.dbref in context.audience]


def deliver_whisper(context: ToolContext, words: str, receivers: list[Any]) -> str:
    """Whisper to some people; raises ToolError where none of them is here any more."""
    if not receivers:
        raise ToolError("Nobody who may hear this is here any more.")
    note_hops(context)
    context.character.at_say(words, receivers=receivers, whisper=True)
    return "You whispered it."


def note_hops(context: ToolContext) -> None:
    """Leave on the character how many assistants' answers in a row this is, for those who hear."""
    context.character.ndb.ai_hops = context.hops + 1


def people_here(context: ToolContext, present: Iterable[Any]) -> str:
    """Who is here, as a sentence for the model."""
    names = ", ".join(person.get_display_name(context.character) for person in present)
    return f"Here are: {names}." if names else "Nobody is here."
