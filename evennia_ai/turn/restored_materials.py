"""Restore working materials: what the character consulted in evicted messages, read again."""

from __future__ import annotations

from collections.abc import Sequence

from evennia_ai.messages import Audience
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.authors import of_record, of_records
from evennia_ai.policy.compaction.consulted import ENTITY, ENTRY, select_restored, split_ref
from evennia_ai.policy.records.provenance import Record, is_known_to
from evennia_ai.policy.sanitize import clean_heard
from evennia_ai.policy.tokens import estimate_tokens
from evennia_ai.ports import Script

LINE_CHARS = 300
NOTED = 3
MARK_TOKENS = 2  # the line break and "- " of each line


def read_restored_materials(
    script: Script, audience: Audience, budget_tokens: int
) -> list[KnownLine]:
    """Return one line for each restored material that this audience may know (P9).

    `policy.compaction.consulted.select_restored` chooses the materials. Each is read again for each
    prompt, from a loaded journal and loaded profiles, so that changed or deleted records show
    correctly.
    """
    view = script.conversation.current
    lines: list[KnownLine] = []
    for item in select_restored(view.record, view.messages, audience):
        kind, id = split_ref(item.ref)  # noqa: A001
        found = READERS[kind](script, id, audience) if kind in READERS else None
        if found is None:
            continue
        budget_tokens -= estimate_tokens(found.text) + MARK_TOKENS
        if budget_tokens < 0:
            break
        private = found.private or item.heard_by is not None
        lines.append(found._replace(private=private))
    return lines


def read_entry(script: Script, id: str, audience: Audience) -> KnownLine | None:
    """Return a journal entry as a line, None if it is deleted, secret, or pinned."""
    entry = script.character.journal.get(id)
    if entry is None or not is_known_to(entry, audience):
        return None
    if entry["pinned"]:  # in the prompt already
        return None
    day = entry["timestamp"][:10]
    line = f"you noted on {day}: {clean_heard(entry['content'], LINE_CHARS)}"
    return KnownLine(line, entry["audience"] is not None, of_record(entry))


def read_entity(script: Script, dbref: str, audience: Audience) -> KnownLine | None:
    """Return a person or thing as a line: its looks if visible, and what is known about it."""
    world, character = script.services.world, script.character
    name = clean_heard(world.name_of(character, dbref), LINE_CHARS)
    # The prompt holds the values of people present already.
    is_here = dbref in audience | world.listeners(character)
    known = known_records(script, dbref, audience, not is_here)
    looks = world.looks_of(character, dbref)
    told = [clean_heard(text, LINE_CHARS) for text in (looks, *map(record_text, known)) if text]
    if not name or not told:
        return None
    private = any(item["audience"] is not None for item in known)
    authors = world.authors_of(dbref) | of_records(known)
    return KnownLine(f"{name}: {'; '.join(told)}", private, authors)


def known_records(
    script: Script, dbref: str, audience: Audience, with_values: bool
) -> Sequence[Record]:
    """Return the newest values and observations of somebody that an audience may know."""
    profiles = script.character.ai_profiles
    if not profiles.is_loaded:
        return ()
    values = profiles.attributes(dbref, audience) if with_values else []
    return [*values[-NOTED:], *profiles.observations(dbref, audience)[-NOTED:]]


def record_text(record: Record) -> str:
    """Return a value or an observation as it is shown on a line."""
    if record["kind"] == "attribute":
        return f"{record['attribute']}: {record['value']}"
    return str(record["content"])


READERS = {ENTRY: read_entry, ENTITY: read_entity}
