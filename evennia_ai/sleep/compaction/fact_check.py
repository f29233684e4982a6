"""Count the facts of evicted messages that a summary holds, and that recall finds again.

Nothing is added to a summary: each evicted line stays in the search index over the log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from twisted.internet.defer import inlineCallbacks

from evennia_ai.messages import Audience, Message
from evennia_ai.policy.facts.check import Fact, distinct, facts_in, missing_facts
from evennia_ai.ports import Identity, Memories, Services
from evennia_ai.scheduling import Steps, pause, spread

SAMPLE = 100  # facts looked up for each part; of more, the share found counts for all
RECALLED = 10  # lines found for a fact; a prompt of 400 tokens shows about as many


@dataclass(frozen=True)
class SummaryPart:
    """The part of a summary for one audience."""

    text: str  # empty if every ladder step failed
    rung: str  # the ladder step it came from
    found: int = 0  # facts in the messages that this compaction evicts
    kept: int = 0  # of these, how many the summary holds
    rescued: int = 0  # of the others, how many recall from the log finds


class FactCheck:
    """Finds the facts of messages, and counts those that a summary or a recall holds."""

    def __init__(self, who: Identity, memories: Callable[[], Memories], services: Services) -> None:
        self._who, self._memories, self._services = who, memories, services
        self._put, self._now = services.slices.put, services.now

    @inlineCallbacks
    def find(self, messages: Sequence[Message]) -> Steps[tuple[Fact, ...]]:
        """Find facts in slices: 2,000 messages take 0.25 s (measured). Fires with them."""
        name = self._who.name
        found: list[list[Fact]] = yield spread(
            self._put, messages, lambda message: facts_in(message, name)
        )
        yield pause(self._put)
        return distinct(fact for facts in found for fact in facts)

    @inlineCallbacks
    def check(
        self, part: SummaryPart, messages: Sequence[Message], audience: Audience | None
    ) -> Steps[SummaryPart]:
        """Fire with a part and its figures: the facts of its evicted messages, and where they
        are."""
        facts: tuple[Fact, ...] = yield self.find(messages)
        lost = missing_facts(facts, [part.text])
        yield pause(self._put)
        rescued: int = yield self._count_recalled(lost, audience)
        return replace(part, found=len(facts), kept=len(facts) - len(lost), rescued=rescued)

    @inlineCallbacks
    def _count_recalled(self, facts: Sequence[Fact], audience: Audience | None) -> Steps[int]:
        """Count the facts whose line a search for their names and numbers finds.

        Of more than `SAMPLE` facts so many are looked up, evenly spread, and their share counts for
        all. Fires with the number; fails with StoreUnavailable.
        """
        put, now = self._put, self._now()
        asked = facts[:: -(-len(facts) // SAMPLE) or 1]
        if not asked:
            return 0
        upto = max(fact.seq for fact in facts)

        def is_found(fact: Fact) -> bool:
            query = " ".join(fact.terms or sorted(fact.others))
            found = self._memories().search(query, RECALLED, audience, now, upto=upto)
            return any(item.record.get("seq") == fact.seq for item in found)

        yield self._memories().prepare(self._services)
        found = yield spread(put, asked, is_found)
        return round(len(facts) * sum(found) / len(asked))
