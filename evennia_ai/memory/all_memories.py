"""One search over journal, entity profiles and long-term memory."""

from __future__ import annotations

from dataclasses import dataclass

from twisted.internet.defer import inlineCallbacks

from evennia_ai.errors import MemoryUnavailable
from evennia_ai.messages import Audience
from evennia_ai.policy.records.long_term import agent_of, best_rows, permitted_keys, select_true
from evennia_ai.policy.records.provenance import Record
from evennia_ai.policy.retrieval.rerank import fuse_ranks, newest_first
from evennia_ai.ports import Character, Script
from evennia_ai.scheduling import Steps

CANDIDATES = 24
SPARE = 2  # ask for more rows than are wanted: some may have been corrected meanwhile


@dataclass(frozen=True)
class Hit:
    """A record that was found, as it is now.

    ``score`` is from journal and profiles, ``likeness`` from long-term memory; each is comparable
    within one search only, and None if its search did not find the record.
    """

    record: Record
    score: float | None
    likeness: float | None


@inlineCallbacks
def search_all_memories(
    script: Script, character: Character, query: str, audience: Audience
) -> Steps[list[Hit]]:
    """Search everything that the character remembers and the audience may know (P9).

    ``audience`` is the dbrefs of everybody who will hear the result; an empty one finds what is
    public. Fires with the hits, best first; if long-term memory is unavailable, with those of the
    journal and the profiles. Fails with StoreUnavailable and TurnAborted.
    """
    yield script.memories.prepare(script.services, [query])
    discretion, now = script.config.discretion, script.services.now()
    record = script.conversation.current.record
    upto = record.upto_seq if record else 0  # the prompt holds what was said since
    near = script.memories.search(query, CANDIDATES, audience, now, discretion, upto=upto)
    try:
        far = yield search_long_term(script, character, query, CANDIDATES, audience)
    except MemoryUnavailable:  # `aistatus` shows why
        far = []
    scores = {hit.record["id"]: hit.score for hit in near}
    likenesses = {record["id"]: likeness for record, likeness in far}
    ranked = fuse_ranks([hit.record for hit in near], [record for record, _ in far])
    return [
        Hit(record, scores.get(record["id"]), likenesses.get(record["id"]))
        for record in newest_first(query, ranked, now)
    ]


@inlineCallbacks
def search_long_term(
    script: Script, character: Character, query: str, limit: int, audience: Audience
) -> Steps[list[tuple[Record, float]]]:
    """Find the entries that are nearest in meaning and that the audience may know.

    Long-term memory only proposes ids; the journal says what they hold and who may know it. Fires
    with at most ``limit`` (entry, likeness) pairs, best first; fails with MemoryUnavailable and
    TurnAborted.
    """
    journal, discretion = character.journal, script.config.discretion
    yield journal.load(script.services.slices.put)
    keys = permitted_keys(journal.audiences(), audience, discretion)
    rows = yield script.services.semantic.search(agent_of(character.id), query, limit * SPARE, keys)
    ranked = best_rows(rows, limit * SPARE)
    return select_true(ranked, journal.get, audience, discretion)[:limit]
