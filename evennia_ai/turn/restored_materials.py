"""Materials at hand: what was consulted in talk that is out of view, read again as it is now."""

from __future__ import annotations

from collections.abc import Sequence

from evennia_ai.messages import Audience
from evennia_ai.policy.audience import KnownLine, speakers_in
from evennia_ai.policy.compaction.consulted import ENTITY, ENTRY, select_restored, split_ref
from evennia_ai.policy.context.projection import View
from evennia_ai.policy.records.provenance import Record, is_known_to
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import Script

LINE_CHARS = 300
NOTED = 3
LABEL_TOKENS = 4  # "At hand: " before each line


def read_restored_materials(
    script: Script, audience: Audience, budget_tokens: int
) -> list[KnownLine]:
    """What `policy.compaction.consulted.select_restored` names, a line each, as far as this
    audience may know of it (P9) and there is room.

    Read anew for each prompt: what was changed since, or is gone, stands as it is now, or not at
    all. Of a journal and profiles that are loaded.

    Args:
        script: the assistant.
        audience: dbrefs of everybody who will hear the answer.
        budget_tokens: the room for all of it.
    """
    view: View = script.conversation.current
    strict = script.config.discretion == "strict"
    lines: list[KnownLine] = []
    for item in select_restored(view.record, view.messages, audience, script.config.discretion):
        kind, id = split_ref(item.ref)  # noqa: A001
        read_again = READERS.get(kind)
        found = read_again(script, id, audience) if read_again is not None else None
        if found is None:
            continue
        budget_tokens -= estimate_tokens(found.text) + LABEL_TOKENS
        if budget_tokens < 0:
            break
        private = strict and (found.private or item.heard_by is not None)
        lines.append(found._replace(private=private))
    return lines


def read_entry(script: Script, id: str, audience: Audience) -> KnownLine | None:
    """An entry of the journal as it is now, None where it is gone, may not be known, or is pinned
    and stands in the prompt already."""
    entry = script.character.journal.get(id)
    if entry is None or entry["pinned"]:
        return None
    if not is_known_to(entry, audience, script.config.discretion):
        return None
    day = entry["timestamp"][:10]
    line = f"you noted on {day}: {clean_heard(entry['content'], LINE_CHARS)}"
    return KnownLine(line, entry["audience"] is not None, speakers_in([entry]))


def read_entity(script: Script, dbref: str, audience: Audience) -> KnownLine | None:
    """Somebody or something as it looks now, if it is in sight, and what is known of it, if it is
    nobody here, of whom the prompt tells already; None where that is nothing."""
    world, character = script.services.world, script.character
    name = clean_heard(world.name_of(character, dbref), LINE_CHARS)
    is_here = dbref in audience | world.listeners(character)
    known = what_is_known(script, dbref, audience, not is_here)
    looks = world.looks_of(character, dbref)
    told = [clean_heard(text, LINE_CHARS) for text in (looks, *map(in_words, known)) if text]
    if not name or not told:
        return None
    private = any(item["audience"] is not None for item in known)
    return KnownLine(f"{name}: {'; '.join(told)}", private, speakers_in(known))


def what_is_known(
    script: Script, dbref: str, audience: Audience, with_values: bool
) -> Sequence[Record]:
    """The newest observations of somebody that an audience may know, and the values that hold."""
    profiles = script.character.ai_profiles
    if not profiles.is_loaded:
        return ()
    discretion = script.config.discretion
    values = profiles.attributes(dbref, audience, discretion) if with_values else ()
    return [*values[-NOTED:], *profiles.observations(dbref, audience, discretion)[-NOTED:]]


def in_words(record: Record) -> str:
    """A value or an observation as a line tells it."""
    if record["kind"] == "attribute":
        return f"{record['attribute']}: {record['value']}"
    return str(record["content"])


READERS = {ENTRY: read_entry, ENTITY: read_entity}
