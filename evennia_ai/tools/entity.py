"""The tool to store an observation about a person, a thing or a place."""

from functools import partial
from typing import Any

from evennia.objects.models import ObjectDB
from pydantic import BaseModel
from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import NothingDone
from evennia_ai.game.perception import (
    all_named,
    authors_of_object,
    can_hear,
    display_name,
    find_named,
    plain,
)
from evennia_ai.policy.audience import people_among
from evennia_ai.policy.compaction.restored_context import entity_ref
from evennia_ai.ports import ToolContext, ToolResult
from evennia_ai.scheduling import Coroutine
from evennia_ai.store.attributes import numbers_of
from evennia_ai.tools.base import tool
from evennia_ai.tools.memory_sources import (
    MOST_OF_A_DAY,
    content_of,
    ensure_may_note,
    sources_of,
    store_record,
)
from evennia_ai.tools.tool_relevance import acts_unasked
from evennia_ai.tools.world import around
from evennia_ai.turn.tool_executor import DONE

OBSERVATION_CHARS = 400


class ObservationArguments(BaseModel):
    """What was noticed, and of whom."""

    entity: str
    observation: str


@tool("update_entity_observation", world=False, safe_to_retry=True, needed=acts_unasked, rare=True)
@inlineCallbacks
def update_entity_observation(
    context: ToolContext, arguments: ObservationArguments
) -> Coroutine[ToolResult]:
    """Note one thing you learnt about somebody or something."""
    character = context.character
    observation = content_of(context, arguments.observation, OBSERVATION_CHARS)
    yield character.ai_profiles.load(context.assistant.services.slices.put)
    entity = find_entity(arguments.entity, context)
    if entity is None:
        raise NothingDone(f"You know nobody and nothing called '{plain(arguments.entity, 60)}'.")
    ensure_may_note(context, character.ai_profiles.newest(MOST_OF_A_DAY), "at")
    observe = character.ai_profiles.observe
    yield store_record(context, partial(observe, entity.dbref, observation, **sources_of(context)))
    kept = f"You will keep that in mind about {display_name(entity, character)}."
    changed = (entity_ref(entity.dbref),)
    return ToolResult(DONE, kept, changed=changed, authors=authors_of_object(entity))


def find_entity(name: str, context: ToolContext) -> Any | None:
    """Return the object that a name means: here, else a speaker or somebody with a profile.

    Of several people here it is the one who speaks; raises NothingDone if that is ambiguous.
    """
    character = context.character
    here = [*around(character), *filter(None, [character.location])]
    people = [obj for obj in all_named(name, here, character) if can_hear(obj)]
    if len(people) > 1:
        people = [obj for obj in people if obj.dbref in context.causes]
        if len(people) != 1:
            raise NothingDone(f"Several people here are called '{plain(name, 60)}': who is meant?")
        return people[0]
    if entity := find_named(name, here, character):
        return entity
    numbers = numbers_of(people_among({*context.speakers, *character.ai_profiles.entities()}))
    elsewhere = ObjectDB.objects.filter(id__in=numbers).order_by("id")
    return find_named(name, elsewhere, character)
