"""Compaction: old talk goes out of view, a summary stands in its place, and the log stays whole.

Decide (`policy.compaction.plan`), do (the summary call), apply: the record is made for the history
as it is when the summary is there, so that what arrived meanwhile is kept.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import usable_window
from evennia_ai.messages import Message
from evennia_ai.policy.compaction.consulted import keep_consulted
from evennia_ai.policy.compaction.digest import prefix_hash
from evennia_ai.policy.compaction.journal_summary import speakers_of
from evennia_ai.policy.compaction.plan import (
    DISABLED,
    LITTLE_PROGRESS,
    TOO_LITTLE,
    CompactionLimits,
    CompactionPlan,
    Skip,
    below_threshold,
    count_small,
    is_worthwhile,
    makes_little_progress,
    needs_compaction,
    plan_compaction,
)
from evennia_ai.policy.context.projection import CompactionRecord, View, plan_mask
from evennia_ai.policy.tokens import estimate_tokens, stored_tokens
from evennia_ai.scheduling import pause, persist
from evennia_ai.sleep.compaction.fact_check import Summed
from evennia_ai.sleep.compaction.journal_summary import archive_summaries
from evennia_ai.sleep.compaction.ladder import OF_A_MODEL, worst_of
from evennia_ai.sleep.compaction.ladder_last_turn import keep_last_turn, tokens_after
from evennia_ai.sleep.compaction.request import (
    EMERGENCY,
    MANUAL,
    OVERFLOW,
    SLEEP,
    STRIKES,
    URGENT,
    CompactionRequest,
)
from evennia_ai.sleep.compaction.summarising import summarise
from evennia_ai.turn.context_use import ContextUse, measure_context, reserve

log = Logger()

MASK_SAVING = 0.05
FAILED = "summary generation failed"
CHANGED = "the history was changed meanwhile"


def limits_for(script: Any, order: CompactionRequest) -> CompactionLimits:
    """What a plan goes by."""
    config = script.config
    limits = CompactionLimits(
        window=usable_window(config, script.profile),
        fixed=script.prompt_overhead,
        reserve=reserve(config),
        target=config.compact_target,
        preserve=config.compact_preserve_window,
    )
    if order.keep_recent is None:
        return limits
    return replace(limits, preserve=order.keep_recent, kept_share=0.0)


def compact_conversation_history(
    script: Any,
    character: Any,
    force: bool = False,
    focus: str | None = None,
    keep_recent: int | None = None,
) -> Deferred[dict[str, Any]]:
    """Compact in sleep from ``compact_sleep_threshold`` on, or at once where an admin wants it.

    Args:
        script: the assistant.
        character: its character.
        force: skip the threshold, not ``compact_enabled``.
        focus: what the summary shall keep above all.
        keep_recent: how many of the newest messages to keep, for this once.

    Fires with a result dict: ``success`` True with figures; ``skipped`` True with ``reason`` and
    ``token_usage``; or ``success`` False with ``error``, and then the history is as it was.
    """
    return compact(script, CompactionRequest(MANUAL if force else SLEEP, force, focus, keep_recent))


def mask_old_results(script: Any) -> int:
    """Mask old results of tools where the context fills and enough would come of it: masking costs
    no model call. Returns how many were masked; raises StoreUnavailable."""
    use, config = measure_context(script), script.config
    if not config.compact_enabled or use.ratio < config.mask_threshold:
        return 0
    messages = script.conversation.current.messages
    least = int(MASK_SAVING * use.window)
    upto = plan_mask(messages, config.mask_keep_last, least, stored_tokens)
    return int(script.conversation.mask(upto)) if upto else 0


def is_due(script: Any) -> bool:
    """True where the context is filled to ``compact_sleep_threshold``."""
    use, config = measure_context(script), script.config
    return config.compact_enabled and needs_compaction(
        use.used, use.window, config.compact_sleep_threshold
    )


def is_urgent(script: Any) -> bool:
    """True where the context is filled to ``compact_emergency_threshold``: asked at the start of
    every tick."""
    use = measure_context(script)
    threshold: float = script.config.compact_emergency_threshold
    return script.config.compact_enabled and needs_compaction(use.used, use.window, threshold)


def compact_if_urgent(script: Any) -> Deferred[dict[str, Any]]:
    """Compact where the context is filled to ``compact_emergency_threshold``. Fires with a result
    as `compact_conversation_history` does."""
    return compact(script, CompactionRequest(EMERGENCY))


@inlineCallbacks
def compact_on_overflow(script: Any) -> Generator[Deferred[Any], Any, bool]:
    """Compact after a model's window has overflowed, without asking any. Fires with True where
    there is more room now; fails with TurnAborted and StoreUnavailable."""
    result: dict[str, Any] = yield compact(script, CompactionRequest(OVERFLOW, force=True))
    return bool(result.get("success"))


def preview(script: Any, order: CompactionRequest) -> CompactionPlan | Skip:
    """What an order would do now, by where it would cut. Nothing is done."""
    if not script.config.compact_enabled:
        return Skip(DISABLED)
    view: View = script.conversation.current
    limits = limits_for(script, order)
    plan = plan_compaction(view.messages, limits, stored_tokens)
    if isinstance(plan, Skip) or order.force or is_worthwhile(plan, limits.window):
        return plan
    return Skip(TOO_LITTLE)


@inlineCallbacks
def compact(script: Any, order: CompactionRequest) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """Carry an order out. Fires with the result dict; fails with TurnAborted and StoreUnavailable,
    and then nothing has changed."""
    use, config = measure_context(script), script.config
    threshold = (
        config.compact_emergency_threshold if order.reason in URGENT
        else config.compact_sleep_threshold
    )  # fmt: skip
    if not config.compact_enabled:
        return skipped(DISABLED, use)
    view: View = script.conversation.current
    if view.messages and not order.force and not needs_compaction(use.used, use.window, threshold):
        return skipped(below_threshold(use.used, use.window, threshold), use)
    yield archive_summaries(script)  # what a crash left of the compaction before
    view = script.conversation.current
    plan = preview(script, order)
    if isinstance(plan, Skip):
        return skipped(plan.reason, use)
    script.services.compacting(script, order.reason, None)
    if order.reason in URGENT:
        log.warn(
            "{name}: Emergency compaction triggered: {ratio:.0%} context usage",
            name=script.character_name,
            ratio=use.ratio,
        )
    messages, limits = view.messages, limits_for(script, order)
    parts: dict[str, Summed] | None = yield summarise(
        script, order, messages, plan, view.record, limits.summary_room
    )
    if parts is not None:
        plan, parts = yield make_fit(script, messages, plan, parts, limits)
        yield pause(script.services.slices.put)
    if parts is None:
        script.compaction_strikes += 1
        result: dict[str, Any] = {"success": False, "error": FAILED}
    elif not is_shorter(script, messages, plan, parts):
        script.compaction_strikes += not order.force
        result = skipped(TOO_LITTLE, use)
    else:
        going = messages[: plan.cut]
        record = replace(make_record(order, view, going, parts), cost=dict(script.compaction_cost))
        yield pause(script.services.slices.put)
        stored: CompactionRecord | None = yield persist(
            script.services.clock, lambda: store(script, record, view, going)
        )
        script.compaction_strikes = strikes_after(record.rung, script.compaction_strikes)
        if stored is None:
            result = {"success": False, "error": CHANGED}
        else:
            script.usage_reports.clear()
            script.compaction_cost = {}
            warn_of_little_progress(script, order, plan, limits.window)
            result = report(script, stored, plan, use, len(messages))
            yield archive_summaries(script)
    script.services.compacting(script, order.reason, result)
    return result


@inlineCallbacks
def make_fit(
    script: Any,
    messages: Sequence[Message],
    plan: CompactionPlan,
    parts: dict[str, Summed],
    limits: CompactionLimits,
) -> Generator[Deferred[Any], Any, tuple[CompactionPlan, dict[str, Summed]]]:
    """Go on to the last rung where the talk would not be at its target (P4). Fires with the plan
    and its parts."""
    if tokens_after(script, parts, last_seq(messages, plan)) <= limits.target_tokens:
        return plan, parts
    last: tuple[CompactionPlan, dict[str, Summed]] = yield keep_last_turn(
        script, messages, plan, parts, limits
    )
    return last


def is_shorter(
    script: Any, messages: Sequence[Message], plan: CompactionPlan, parts: Mapping[str, Summed]
) -> bool:
    """True where a compaction saves anything at all."""
    view: View = script.conversation.current
    before = view.sizes.largest(script.config.discretion)
    return tokens_after(script, parts, last_seq(messages, plan)) < before


def last_seq(messages: Sequence[Message], plan: CompactionPlan) -> int:
    """The sequence number of the last message that goes."""
    return int(messages[plan.cut - 1]["metadata"]["seq"])


def strikes_after(rung: str, strikes: int) -> int:
    """How often in a row no summary came, after one that was stored: where all of it came from a
    model, never; without one the count goes on once models are no longer asked every time."""
    return 0 if rung in OF_A_MODEL else strikes + (strikes >= STRIKES)


def warn_of_little_progress(
    script: Any, order: CompactionRequest, plan: CompactionPlan, window: int
) -> None:
    """Tell the owner, once, where compactions that nobody asked for follow one another closely."""
    if order.force:
        return
    script.small_compactions = count_small(script.small_compactions, plan, window)
    if makes_little_progress(script.small_compactions):
        script.tell_owner(LITTLE_PROGRESS)


def skipped(reason: str, use: ContextUse) -> dict[str, Any]:
    """The result where nothing was to be done."""
    return {"skipped": True, "reason": reason, "token_usage": use.ratio}


def store(
    script: Any, record: CompactionRecord, view: View, going: Sequence[Message]
) -> CompactionRecord | None:
    """Store a compaction of what was in view when it began; raises StoreUnavailable.

    None, and nothing is stored, where that is not so any more: an undo that came meanwhile would
    leave messages neither summed up nor in view, and of somebody who was forgotten meanwhile the
    summary still has the words.
    """
    now: View = script.conversation.current
    if now.record != view.record or now.messages[: len(going)] != list(going):
        return None
    stored: CompactionRecord = script.conversation.compact(record)
    return stored


def make_record(
    order: CompactionRequest, view: View, going: Sequence[Message], parts: Mapping[str, Summed]
) -> CompactionRecord:
    """The record of what was done, still without an id."""
    return CompactionRecord(
        id=0,
        reason=order.reason,
        from_seq=going[0]["metadata"]["seq"],
        upto_seq=going[-1]["metadata"]["seq"],
        summary={key: part.text for key, part in parts.items()},
        compacted_count=len(going),
        compacted_at="",
        original_token_count=sum(map(stored_tokens, going)),
        summary_token_count=sum(estimate_tokens(part.text) for part in parts.values()),
        prefix_hash=prefix_hash(
            (message["metadata"]["seq"], message["role"], message["content"]) for message in going
        ),
        rung=worst_of(part.rung for part in parts.values()),
        facts_found=sum(len(part.new) for part in parts.values()),
        facts_kept=sum(part.kept for part in parts.values()),
        facts_rescued=sum(part.rescued for part in parts.values()),
        facts={key: part.facts for key, part in parts.items() if part.facts},
        speakers=speakers_of(going, view.record.speakers if view.record else {}),
        consulted=keep_consulted(view.record, going),
        previous_id=view.record.id if view.record else None,
    )


def report(
    script: Any, record: CompactionRecord, plan: CompactionPlan, before: ContextUse, messages: int
) -> dict[str, Any]:
    """The result dict of a compaction that was done."""
    after = measure_context(script)
    return {
        "success": True,
        "compaction_id": record.id,
        "compacted_messages": record.compacted_count,
        "preserved_messages": messages - plan.cut,
        "original_tokens": before.used,
        "new_tokens": after.used,
        "reduction_pct": round(100 * (1 - after.used / before.used), 1),
        "facts_found": record.facts_found,
        "facts_kept": record.facts_kept,
        "rung": record.rung,
    }
