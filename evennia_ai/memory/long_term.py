"""What comes to mind of long ago: long-term memory proposes, the journal disposes."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.messages import Audience
from evennia_ai.policy.records.long_term import agent_of, best_rows, permitted_keys, select_true
from evennia_ai.policy.records.provenance import Record

SPARE = 2  # times as many are asked for as are wanted: some may not be true any more


@inlineCallbacks
def recall_by_meaning(
    script: Any, character: Any, query: str, limit: int, audience: Audience
) -> Generator[Deferred[Any], Any, list[tuple[Record, float]]]:
    """The journal's entries nearest in meaning to some words, that an audience may know of.

    Args:
        script: the assistant.
        character: its character.
        query: what is looked for.
        limit: how many entries at most.
        audience: dbrefs of everybody who will hear what comes of it.

    Fires with (entry, likeness) pairs, best first; fails with MemoryUnavailable, and then the
    journal's own search is what there is, and with TurnAborted.
    """
    journal, discretion = character.journal, script.config.discretion
    yield journal.load(script.services.slices.put)
    keys = permitted_keys(journal.audiences(), audience, discretion)
    rows = yield script.services.semantic.search(agent_of(character.id), query, limit * SPARE, keys)
    ranked = best_rows(rows, limit * SPARE)
    return select_true(ranked, journal.get, audience, discretion)[:limit]
