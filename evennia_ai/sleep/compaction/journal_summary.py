"""Journal the summaries of compactions, and count the facts that they keep."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import BadRecord, StoreUnavailable
from evennia_ai.messages import Audience, ChatMessage
from evennia_ai.policy.compaction.restored_context import is_synthesis, plan_syntheses
from evennia_ai.policy.context.projection import CompactionRecord
from evennia_ai.policy.facts.check import Fact, distinct, facts_in, missing_facts
from evennia_ai.ports import MindContext
from evennia_ai.scheduling import Coroutine, map_in_slices, retry_write, yield_to_reactor

logger = Logger()


@dataclass(frozen=True, eq=False)
class SummaryArchive:
    """Keeps the summaries of compactions in the journal."""

    _mind: MindContext

    @inlineCallbacks
    def archive(self) -> Coroutine[int]:
        """Make the journal's summaries agree with the compactions in force (`plan_syntheses`).

        Fires with how many compactions were not yet in the journal. Never fails, since the
        conversation must go on; what was not done is done later.
        """
        try:
            due = self._mind.log.to_archive()
            if not due:
                return 0
            yield self._mind.character.journal.load(self._mind.slices.put)
            yield retry_write(self._mind.clock, self._update_entries)
            for record, in_force in due:
                yield retry_write(
                    self._mind.clock, partial(self._mind.log.note_archived, record.id, in_force)
                )
        except StoreUnavailable as error:
            message = "{name}: summaries not journalled: {error}; retrying at the next compaction"
            logger.warn(message, name=self._mind.name, error=error)
            return 0
        except Exception:  # noqa: BLE001  # a broken journal must not stop the assistant from answering
            logger.failure("{name}: summaries not journalled", name=self._mind.name)
            return 0
        return len(due)

    def _update_entries(self) -> None:
        """Write, rewrite or remove entries until they agree. Raises StoreUnavailable."""
        journal = self._mind.character.journal
        held = [entry for entry in journal.every() if is_synthesis(entry)]
        plan = plan_syntheses(self._mind.log.current.record, self._mind.log.compaction, held)
        journal.remove(*plan.gone)
        for entry_id, fields in {**plan.changed, **plan.new}.items():
            try:
                if entry_id in plan.new:
                    journal.add(id=entry_id, **fields)
                else:
                    journal.update(entry_id, **fields)
            except BadRecord as error:  # a retry would not make it better
                message = "{name}: summary {id} cannot be journalled and is dropped: {error}"
                logger.warn(message, name=self._mind.name, id=entry_id, error=error)

    def undo(self) -> CompactionRecord | None:
        """Undo the last compaction; returns it. Raises StoreUnavailable.

        Its entries get their earlier text back, or go.
        """
        undone = self._mind.log.undo()
        if undone is not None:
            self.archive().addErrback(
                lambda failure: logger.failure(
                    "taking a summary's entries back failed", failure=failure
                )
            )
        return undone


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


@dataclass(frozen=True, eq=False)
class FactCheck:
    """Finds the facts of messages, and counts those that a summary or a recall holds."""

    _mind: MindContext

    @inlineCallbacks
    def find(self, messages: Sequence[ChatMessage]) -> Coroutine[tuple[Fact, ...]]:
        """Find facts in slices: 2,000 messages take 0.25 s (measured). Fires with them."""
        name = self._mind.name
        fact_lists: list[list[Fact]] = yield map_in_slices(
            self._mind.slices.put, messages, lambda message: facts_in(message, name)
        )
        yield yield_to_reactor(self._mind.slices.put)
        return distinct(fact for facts in fact_lists for fact in facts)

    @inlineCallbacks
    def check(
        self, part: SummaryPart, messages: Sequence[ChatMessage], audience: Audience | None
    ) -> Coroutine[SummaryPart]:
        """Fire with a part and its figures: the facts of its messages, and where they are."""
        facts: tuple[Fact, ...] = yield self.find(messages)
        lost = missing_facts(facts, [part.text])
        yield yield_to_reactor(self._mind.slices.put)
        rescued: int = yield self._count_recalled(lost, audience)
        return replace(part, found=len(facts), kept=len(facts) - len(lost), rescued=rescued)

    @inlineCallbacks
    def lost(
        self, messages: Sequence[ChatMessage], text: str, audience: Audience | None
    ) -> Coroutine[list[Fact]]:
        """Fire with the facts that stand neither in a summary's part nor are found by a search."""
        facts: tuple[Fact, ...] = yield self.find(messages)
        missing = missing_facts(facts, [text])
        answers: list[bool] = yield self._are_recalled(missing, audience)
        return [fact for fact, is_found in zip(missing, answers, strict=True) if not is_found]

    @inlineCallbacks
    def _count_recalled(self, facts: Sequence[Fact], audience: Audience | None) -> Coroutine[int]:
        """Count the facts whose line a search for their names and numbers finds.

        Of more than `SAMPLE` facts so many are looked up, evenly spread, and their share counts for
        all. Fires with the number; fails with StoreUnavailable.
        """
        sample = facts[:: -(-len(facts) // SAMPLE) or 1]
        answers: list[bool] = yield self._are_recalled(sample, audience)
        return round(len(facts) * sum(answers) / max(1, len(sample)))

    @inlineCallbacks
    def _are_recalled(
        self, facts: Sequence[Fact], audience: Audience | None
    ) -> Coroutine[list[bool]]:
        """Fire with True for each fact whose line a search for its names and numbers finds."""
        put, now, memories = self._mind.slices.put, self._mind.now(), self._mind.memories()
        upto = max((fact.source.seq for fact in facts), default=0)

        def is_found(fact: Fact) -> bool:
            query = " ".join(fact.terms or sorted(fact.others))
            hits = memories.search(query, RECALLED, audience, now, upto=upto)
            return any(item.record.get("seq") == fact.source.seq for item in hits)

        if facts:
            yield memories.prepare(self._mind.services)
        answers: list[bool] = yield map_in_slices(put, facts, is_found)
        return answers
