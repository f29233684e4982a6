"""Compact a conversation: summarise what goes, and store one record of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import AssistantConfig
from evennia_ai.errors import CannotUndo
from evennia_ai.policy.audience import audience_of
from evennia_ai.policy.compaction.plan import (
    EMERGENCY,
    MANUAL,
    OVERFLOW,
    SLEEP,
    STRIKES,
    TOO_LITTLE,
    CompactionLimits,
    CompactionOrder,
    ContextUse,
    DecidedCompaction,
    Skip,
    decide_compaction,
    plan_last_turn,
)
from evennia_ai.policy.compaction.restored_context import keep_consulted, speakers_of
from evennia_ai.policy.compaction.summary import last_digest, prefix_hash, text_room
from evennia_ai.policy.context import projection
from evennia_ai.policy.facts.check import Fact, as_bullets
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.policy.tool_call_modes.wire_order import count_stored
from evennia_ai.ports import MindContext
from evennia_ai.ports.background import skip
from evennia_ai.scheduling import Coroutine, retry_write, yield_to_reactor
from evennia_ai.sleep.compaction.journal_summary import FactCheck, SummaryArchive, SummaryPart
from evennia_ai.sleep.compaction.summarising import LAST, OF_A_MODEL, PartSummaries, worst_of
from evennia_ai.turn.context_use import ContextMeter, reserve
from evennia_ai.turn.model_call import ModelCalls

log = Logger()

MASK_SAVING = 0.05
MANY = 5  # compactions of one talk, after which each tells what was lost
FAILED = "summary generation failed"
CHANGED = "the history was changed meanwhile"


@dataclass(eq=False)
class Compactor:
    """Compacts one assistant's conversation."""

    _mind: MindContext
    _meter: ContextMeter
    _calls: ModelCalls
    _parts: PartSummaries
    _facts: FactCheck
    archive: SummaryArchive
    _strikes: int = 0  # compactions in a row that produced no summary
    is_left_over: bool = False  # True after a start that found summaries not yet in the journal

    @inlineCallbacks
    def archive_left_over(self) -> Coroutine[None]:
        """Journal the summaries that a crash left out, if there are any."""
        if self.is_left_over:
            self.is_left_over = False
            yield self.archive.archive()

    @inlineCallbacks
    def in_sleep(self) -> Coroutine[dict[str, Any]]:
        """Compact as a step of a sleep pass; fires and fails as `compact`.

        What was digested in a hurry, and a model can read at once, comes back into view first, so
        that the model sums it up. If that fails or somebody speaks, a digest is taken again.
        """
        room, undone = self._meter.window, False
        while self._strikes < STRIKES and (record := self._mind.log.current.record) is not None:
            room -= record.original_token_count
            is_digest = record.reason == EMERGENCY and record.rung not in OF_A_MODEL
            if room < 0 or not is_digest:
                break
            try:
                self._mind.log.undo()
            except CannotUndo:
                break
            undone = True
            yield self.archive.archive()
        result: dict[str, Any] = yield self.compact(CompactionOrder(SLEEP, force=undone))
        return result

    @inlineCallbacks
    def compact(self, request: CompactionOrder) -> Coroutine[dict[str, Any]]:
        """Decide, summarise, apply. Fires with the result dict.

        Fails with TurnAborted and StoreUnavailable, and then nothing has changed.
        """
        use = self._meter.measure()
        task = self.decide(request, use)
        if isinstance(task, Skip):
            detail = {"detail": task.detail} if task.detail else {}
            return skip(task.reason, token_usage=use.ratio, **detail)
        yield yield_to_reactor(self._mind.slices.put)
        yield self.archive.archive()  # what a crash left undone of the compaction before
        self._mind.status.compacting(request.reason, None)
        if request.is_urgent:
            text = "{name}: Emergency compaction triggered: {ratio:.0%} context usage"
            log.warn(text, name=self._mind.name, ratio=use.ratio)
        parts: dict[str, SummaryPart] | None = yield self._parts.summarise(task, self._strikes)
        if parts is None:
            self._strikes += 1
            result: dict[str, Any] = {"success": False, "error": FAILED}
        else:
            result = yield self._apply(task, parts)
        self._mind.status.compacting(request.reason, result)
        return result

    def decide(self, request: CompactionOrder, use: ContextUse) -> DecidedCompaction | Skip:
        view, limits = self._mind.log.current, self._limits_for(request, use)
        messages, force = view.messages, request.force
        waits = request.reason == SLEEP and not force
        plan = decide_compaction(use, messages, limits, stored_tokens, waits=waits, force=force)
        if isinstance(plan, Skip):
            return plan
        return DecidedCompaction(request, use, view, messages, plan, limits)

    def _limits_for(self, request: CompactionOrder, use: ContextUse) -> CompactionLimits:
        config = self._mind.config
        # What was refused is more than the endpoint takes, whatever we know of its window.
        window = min(use.used, use.window) if request.reason == OVERFLOW else use.window
        limits = CompactionLimits(
            window=self._meter.estimated(window),
            fixed=self._meter.sizes.overhead,
            reserve=self._meter.estimated(reserve(config)),
            target=config.compact_target,
            preserve=config.compact_preserve_window,
        )
        if request.keep_recent is not None:
            return replace(limits, preserve=request.keep_recent, kept_share=0.0)
        is_default = limits.preserve == AssistantConfig.compact_preserve_window
        return limits if is_default else replace(limits, kept_share=0.0)

    def mask_old_results(self, use: ContextUse) -> int:
        """Mask old tool results if that frees enough; returns how many. Raises StoreUnavailable."""
        if not use.should_mask:
            return 0
        messages = self._mind.log.current.messages
        least, keep_last = int(MASK_SAVING * use.window), self._mind.config.mask_keep_last
        upto = projection.plan_mask(messages, keep_last, least, stored_tokens)
        return self._mind.log.mask(upto) if upto else 0

    @inlineCallbacks
    def _apply(
        self, task: DecidedCompaction, parts: Mapping[str, SummaryPart]
    ) -> Coroutine[dict[str, Any]]:
        """Fit the summaries in and store them if they save anything; as `compact`."""
        texts = {key: part.text for key, part in parts.items()}
        if self._tokens_after(texts, task.last_seq) > task.limits.target_tokens:
            task, parts = yield self._keep_last_turn(task, parts)  # P4
        yield yield_to_reactor(self._mind.slices.put)
        record = make_record(task, parts, dict(self._calls.compaction_cost))
        if not self._saves(record):
            self._strikes += not task.request.force
            return skip(TOO_LITTLE, token_usage=task.use.ratio)
        yield yield_to_reactor(self._mind.slices.put)
        stored = yield retry_write(self._mind.clock, partial(self._store, record, task))
        # Without a model's summary, the count goes on once models are not asked every time.
        of_a_model = record.rung in OF_A_MODEL
        self._strikes = 0 if of_a_model else self._strikes + (self._strikes >= STRIKES)
        if stored is None:
            return {"success": False, "error": CHANGED}
        self._calls.compaction_cost = {}
        used = self._meter.measure().used
        yield self.archive.archive()
        warning = self._warning_of(stored)
        if warning:
            log.warn("{name}: {warning}", name=self._mind.name, warning=warning)
        return {
            "success": True,
            "compaction_id": stored.id,
            "compacted_messages": stored.compacted_count,
            "preserved_messages": len(task.messages) - task.plan.cut,
            "original_tokens": task.use.used,
            "new_tokens": used,
            "reduction_pct": round(100 * (1 - used / task.use.used), 1),
            "facts_found": stored.facts_found,
            "facts_kept": stored.facts_kept,
            "rung": stored.rung,
            **({"warning": warning} if warning else {}),
        }

    def _warning_of(self, record: projection.CompactionRecord) -> str:
        """Return a warning from the `MANY`-th compaction of a talk on, "" before."""
        chain = [record]
        while len(chain) < MANY:
            previous_id = chain[-1].previous_id
            previous = self._mind.log.compaction(previous_id) if previous_id else None
            if previous is None:
                return ""
            chain.append(previous)
        facts = sum(item.facts_found for item in chain)
        kept = sum(item.facts_kept + item.facts_rescued for item in chain)
        return (
            f"{MANY} or more compactions of one talk; of {facts} facts in the last {MANY} "
            f"{facts - kept} stand in no summary and are found by no search"
        )

    def _saves(self, record: projection.CompactionRecord) -> bool:
        """Return True if a summary is shorter than what it replaces, and so is the prompt."""
        if record.summary_token_count >= record.original_token_count:
            return False
        after = self._tokens_after(record.summary, record.upto_seq)
        return after < self._mind.log.current.sizes.largest()

    def _tokens_after(self, texts: Mapping[str, str], upto_seq: int) -> int:
        """Return the tokens of the largest projection after a compaction, with later messages."""
        sizes = projection.TokensByAudience()
        count = partial(count_stored, count_text=self._mind.settings.count_text)
        for key, tokens in projection.part_sizes(texts, count).items():
            sizes.add(projection.part_audience(key), tokens)
        for message in self._mind.log.current.messages:
            if message["metadata"]["seq"] > upto_seq:
                sizes.add(audience_of(message), stored_tokens(message))
        return sizes.largest()

    @inlineCallbacks
    def _keep_last_turn(
        self, task: DecidedCompaction, parts: Mapping[str, SummaryPart]
    ) -> Coroutine[tuple[DecidedCompaction, dict[str, SummaryPart]]]:
        """Evict all but the last turn, and shorten the summaries to what fits beside it.

        Fires with the task, cut anew, and its parts: a count of messages each, the weightiest
        sentences of the summary, and facts of what else goes.
        """
        plan = plan_last_turn(task.messages, task.limits, stored_tokens)
        last = task if isinstance(plan, Skip) else replace(task, plan=plan)
        evicted = projection.split_by_audience(last.evicted)
        newly = projection.split_by_audience(last.evicted[task.plan.cut :])
        keys = {**parts, **evicted}
        left = task.limits.target_tokens - self._tokens_after({}, last.last_seq)
        room = text_room(left) // len(keys)
        kept: dict[str, SummaryPart] = {}
        for key in keys:
            facts: tuple[Fact, ...] = yield self._facts.find(newly.get(key, ()))
            before = parts[key].text if key in parts else ""
            messages = evicted.get(key, ())
            text = last_digest(messages, before, as_bullets(facts, room), room)
            audience = projection.part_audience(key)
            kept[key] = yield self._facts.check(SummaryPart(text, LAST), messages, audience)
            yield yield_to_reactor(self._mind.slices.put)
        return last, kept

    def _store(
        self, record: projection.CompactionRecord, task: DecidedCompaction
    ) -> projection.CompactionRecord | None:
        """Store a record if its messages are still in view; raises StoreUnavailable.

        Returns None, and stores nothing, if they are not: after an undo, messages would be neither
        summarised nor in view; while a player is forgotten and after it, the summary would still
        hold their words.
        """
        now = self._mind.log.current
        if (
            self._mind.status.is_forgetting
            or now.record != task.view.record
            or now.messages[: task.plan.cut] != list(task.evicted)
        ):
            return None
        return self._mind.log.compact(record)


def make_record(
    task: DecidedCompaction, parts: Mapping[str, SummaryPart], cost: Mapping[str, int]
) -> projection.CompactionRecord:
    """Return the record of a compaction, still without an id."""
    evicted, earlier = task.evicted, task.view.record
    return projection.CompactionRecord(
        id=0,
        reason=task.request.reason,
        from_seq=evicted[0]["metadata"]["seq"],
        upto_seq=task.last_seq,
        summary={key: part.text for key, part in parts.items()},
        compacted_count=len(evicted),
        compacted_at="",
        original_token_count=sum(map(stored_tokens, evicted))
        + (earlier.summary_token_count if earlier else 0),
        summary_token_count=sum(estimate_tokens(part.text) for part in parts.values()),
        prefix_hash=prefix_hash(
            (message["metadata"]["seq"], message["role"], message["content"]) for message in evicted
        ),
        rung=worst_of(part.rung for part in parts.values()),
        facts_found=sum(part.found for part in parts.values()),
        facts_kept=sum(part.kept for part in parts.values()),
        facts_rescued=sum(part.rescued for part in parts.values()),
        speakers=speakers_of(evicted, earlier.speakers if earlier else {}),
        consulted=keep_consulted(earlier, evicted),
        previous_id=earlier.id if earlier else None,
        cost=cost,
        unread=task.request.is_unread,
    )


def compact_conversation_history(
    script: Any,
    character: Any,
    force: bool = False,
    focus: str | None = None,
    keep_recent: int | None = None,
) -> Deferred[dict[str, Any]]:
    """Compact from ``compact_sleep_threshold`` on, or at once if forced.

    Args:
        script: an `AssistantScript`.
        character: its character.
        force: skip the threshold, but not ``compact_enabled``.
        focus: what the summary should keep above all.
        keep_recent: how many of the newest messages to keep this time; None uses the setting.

    Fires with a result dict: ``success`` True with figures; ``skipped`` True with ``reason`` and
    ``token_usage``; or ``success`` False with ``error``, and then the history is unchanged.
    """
    request = CompactionOrder(MANUAL if force else SLEEP, force, focus, keep_recent)
    result: Deferred[dict[str, Any]] = script.mind.compactor.compact(request)
    return result
