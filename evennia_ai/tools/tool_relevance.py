"""Facts about a moment that decide which of the built-in tools the character can need."""

from typing import Any

from evennia.objects.objects import DefaultExit

from evennia_ai.game.perception import listening_objects
from evennia_ai.policy.facts.terms import cues_of
from evennia_ai.ports import ToolContext
from evennia_ai.ports.extension import memory_sources

LATEST = 4  # messages
READ_CHARS = 400  # of each; the search takes 2 ms for 1,000 characters


def has_exits(context: ToolContext) -> bool:
    """Return True if a way leads out of the character's place."""
    place = context.character.location
    return place is not None and any(isinstance(obj, DefaultExit) for obj in place.contents)


def carries_things(context: ToolContext) -> bool:
    return bool(context.character.contents)


def sees_things(context: ToolContext) -> bool:
    """Return True if the character sees a thing that it may pick up."""
    character = context.character
    here = character.location.contents if character.location else ()
    return any(
        obj.access(character, "get") and obj.access(character, "view")
        for obj in here
        if obj is not character
    )


def is_in_company(context: ToolContext) -> bool:
    """Return True if somebody would not hear a whisper; `say` answers a whisper by a whisper."""
    return len(listening_objects(context.character)) > 1


def has_containers(context: ToolContext) -> bool:
    """Return True if the character carries a thing, and something near it can hold things."""
    character = context.character
    near = (*character.contents, *(character.location.contents if character.location else ()))
    return bool(character.contents) and any(is_open(obj, character) for obj in near)


def is_open(obj: Any, character: Any) -> bool:
    """Return True for a container (contrib ``containers``) that the character may use."""
    return hasattr(obj, "at_pre_put_in") and bool(obj.access(character, "get_from"))


def acts_unasked(context: ToolContext) -> bool:
    return not context.speakers


def has_journal(context: ToolContext) -> bool:
    return bool(context.character.journal.ids())


def has_memories(context: ToolContext) -> bool:
    """Return True if the character has a journal or profiles, or an extension adds memories."""
    profiles, assistant = context.character.ai_profiles, context.assistant
    return bool(has_journal(context) or profiles.live_sources() or memory_sources(assistant))


def has_evicted_talk(context: ToolContext) -> bool:
    return context.assistant.log.current.record is not None


def has_to_note(context: ToolContext) -> bool:
    """Return True if nobody waits for an answer, or there is much to note (`must_remember`)."""
    return acts_unasked(context) or must_remember(context)


def must_remember(context: ToolContext) -> bool:
    """Return True if it hears of a promise or a debt, or old messages will soon be evicted."""
    use, latest = context.assistant.use(), context.assistant.log.view()[-LATEST:]
    lines = (m["content"][:READ_CHARS] for m in latest if m["role"] == "user")
    return use.ratio >= context.assistant.config.mask_threshold or any(map(cues_of, lines))
