"""Describe the people present, as the character knows them, for the end of a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import usable_window
from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import Audience, turn_label
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.authors import GAME, of_records
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
PEOPLE_PART = 0.02  # share of the window


def describe_present(
    script: Script, audience: Audience, known_only: bool = False
) -> Sequence[KnownLine]:
    """Return a line for each person present: what the character knows and the audience may (P9).

    With ``known_only``, those of whom it only knows how well they get on have none.

    The setting ``entity_tokens`` limits the lines; a small window gets fewer. A tick loads the
    profiles before it thinks; without loaded profiles there are no lines.
    """
    profiles, window = script.character.ai_profiles, usable_window(script.config, script.profile)
    room = min(int(script.config.entity_tokens), int(PEOPLE_PART * window))
    if not room or not profiles.is_loaded:
        return ()
    lines: list[KnownLine] = []
    present = script.services.world.listeners(script.character) | audience
    # Conversation partners first, then by number.
    for dbref in sorted(present, key=lambda who: (not is_partner(script, who), int(who[1:]))):
        found = describe(script, profiles, dbref, audience, known_only)
        if found is None:
            continue
        room -= estimate_tokens(found.text)
        if room < 0 or len(lines) == MOST_PEOPLE:
            break
        lines.append(found)
    return lines


def is_partner(script: Script, dbref: str) -> bool:
    """Return True if the character is in conversation with somebody."""
    return dbref in script.partners and script.is_in_conversation(dbref)


def describe(
    script: Script,
    profiles: EntityProfiles,
    dbref: str,
    audience: Audience,
    known_only: bool = False,
) -> KnownLine | None:
    """Return the line of one person, None if nothing is known about them."""
    values = profiles.attributes(dbref, audience)
    relationship = profiles.relationship(dbref)
    if not values and (known_only or not relationship["contacts"]):
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
    private = any(value["audience"] is not None for value in values)
    authors = of_records(values) or frozenset({GAME})
    return KnownLine(line, private, authors) if line and person.name else None


def is_contradicted(profiles: EntityProfiles, value: Record, audience: Audience) -> bool:
    """Return True if another source, which all of this audience may know, contradicts a value."""
    others = filter(None, map(profiles.get, value["contradicts"]))
    return any(is_known_to(other, audience) for other in others)


@inlineCallbacks
def record_contacts(script: Script, turn: TurnRecord) -> Steps[None]:
    """Raise the familiarity of everybody who spoke in a turn, and update their sentiment.

    The sentiment uses public words only, since everybody can see it (P9). If the database is busy,
    only this contact is lost. Fires when all contacts are stored.
    """
    if not script.may_think():  # deleted or stopped while the answer was stored
        return
    profiles = script.character.ai_profiles
    yield profiles.load(script.services.slices.put)
    if not script.may_think():
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
            named = f"{script.character_name}, {turn_label(turn.id)}"
            log.info("{named}: contact not stored: {error}", named=named, error=error)
