"""Compaction: old talk goes out of view, a summary stands in its place, and the log stays whole.

Decide (`policy.compaction`), do (the summary call), apply: the record is made for the history as it
is when the summary is there, so that what arrived meanwhile is kept.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import usable_window
from evennia_ai.errors import ContextOverflow, ProviderError, ProviderMisconfigured
from evennia_ai.messages import Message
from evennia_ai.policy.compaction import (
    DISABLED,
    CompactionLimits,
    CompactionPlan,
    Skip,
    below_threshold,
    needs_compaction,
    plan_compaction,
)
from evennia_ai.policy.digest import make_digest, with_facts, without_facts
from evennia_ai.policy.facts import (
    Fact,
    as_bullets,
    facts_in,
    gather,
    keep_facts,
    missing_facts,
    names_in,
    settle,
)
from evennia_ai.policy.projection import CompactionRecord, View, plan_mask, split_by_audience
from evennia_ai.policy.tokens import count_message, estimate_tokens
from evennia_ai.sleep.spread import pause, spread
from evennia_ai.turn.context_use import ContextUse, measure_context, reserve
from evennia_ai.turn.llm_interaction import generate_context_summary
from evennia_ai.turn.persistence import persist

log = Logger()

SLEEP, EMERGENCY, OVERFLOW, MANUAL = "sleep", "emergency", "overflow", "manual"
URGENT = (EMERGENCY, OVERFLOW)
SUMMARY, CLEARED, CHUNKS, DIGEST = "summary", "cleared", "chunks", "digest"
STRIKES = 2
ASKED_AGAIN_EVERY = 4
MASK_SAVING = 0.05
LEAST_FACT_ROOM = 200
MOST_FACTS = 1_000
FAILED = "summary generation failed"


@dataclass(frozen=True)
class Order:
    """Why and how to compact. ``force`` skips the threshold and nothing else; ``keep_recent``
    replaces the setting for this once."""

    reason: str = SLEEP
    force: bool = False
    focus: str | None = None
    keep_recent: int | None = None


@dataclass(frozen=True)
class Summed:
    """One part of a summary, and the rung of the ladder it came from; no text where all failed.

    ``facts`` are all that are out of view now for this part's audience; ``found`` how many of them
    this compaction took out of view, ``kept`` how many of these the summary holds by itself, and
    ``rescued`` how many were written below it.
    """

    text: str
    rung: str
    facts: tuple[Fact, ...] = ()
    found: int = 0
    kept: int = 0
    rescued: int = 0


def limits_for(script: Any, order: Order) -> CompactionLimits:
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
    return compact(script, Order(MANUAL if force else SLEEP, force, focus, keep_recent))


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
    return compact(script, Order(EMERGENCY))


@inlineCallbacks
def make_room(script: Any) -> Generator[Deferred[Any], Any, bool]:
    """Compact after a model's window has overflowed, without asking any. Fires with True where
    there is more room now; fails with TurnAborted and StoreUnavailable."""
    result: dict[str, Any] = yield compact(script, Order(OVERFLOW, force=True))
    return bool(result.get("success"))


def preview(script: Any, order: Order) -> CompactionPlan | Skip:
    """What an order would do now, by where it would cut. Nothing is done."""
    if not script.config.compact_enabled:
        return Skip(DISABLED)
    view: View = script.conversation.current
    return plan_compaction(view.messages, limits_for(script, order), stored_tokens)


@inlineCallbacks
def compact(script: Any, order: Order) -> Generator[Deferred[Any], Any, dict[str, Any]]:
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
    going = view.messages[: plan.cut]
    summary: dict[str, Summed] | None = yield summarise(script, order, view, going)
    if summary is None:
        script.compaction_strikes += 1
        result: dict[str, Any] = {"success": False, "error": FAILED}
    else:
        record = make_record(order, view, going, summary)
        stored: CompactionRecord = yield persist(
            script.services.clock, lambda: script.conversation.compact(record)
        )
        script.usage_reports.clear()
        if script.compaction_strikes >= STRIKES:
            script.compaction_strikes += 1
        result = report(script, stored, plan, use, len(view.messages))
    script.services.compacting(script, order.reason, result)
    return result


def stored_tokens(message: Mapping[str, Any]) -> int:
    """Tokens of a message, as counted when it was stored."""
    return message["metadata"].get("tokens") or count_message(message)


def skipped(reason: str, use: ContextUse) -> dict[str, Any]:
    """The result where nothing was to be done."""
    return {"skipped": True, "reason": reason, "token_usage": use.ratio}


@inlineCallbacks
def summarise(
    script: Any, order: Order, view: View, going: Sequence[Message]
) -> Generator[Deferred[Any], Any, dict[str, Summed] | None]:
    """Sum up what goes, apart for each audience, each on from its own earlier part.

    Fires with the parts, those without anything new as they were; None where a part could not be
    summed up and there is time to try again later.
    """
    earlier = dict(view.record.summary) if view.record else {}
    known = dict(view.record.facts) if view.record else {}
    parts = {key: Summed(text, SUMMARY, known.get(key, ())) for key, text in earlier.items()}
    room = limits_for(script, order).summary_room
    for key, messages in split_by_audience(going).items():
        previous = without_facts(earlier.get(key, ""))
        part = Summed("", "")
        if may_ask(order, script.compaction_strikes):
            part = yield climb_ladder(script, messages, previous, order.focus, room)
        if not part.text:
            if order.reason not in URGENT and script.compaction_strikes < STRIKES:
                return None
            part = Summed(make_digest(messages, previous), DIGEST)
        new: tuple[Fact, ...] = yield find_facts(script, messages)
        yield pause(script.services.slices.put)
        parts[key] = check_facts(part, known.get(key, ()), new, fact_room(part, room))
        yield pause(script.services.slices.put)
    return parts


def may_ask(order: Order, strikes: int) -> bool:
    """True where a model is asked for a summary: not in an overflow, and after failing twice in a
    row only now and again, until one comes of it. An admin's word always counts."""
    if order.reason == OVERFLOW:
        return False
    return order.reason == MANUAL or strikes < STRIKES or strikes % ASKED_AGAIN_EVERY == 0


@inlineCallbacks
def find_facts(
    script: Any, messages: Sequence[Message]
) -> Generator[Deferred[Any], Any, tuple[Fact, ...]]:
    """The facts in messages, found without holding the reactor: 2,000 messages take a quarter of a
    second (measured). Fires with them."""
    name = script.character_name
    known = names_in(messages, (name,))
    found: list[list[Fact]] = yield spread(
        script.services.slices.put, messages, lambda message: facts_in(message, known, name)
    )
    yield pause(script.services.slices.put)
    return gather([fact for facts in found for fact in facts])


def fact_room(part: Summed, room: int) -> int:
    """Tokens for the facts below a summary: what it leaves of its room, and a little in any
    case."""
    return max(min(LEAST_FACT_ROOM, room // 2), room - estimate_tokens(part.text))


def check_facts(
    part: Summed, known: Sequence[Fact], new: Sequence[Fact], budget_tokens: int
) -> Summed:
    """A part with the facts below it that it does not hold by itself, the weightiest first.

    Nobody else checks this, and a summary that drops everything costs nothing but room: what does
    not find room below it can still be called to mind (`policy.recall`).

    Args:
        part: a new summary.
        known: facts that were out of view before.
        new: facts in what goes now.
        budget_tokens: the room for those that are missing.
    """
    facts = keep_facts(settle((*known, *new)), MOST_FACTS)
    lost = missing_facts(new, [part.text])
    text = with_facts(part.text, as_bullets(missing_facts(facts, [part.text]), budget_tokens))
    rescued = len(lost) - len(missing_facts(lost, [text]))
    kept = len(new) - len(lost)
    return replace(part, text=text, facts=facts, found=len(new), kept=kept, rescued=rescued)


@inlineCallbacks
def climb_ladder(
    script: Any, messages: Sequence[Message], previous: str, focus: str | None, room: int
) -> Generator[Deferred[Any], Any, Summed]:
    """Ask for a summary, and where that fails in a way that less or another model may mend, ask
    again so. Fires with the part, without text where nothing came of it."""
    for rung in (SUMMARY, CLEARED, CHUNKS):
        try:
            text = yield ask_by_rung(script, rung, messages, previous, focus, room)
        except ProviderMisconfigured as error:
            tell(script, rung, str(error))
            break
        except ContextOverflow as error:
            tell(script, rung, str(error))
            continue
        except ProviderError as error:
            tell(script, rung, str(error))
            break
        if text:
            script.compaction_strikes = 0
            return Summed(text, rung)
    return Summed("", "")


def tell(script: Any, rung: str, problem: str) -> None:
    """One line for the log: a rung of the ladder broke."""
    log.warn(
        "{name}: no summary ({rung}): {problem}",
        name=script.character_name,
        rung=rung,
        problem=problem,
    )


@inlineCallbacks
def ask_by_rung(
    script: Any,
    rung: str,
    messages: Sequence[Message],
    previous: str,
    focus: str | None,
    room: int,
) -> Generator[Deferred[Any], Any, str]:
    """One rung of the ladder. Fires with the summary, empty where there is none."""
    if rung != CHUNKS:
        text = yield generate_context_summary(
            script, messages, focus, previous=previous, with_results=rung == SUMMARY, room=room
        )
        return text or ""
    for chunk in in_chunks(messages, usable_window(script.config, script.profile) // 3):
        text = yield generate_context_summary(
            script, chunk, focus, previous=previous, with_results=False, room=room
        )
        if not text:
            return ""
        previous = text
    return previous


def in_chunks(messages: Sequence[Message], size: int) -> list[list[Message]]:
    """Messages in runs of about ``size`` tokens, each at least one message."""
    chunks: list[list[Message]] = [[]]
    left = size
    for message in messages:
        tokens = stored_tokens(message)
        if chunks[-1] and tokens > left:
            chunks.append([])
            left = size
        chunks[-1].append(message)
        left -= tokens
    return chunks


def make_record(
    order: Order, view: View, going: Sequence[Message], parts: Mapping[str, Summed]
) -> CompactionRecord:
    """The record of what was done, still without an id."""
    rungs = (SUMMARY, CLEARED, CHUNKS, DIGEST)
    worst = max((part.rung for part in parts.values()), key=rungs.index)
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
        rung=worst,
        facts_found=sum(part.found for part in parts.values()),
        facts_kept=sum(part.kept for part in parts.values()),
        facts_rescued=sum(part.rescued for part in parts.values()),
        facts={key: part.facts for key, part in parts.items() if part.facts},
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
