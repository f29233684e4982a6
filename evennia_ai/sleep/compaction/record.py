"""Make a compaction's record, store it, and report it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from twisted.internet.defer import inlineCallbacks

from evennia_ai.policy.compaction.consulted import keep_consulted
from evennia_ai.policy.compaction.digest import prefix_hash
from evennia_ai.policy.compaction.journal_summary import speakers_of
from evennia_ai.policy.context.projection import CompactionRecord
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.ports import Script
from evennia_ai.scheduling import Steps, pause, persist
from evennia_ai.sleep.compaction.fact_check import SummaryPart
from evennia_ai.sleep.compaction.ladder import worst_of
from evennia_ai.sleep.compaction.request import CompactionTask
from evennia_ai.turn.context_use import measure_context


@inlineCallbacks
def store_compaction(
    script: Script, task: CompactionTask, parts: Mapping[str, SummaryPart]
) -> Steps[dict[str, Any] | None]:
    """Store a compaction's record; fails with StoreUnavailable.

    Fires with the result dict, None if the history was changed meanwhile.
    """
    record = make_record(task, parts, dict(script.compaction_cost))
    yield pause(script.services.slices.put)
    work = partial(store, script, record, task)
    stored: CompactionRecord | None = yield persist(script.services.clock, work)
    if stored is None:
        return None
    script.usage_reports.clear()
    script.compaction_cost = {}
    return report(script, stored, task)


def make_record(
    task: CompactionTask, parts: Mapping[str, SummaryPart], cost: Mapping[str, int]
) -> CompactionRecord:
    """Return the record of a compaction, still without an id."""
    evicted, earlier = task.evicted, task.view.record
    return CompactionRecord(
        id=0,
        reason=task.request.reason,
        from_seq=evicted[0]["metadata"]["seq"],
        upto_seq=task.last_seq,
        summary={key: part.text for key, part in parts.items()},
        compacted_count=len(evicted),
        compacted_at="",
        original_token_count=sum(map(stored_tokens, evicted)),
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
    )


def store(
    script: Script, record: CompactionRecord, task: CompactionTask
) -> CompactionRecord | None:
    """Store a record if its messages are still in view; raises StoreUnavailable.

    Returns None, and stores nothing, if they are not: after an undo, messages would be neither
    summarised nor in view; while a player is forgotten and after it, the summary would still hold
    their words.
    """
    now = script.conversation.current
    if (
        script.is_forgetting
        or now.record != task.view.record
        or now.messages[: task.plan.cut] != list(task.evicted)
    ):
        return None
    return script.conversation.compact(record)


def report(script: Script, record: CompactionRecord, task: CompactionTask) -> dict[str, Any]:
    """Return the result dict of a compaction that was stored."""
    before, after = task.use.used, measure_context(script).used
    return {
        "success": True,
        "compaction_id": record.id,
        "compacted_messages": record.compacted_count,
        "preserved_messages": len(task.messages) - task.plan.cut,
        "original_tokens": before,
        "new_tokens": after,
        "reduction_pct": round(100 * (1 - after / before), 1),
        "facts_found": record.facts_found,
        "facts_kept": record.facts_kept,
        "rung": record.rung,
    }
