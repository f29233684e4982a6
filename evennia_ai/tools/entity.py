"""Keeping in mind what was noticed of a person, a thing or a place."""

from __future__ import annotations

from typing import Any

from evennia.objects.models import ObjectDB
from pydantic import BaseModel, Field
from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import BadRecord, ToolError
from evennia_ai.game.perception import all_named, can_hear, display_name, find_named, plain
from evennia_ai.policy.compaction.consulted import entity_ref
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.ports import ToolContext
from evennia_ai.scheduling import Steps, persist
from evennia_ai.tools.base import Reached, tool
from evennia_ai.tools.memory_sources import sources_of
from evennia_ai.tools.world import around

OBSERVATION_CHARS = 400


class ObservationArguments(BaseModel):
    """What was noticed, and of whom."""

    entity: str = Field(description="The name of a person, thing or place.")
    observation: str = Field(description="What you noticed, in one sentence.")


@tool("update_entity_observation", world=False, safe_to_retry=True)
@inlineCallbacks
def update_entity_observation(
    context: ToolContext, arguments: ObservationArguments
) -> Steps[Reached]:
    """Keep in mind something you noticed about a person, thing or place."""
    character, services = context.character, context.script.services
    observation = clean_heard(arguments.observation, OBSERVATION_CHARS)
    if not observation:
        raise ToolError("There were no words in that.")
    yield character.ai_profiles.load(services.slices.put)
    entity = find_entity(arguments.entity, context)
    if entity is None:
        raise ToolError(f"You know nobody and nothing called '{plain(arguments.entity, 60)}'.")

    def write() -> str:
        try:
            character.ai_profiles.observe(entity.dbref, observation, **sources_of(context))
        except BadRecord as error:
            raise ToolError(f"That does not fit: {error}") from error
        return f"You will keep that in mind about {display_name(entity, character)}."

    kept: str = yield persist(services.clock, write)
    return Reached(kept, changed=(entity_ref(entity.dbref),))


def find_entity(name: str, context: ToolContext) -> Any | None:
    """Whom a name means: somebody or something here, who speaks in this turn, or whom the
    character knows already; in that order. Of several people here who share it, the one who speaks;
    raises ToolError where that does not tell them apart: one must not be known for another."""
    character = context.character
    here = [*around(character), *filter(None, [character.location])]
    people = [obj for obj in all_named(name, here, character) if can_hear(obj)]
    if len(people) > 1:
        people = [obj for obj in people if obj.dbref in context.speakers]
        if len(people) != 1:
            raise ToolError(f"Several people here are called '{plain(name, 60)}': who is meant?")
        return people[0]
    return find_named(name, here, character) or find_named(
        name, objects_of({*context.speakers, *character.ai_profiles.entities()}), character
    )


def objects_of(dbrefs: set[str]) -> list[Any]:
    """The objects of some dbrefs that are still there."""
    numbers = [int(dbref[1:]) for dbref in dbrefs if dbref[1:].isdecimal()]
    return list(ObjectDB.objects.filter(id__in=numbers).order_by("id"))
