"""Free the context window before anything else when it is nearly full.

A player who waits for an answer waits for one summary at most. Only if nobody waits does the
assistant first journal what it will need of the evicted messages.
"""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.policy.compaction.plan import ContextUse
from evennia_ai.ports import Script
from evennia_ai.scheduling import Steps
from evennia_ai.sleep.compaction.compact import compact
from evennia_ai.sleep.compaction.request import EMERGENCY, OVERFLOW, CompactionRequest
from evennia_ai.sleep.extraction import ExtractionLimits, extract_facts
from evennia_ai.turn.context_use import measure_context

log = Logger()

MOST_ITERATIONS = 3
SOMEBODY_WAITS = "somebody waits for an answer"
TOO_FULL = "the talk does not fit the window any more"


@inlineCallbacks
def compact_in_emergency(script: Script) -> Steps[dict[str, Any] | None]:
    """Compact if the context window is filled to ``compact_emergency_threshold``.

    Called at the start of every tick and between its turns. Fires with the compaction's result,
    None below the threshold; fails with TurnAborted and StoreUnavailable.
    """
    use = measure_context(script)
    if not use.is_urgent:
        return None
    yield extract_before_emergency(script, use)
    result: dict[str, Any] = yield compact(script, CompactionRequest(EMERGENCY))
    return result


@inlineCallbacks
def compact_on_overflow(script: Script) -> Steps[bool]:
    """Compact after a provider refused a request as too long, without asking a model.

    Fires with True if the context window was relieved; fails with TurnAborted and StoreUnavailable.
    """
    result: dict[str, Any] = yield compact(script, CompactionRequest(OVERFLOW, force=True))
    return bool(result.get("success"))


@inlineCallbacks
def extract_before_emergency(script: Script, use: ContextUse) -> Steps[dict[str, Any]]:
    """Journal facts of what an emergency compaction evicts, until somebody waits.

    Takes at most `MOST_ITERATIONS` model calls for each audience and the time of one turn. Fires as
    `run_pre_compaction_extraction` does; an error does not stop the compaction. Fails with
    TurnAborted and StoreUnavailable only.
    """
    reason = reason_to_skip(script, use)
    if reason:
        log.info("{name}: nothing journalled: {reason}", name=script.character_name, reason=reason)
        return {"skipped": True, "reason": reason}
    limits = ExtractionLimits(
        iterations=min(MOST_ITERATIONS, script.config.pre_compact_max_iterations),
        end_at=script.services.clock.seconds() + script.config.turn_deadline,
        is_interrupted=lambda: bool(script.inbox.open_events()),
    )
    try:
        result: dict[str, Any] = yield extract_facts(script, limits, use)
    except (TurnAborted, StoreUnavailable):
        raise
    except Exception as error:  # noqa: BLE001  # the compaction must go on whatever fails here
        log.failure("{name}: extraction failed; compacting", name=script.character_name)
        return {"success": False, "error": f"{type(error).__name__}: {error}"}
    return result


def reason_to_skip(script: Script, use: ContextUse) -> str:
    """Return why not to extract facts now, empty if nothing speaks against it.

    The model must see the whole conversation, or it would journal half of a matter.
    """
    if script.inbox.open_events():
        return SOMEBODY_WAITS
    return TOO_FULL if use.ratio > 1 else ""
