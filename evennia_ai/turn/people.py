"""Who is here, as the character knows them: lines for the end of a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import usable_window
from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import Audience
from evennia_ai.policy.audience import KnownLine, speakers_in
from evennia_ai.policy.consolidation.relationship import (
    Acquaintance,
    acquaintance_line,
    mean_sentiment,
)
from evennia_ai.policy.records.provenance import Record, is_known_to
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import EntityProfiles, Script, TurnRecord
from evennia_ai.scheduling import Steps

log = Logger()

LABEL = "Of those here"
MOST_PEOPLE = 6
PEOPLE_PART = 0.02  # of the window


def describe_present(script: Script, audience: Audience) -> Sequence[KnownLine]:
    """What the character knows of those present, a line each, within the room of the setting
    ``entity_tokens`` and as far as this audience may know of it (P9).

    Of profiles that are loaded, which a tick sees to before it thinks; of others nothing.

    Args:
        script: the assistant.
        audience: dbrefs of everybody who will hear the answer.
    """
    profiles, room = script.character.ai_profiles, room_for_people(script)
    if not room or not profiles.is_loaded:
        return ()
    lines: list[KnownLine] = []
    for dbref in nearest_first(script, audience):
        found = describe(script, profiles, dbref, audience)
        if found is None:
            continue
        room -= estimate_tokens(found.text)
        if room < 0 or len(lines) == MOST_PEOPLE:
            break
        lines.append(found)
    return lines


def room_for_people(script: Script) -> int:
    """Tokens of a prompt for what is known of those present: no more than the end of a small
    window's prompt can bear."""
    window = usable_window(script.config, script.profile)
    return min(int(script.config.entity_tokens), int(PEOPLE_PART * window))


def nearest_first(script: Script, audience: Audience) -> list[str]:
    """Dbrefs of those present: whom it talks with before the others, then by their age."""
    present = script.services.world.listeners(script.character) | audience
    return sorted(present, key=lambda who: (not is_partner(script, who), int(who.lstrip("#"))))


def is_partner(script: Script, dbref: str) -> bool:
    """True where the two are in conversation."""
    return dbref in script.partners and script.is_in_conversation(dbref)


def describe(
    script: Script, profiles: EntityProfiles, dbref: str, audience: Audience
) -> KnownLine | None:
    """The line of one person, None where nothing is known of him."""
    discretion = script.config.discretion
    values = profiles.attributes(dbref, audience, discretion)
    relationship = profiles.relationship(dbref)
    if not values and not relationship["contacts"]:
        return None
    world, character = script.services.world, script.character
    person = Acquaintance(
        name=world.name_of(character, dbref),
        dbref=dbref,
        relationship=relationship,
        values=values,
        contradicted=frozenset(
            value["id"] for value in values if is_contradicted(profiles, value, audience)
        ),
        is_talking=is_partner(script, dbref),
    )
    line = acquaintance_line(
        person, script.services.now(), lambda source: world.name_of(character, source)
    )
    private = discretion == "strict" and any(value["audience"] is not None for value in values)
    return KnownLine(line, private, speakers_in(values)) if line and person.name else None


def is_contradicted(profiles: EntityProfiles, value: Record, audience: Audience) -> bool:
    """True where another source says something else, of which all of this audience may know."""
    others = filter(None, map(profiles.get, value["contradicts"]))
    return any(is_known_to(other, audience) for other in others)


@inlineCallbacks
def record_contacts(script: Script, turn: TurnRecord) -> Steps[None]:
    """After a turn: who spoke with the character is a little better known to it. How it went is
    told from what all could hear alone, since it shows to all (P9).

    A database that is busy now costs no more than this one contact. Fires when it is done.
    """
    profiles = script.character.ai_profiles
    yield profiles.load(script.services.slices.put)
    if not script.may_think():  # deleted, or stopped, while the turn was stored
        return
    for speaker in sorted({event.heard.speaker for event in turn.events} - {""}):
        lines = [
            event.heard.text
            for event in turn.events
            if event.heard.speaker == speaker and not event.heard.private
        ]
        try:
            profiles.note_contact(speaker, mean_sentiment(lines))
        except StoreUnavailable as error:
            log.info(
                "{name}: a contact not noted: {error}", name=script.character_name, error=error
            )
