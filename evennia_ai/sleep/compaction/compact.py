"""Compaction: a summary replaces the oldest messages in the context window; the log stays whole.

Decide (`policy.compaction.plan`), summarise (`summarising`), apply (`record`): the record is
made when the summary is ready, so that messages which arrived meanwhile stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import usable_window
from evennia_ai.policy.compaction.plan import (
    LITTLE_PROGRESS,
    TOO_LITTLE,
    CompactionLimits,
    ContextUse,
    Skip,
    count_small,
    decide_compaction,
    makes_little_progress,
)
from evennia_ai.policy.context.projection import plan_mask
from evennia_ai.policy.tokens import stored_tokens
from evennia_ai.ports import Character, Script
from evennia_ai.scheduling import Steps, pause
from evennia_ai.sleep.compaction.fact_check import SummaryPart
from evennia_ai.sleep.compaction.journal_summary import archive_summaries
from evennia_ai.sleep.compaction.ladder import OF_A_MODEL, worst_of
from evennia_ai.sleep.compaction.ladder_last_turn import keep_last_turn, tokens_after
from evennia_ai.sleep.compaction.record import store_compaction
from evennia_ai.sleep.compaction.request import (
    MANUAL,
    SLEEP,
    STRIKES,
    CompactionRequest,
    CompactionTask,
)
from evennia_ai.sleep.compaction.summarising import summarise
from evennia_ai.turn.background import skip
from evennia_ai.turn.context_use import measure_context, reserve

log = Logger()

MASK_SAVING = 0.05
FAILED = "summary generation failed"
CHANGED = "the history was changed meanwhile"


def compact_conversation_history(
    script: Script,
    character: Character,
    force: bool = False,
    focus: str | None = None,
    keep_recent: int | None = None,
) -> Deferred[dict[str, Any]]:
    """Compact from ``compact_sleep_threshold`` on, or at once if forced.

    Args:
        force: skip the threshold, but not ``compact_enabled``.
        focus: what the summary should keep above all.
        keep_recent: how many of the newest messages to keep this time; None uses the setting.

    Fires with a result dict: ``success`` True with figures; ``skipped`` True with ``reason`` and
    ``token_usage``; or ``success`` False with ``error``, and then the history is unchanged.
    """
    return compact(script, CompactionRequest(MANUAL if force else SLEEP, force, focus, keep_recent))


def mask_old_results(script: Script, use: ContextUse) -> int:
    """Mask old tool results if that frees enough; returns how many. Raises StoreUnavailable."""
    if not use.should_mask:
        return 0
    messages = script.conversation.current.messages
    least = int(MASK_SAVING * use.window)
    upto = plan_mask(messages, script.config.mask_keep_last, least, stored_tokens)
    return script.conversation.mask(upto) if upto else 0


def limits_for(script: Script, request: CompactionRequest) -> CompactionLimits:
    """Return the limits that a plan goes by."""
    config = script.config
    limits = CompactionLimits(
        window=usable_window(config, script.profile),
        fixed=script.prompt_overhead,
        reserve=reserve(config),
        target=config.compact_target,
        preserve=config.compact_preserve_window,
    )
    if request.keep_recent is None:
        return limits
    return replace(limits, preserve=request.keep_recent, kept_share=0.0)


def decide(script: Script, request: CompactionRequest, use: ContextUse) -> CompactionTask | Skip:
    """Decide what a request would do now. Nothing is done."""
    view, limits = script.conversation.current, limits_for(script, request)
    messages = view.messages
    plan = decide_compaction(
        use, messages, limits, stored_tokens, waits=request.waits_for_threshold, force=request.force
    )
    if isinstance(plan, Skip):
        return plan
    return CompactionTask(request, use, view, messages, plan, limits)


@inlineCallbacks
def compact(script: Script, request: CompactionRequest) -> Steps[dict[str, Any]]:
    """Decide, summarise, apply. Fires with the result dict.

    Fails with TurnAborted and StoreUnavailable, and then nothing has changed.
    """
    use = measure_context(script)
    task = decide(script, request, use)
    if isinstance(task, Skip):
        return skip(task.reason, token_usage=use.ratio)
    yield pause(script.services.slices.put)
    yield archive_summaries(script)  # what a crash left undone of the compaction before
    script.services.compacting(script, request.reason, None)
    if request.is_urgent:
        text = "{name}: Emergency compaction triggered: {ratio:.0%} context usage"
        log.warn(text, name=script.character_name, ratio=use.ratio)
    parts: dict[str, SummaryPart] | None = yield summarise(script, task)
    if parts is None:
        script.compaction_strikes += 1
        result: dict[str, Any] = {"success": False, "error": FAILED}
    else:
        result = yield apply(script, task, parts)
    script.services.compacting(script, request.reason, result)
    return result


@inlineCallbacks
def apply(
    script: Script, task: CompactionTask, parts: Mapping[str, SummaryPart]
) -> Steps[dict[str, Any]]:
    """Fit the summaries in and store them if they save anything. Fires and fails as `compact`."""
    if tokens_after(script, parts, task.last_seq) > task.limits.target_tokens:
        task, parts = yield keep_last_turn(script, task, parts)  # P4
    yield pause(script.services.slices.put)
    before = script.conversation.current.sizes.largest()
    if tokens_after(script, parts, task.last_seq) >= before:
        script.compaction_strikes += not task.request.force
        return skip(TOO_LITTLE, token_usage=task.use.ratio)
    report: dict[str, Any] | None = yield store_compaction(script, task, parts)
    rung = worst_of(part.rung for part in parts.values())
    script.compaction_strikes = strikes_after(rung, script.compaction_strikes)
    if report is None:
        return {"success": False, "error": CHANGED}
    if not task.request.force:
        warn_of_little_progress(script, task)
    yield archive_summaries(script)
    return report


def strikes_after(rung: str, strikes: int) -> int:
    """Return how many compactions in a row had no summary, after one that was stored.

    Without a summary of a model, the count goes on once models are no longer asked every time.
    """
    return 0 if rung in OF_A_MODEL else strikes + (strikes >= STRIKES)


def warn_of_little_progress(script: Script, task: CompactionTask) -> None:
    """Tell the owner, once, that automatic compactions follow each other closely."""
    count = count_small(script.small_compactions, task.plan, task.limits.window)
    script.small_compactions = count
    if makes_little_progress(count):
        script.tell_owner(LITTLE_PROGRESS)
