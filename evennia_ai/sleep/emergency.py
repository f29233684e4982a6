"""Room before anything else: what is done where the context is nearly full.

Whoever waits for an answer waits for one summary and no longer. Only where nobody does, the
assistant first writes down what it will need of what goes.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.sleep.compaction.compact import compact_if_urgent, is_urgent
from evennia_ai.sleep.extraction import ExtractionLimits, extract_facts
from evennia_ai.turn.context_use import measure_context

log = Logger()

MOST_ITERATIONS = 3
SOMEBODY_WAITS = "somebody waits for an answer"
TOO_FULL = "the talk does not fit the window any more"


@inlineCallbacks
def compact_in_emergency(script: Any) -> Generator[Deferred[Any], Any, dict[str, Any] | None]:
    """Compact where the context is filled to ``compact_emergency_threshold``; where it is not, this
    costs 30 µs (measured). Asked at the start of every tick and between its turns.

    Fires with the compaction's result, None where there was room; fails with TurnAborted and
    StoreUnavailable.
    """
    if not is_urgent(script):
        return None
    yield extract_before_emergency(script)
    result: dict[str, Any] = yield compact_if_urgent(script)
    return result


@inlineCallbacks
def extract_before_emergency(script: Any) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """Journal facts of what an emergency takes out of view: in `MOST_ITERATIONS` model calls for
    each audience at most, within the time of one turn, and only for as long as nobody waits.

    Fires with a result as `run_pre_compaction_extraction` does; a loop that breaks keeps no room
    from being made.
    """
    reason = reason_to_skip(script)
    if reason:
        log.info("{name}: nothing journalled: {reason}", name=script.character_name, reason=reason)
        return {"skipped": True, "reason": reason}
    limits = ExtractionLimits(
        iterations=min(MOST_ITERATIONS, script.config.pre_compact_max_iterations),
        end_at=script.services.clock.seconds() + script.config.turn_deadline,
        is_interrupted=lambda: somebody_waits(script),
    )
    try:
        result: dict[str, Any] = yield extract_facts(script, limits)
    except (TurnAborted, StoreUnavailable):
        raise
    except Exception as error:  # noqa: BLE001  # an overfull context must not stay so for this
        log.failure("{name}: extraction failed", name=script.character_name)
        return {"success": False, "error": f"{type(error).__name__}: {error}"}
    return result


def reason_to_skip(script: Any) -> str:
    """Why there is no extraction before an emergency compaction; empty where there may be one. It
    must see all of the talk, or it would write down half of a matter."""
    if somebody_waits(script):
        return SOMEBODY_WAITS
    return TOO_FULL if measure_context(script).ratio > 1 else ""


def somebody_waits(script: Any) -> bool:
    """True where there are words without an answer."""
    open_events = script.inbox.open_events()
    return bool(open_events.waiting or open_events.doubtful)
