"""Share memories learnt at first hand with a faction, a place, or the world."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

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
from evennia_ai.ports import Character, Script
from evennia_ai.scheduling import Steps, pause, persist, spread
from evennia_ai.turn.background import skip, write_in_pieces

AT_ONCE = 8  # entries checked or told at a stretch: 5 ms (measured)


@inlineCallbacks
def share_memories(script: Script, character: Character) -> Steps[dict[str, Any]]:
    """Tell a character's scopes what it learnt, and take back what it no longer tells.

    Each entry is told once, to the scopes that the character has at that time; they keep it when
    the character moves on. Private entries are never read; see
    `policy.records.shared_memory.may_be_told`. A character with discretion "trusting" mixes
    whispered words into its entries, so it tells nothing new.

    Fires with ``success``, ``told`` (entries) and ``taken_back`` (an entry counts once for each of
    its scopes); or with ``skipped`` True and ``reason``. Fails with StoreUnavailable.
    """
    shared = script.services.shared_memory
    chosen = read_scopes(script.config.share_memory)
    told = shared.told_by(script.id)
    if not chosen and not told:
        return skip("nothing is shared")
    known = frozenset(one.entry for one in told)
    tells_new = bool(chosen) and script.config.discretion == "strict"
    standing: list[Record] = yield select_standing(script, character, known, tells_new=tells_new)
    gone = select_taken_back(told, frozenset(entry["id"] for entry in standing), chosen)
    scopes = select_scopes(chosen, shared.labels_of(character))
    new = [entry for entry in standing if entry["id"] not in known] if scopes else []
    if not new and not gone:
        return skip("nothing new to tell")
    yield persist(script.services.clock, partial(shared.take_back, gone))
    tell = partial(write_tellings, script, character, scopes)
    count: int = yield write_in_pieces(script, new, AT_ONCE, tell)
    return {"success": True, "told": count, "taken_back": len(gone)}


def write_tellings(
    script: Script, character: Character, scopes: Sequence[str], entries: Sequence[Record]
) -> int:
    """Tell those entries that have not changed meanwhile, in one transaction; return how many."""
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
    script: Script, character: Character, known: frozenset[str], *, tells_new: bool
) -> Steps[list[Record]]:
    """Select the entries that may be told. Fires with the `MOST_TOLD` most important first.

    Entries in ``known`` were checked when they were told first; ``tells_new`` selects others, too.
    """
    journal, put = character.journal, script.services.slices.put
    least: int = script.config.share_importance
    yield journal.load(put)

    def look(id: str) -> Record | None:
        entry = journal.get(id)
        return entry if entry and may_be_told(entry, least) else None

    looked: list[Record | None] = yield spread(put, journal.ids(), look)
    found = sorted((entry for entry in looked if entry), key=worth_telling, reverse=True)
    if not tells_new:
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
    script: Script, entries: Sequence[Record], known: frozenset[str], rumours: Rumours
) -> list[Record]:
    """Return entries that others know already, or that come from public words and are no rumour."""
    seqs = {seq for entry in entries if entry["id"] not in known for seq in entry["source_seqs"]}
    said = script.services.shared_memory.open_among(script.id, seqs)
    return [
        entry
        for entry in entries
        if entry["id"] in known or (was_said_openly(entry, said) and not rumours.is_echo(entry))
    ]


@inlineCallbacks
def gather_rumours(script: Script) -> Steps[Rumours]:
    """Collect everything that others told the character. Fires with it."""
    rumours, names = Rumours(), dict[str, str]()
    services = script.services
    memories: Any = script.memories  # with ``records``, since the character shares
    yield memories.prepare(services, upto=0)  # its own lines are no rumours

    def take_in(record: Record) -> None:
        teller = record["teller"]
        if teller not in names:
            names[teller] = services.world.name_of(script.character, teller)
        rumours.add(record, names[teller])

    yield spread(services.slices.put, memories.records(), take_in)
    return rumours
