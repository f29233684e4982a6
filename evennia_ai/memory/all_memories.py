"""One search over all that a character remembers: its notes, what it knows of others, and long
ago."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.errors import MemoryUnavailable
from evennia_ai.memory.long_term import recall_by_meaning
from evennia_ai.messages import Audience
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.retrieval.rerank import fuse_ranks, newest_first

LOOKED_AT = 24


@dataclass(frozen=True)
class Hit:
    """A record that was found. ``score`` is that of the search over notes and values, which means
    something only beside others of the same search, ``likeness`` that of long-term memory; None
    where it was not found there."""

    record: Record
    score: float | None
    likeness: float | None


@inlineCallbacks
def search_all_memories(
    script: Any, character: Any, query: str, audience: Audience
) -> Generator[Deferred[Any], Any, list[Hit]]:
    """Everything that fits some words and that an audience may know of (P9), best first.

    Args:
        script: the assistant.
        character: its character.
        query: what is looked for.
        audience: dbrefs of everybody who will hear what comes of it; of nobody, what is public.

    Fires with the hits; where long-term memory is down, with those among notes and values. Fails
    with StoreUnavailable and TurnAborted.
    """
    yield script.memories.prepare(script.services, [query])
    discretion, now = script.config.discretion, script.services.now()
    near = script.memories.search(query, LOOKED_AT, audience, now, discretion)
    try:
        far = yield recall_by_meaning(script, character, query, LOOKED_AT, audience)
    except MemoryUnavailable:  # its own notes are what there is then; `aistatus` says so
        far = []
    scores = {hit.record["id"]: hit.score for hit in near}
    likenesses = {record["id"]: likeness for record, likeness in far}
    ranked = fuse_ranks([hit.record for hit in near], [record for record, _ in far])
    return [
        Hit(record, scores.get(record["id"]), likenesses.get(record["id"]))
        for record in newest_first(query, ranked, now)
    ]
