"""Asleep, what was learnt at first hand goes to those who share: a faction, a place, everybody."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.policy.records.provenance import Record, people_in
from evennia_ai.policy.records.shared_memory import (
    MOST_TOLD,
    Rumours,
    is_as_told,
    make_tellings,
    may_be_told,
    read_scopes,
    select_scopes,
    select_taken_back,
    was_said_openly,
    worth_telling,
)
from evennia_ai.scheduling import pause, persist, spread

AT_ONCE = 8  # entries looked into, or told, at a stretch: 5 ms (measured)


@inlineCallbacks
def share_memories(script: Any, character: Any) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """Tell the scopes of a character what it learnt, and take back what it tells no more.

    Each entry is told once, to the scopes that the character has then; they keep it when it goes
    elsewhere. What others may not know is never looked at; see
    `policy.records.shared_memory.may_be_told`. A character whose discretion is "trusting" mixes
    what was whispered into what it writes, so it tells nothing new.

    Args:
        script: the assistant.
        character: its character, with ``journal``.

    Fires with ``success``, ``told`` (entries) and ``taken_back`` (an entry counts for each of its
    scopes); or with ``skipped`` True and ``reason``. Fails with StoreUnavailable.
    """
    shared, put = script.services.shared_memory, script.services.slices.put
    chosen = read_scopes(script.config.share_memory)
    told = shared.told_by(script.id)
    if not chosen and not told:
        return {"skipped": True, "reason": "nothing is shared"}
    known = frozenset(one.entry for one in told)
    standing: list[Record] = yield select_standing(script, character, known)
    gone = select_taken_back(told, frozenset(entry["id"] for entry in standing), chosen)
    scopes = select_scopes(chosen, shared.labels_of(character))
    new = [entry for entry in standing if entry["id"] not in known] if scopes else []
    if not new and not gone:
        return {"skipped": True, "reason": "nothing new to tell"}
    yield persist(script.services.clock, partial(shared.take_back, gone))
    count = 0
    for start in range(0, len(new), AT_ONCE):
        yield pause(put)
        write = partial(write_tellings, script, character, new[start : start + AT_ONCE], scopes)
        count += yield persist(script.services.clock, write)
    return {"success": True, "told": count, "taken_back": len(gone)}


def write_tellings(
    script: Any, character: Any, entries: Sequence[Record], scopes: Sequence[str]
) -> int:
    """Tell some entries, as far as they still say the same, in one transaction; returns how
    many."""
    now, delay_s = script.services.now(), script.config.share_delay
    still = [entry for entry in entries if is_as_told(entry, character.journal.get(entry["id"]))]
    tellings = [
        telling
        for entry in still
        for telling in make_tellings(entry, scopes, now, delay_s, people_in(entry))
    ]
    script.services.shared_memory.tell(script.id, character.dbref, now, tellings)
    return len(still)


@inlineCallbacks
def select_standing(
    script: Any, character: Any, known: frozenset[str]
) -> Generator[Deferred[Any], Any, list[Record]]:
    """Fires with the entries that may be told, what matters most first, `MOST_TOLD` at most. What
    is ``known`` to others already was looked into when they were told."""
    journal, put = character.journal, script.services.slices.put
    least: int = script.config.share_importance
    yield journal.load(put)

    def look(id: str) -> Record | None:
        entry: Record | None = journal.get(id)
        return entry if entry and may_be_told(entry, least) else None

    looked: list[Record | None] = yield spread(put, journal.ids(), look)
    found = sorted((entry for entry in looked if entry), key=worth_telling, reverse=True)
    if script.config.discretion != "strict":
        found = [entry for entry in found if entry["id"] in known]
    fresh = any(entry["id"] not in known for entry in found[:MOST_TOLD])
    rumours: Rumours = (yield gather_rumours(script)) if fresh else Rumours()
    standing: list[Record] = []
    for start in range(0, len(found), AT_ONCE):
        if len(standing) >= MOST_TOLD:
            break
        yield pause(put)
        standing += select_first_hand(script, found[start : start + AT_ONCE], known, rumours)
    return standing[:MOST_TOLD]


def select_first_hand(
    script: Any, entries: Sequence[Record], known: frozenset[str], rumours: Rumours
) -> list[Record]:
    """The entries that others know already, or that were made of what was said openly and are no
    rumours."""
    seqs = {seq for entry in entries if entry["id"] not in known for seq in entry["source_seqs"]}
    said = script.services.shared_memory.open_among(script.id, seqs)
    return [
        entry
        for entry in entries
        if entry["id"] in known or (was_said_openly(entry, said) and not rumours.is_echo(entry))
    ]


@inlineCallbacks
def gather_rumours(script: Any) -> Generator[Deferred[Any], Any, Rumours]:
    """Fires with all that others told the character."""
    rumours, names = Rumours(), dict[str, str]()
    services, memories = script.services, script.memories
    yield memories.prepare(services)

    def take_in(record: Record) -> None:
        teller = record["teller"]
        if teller not in names:
            names[teller] = services.world.name_of(script.character, teller)
        rumours.add(record, names[teller])

    yield spread(services.slices.put, memories.records(), take_in)
    return rumours
