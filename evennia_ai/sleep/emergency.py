"""Free the context window before anything else when it is nearly full.

A player who waits for an answer waits for one summary at most; for none if the model is slow or its
window small: then a digest takes its place until the next sleep. Only if nobody waits does the
assistant first journal what it will need of the evicted messages.
"""

from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import usable_window
from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.policy.compaction import plan
from evennia_ai.ports import MindContext
from evennia_ai.scheduling import Coroutine
from evennia_ai.sleep.compaction.compact import Compactor
from evennia_ai.sleep.extraction import ExtractionLimits, FactExtractor
from evennia_ai.turn.context_use import ContextMeter

log = Logger()

MOST_ITERATIONS = 3
SOMEBODY_WAITS = "somebody waits for an answer"
TOO_FULL = "the talk does not fit the window any more"


@dataclass(frozen=True, eq=False)
class Emergency:
    """Frees the context window when it is nearly full, or after a provider's refusal."""

    _mind: MindContext
    _meter: ContextMeter
    _compactor: Compactor
    _extraction: FactExtractor

    @inlineCallbacks
    def make_room(self) -> Coroutine[dict[str, Any] | None]:
        """Compact if the context window is filled to ``compact_emergency_threshold``.

        Called at the start of every tick and between its turns. Fires with the compaction's result,
        None below the threshold; fails with TurnAborted and StoreUnavailable.
        """
        use = self._meter.measure()
        if not use.is_urgent:
            return None
        asks = not plan.digest_goes_first(use.window, self._mind.profile.told.speed)
        if asks:
            yield self._extract(use)
        request = plan.CompactionOrder(plan.EMERGENCY, asks=asks)
        result: dict[str, Any] = yield self._compactor.compact(request)
        return result

    @inlineCallbacks
    def on_overflow(self) -> Coroutine[bool]:
        """Compact after a provider refused a request as too long, without asking a model.

        Fires with True if the next request is shorter: the talk was compacted, or the refusal told
        of a smaller window. Fails with TurnAborted and StoreUnavailable.
        """
        before = usable_window(self._mind.config, self._mind.profile)
        self._mind.settings.resolve()
        is_smaller = usable_window(self._mind.config, self._mind.profile) < before
        result: dict[str, Any] = yield self._compactor.compact(
            plan.CompactionOrder(plan.OVERFLOW, force=True)
        )
        return is_smaller or bool(result.get("success"))

    @inlineCallbacks
    def _extract(self, use: plan.ContextUse) -> Coroutine[dict[str, Any]]:
        """Journal facts of what an emergency compaction evicts, until somebody waits.

        Takes at most `MOST_ITERATIONS` model calls for each audience and the time of one turn.
        Fires as `FactExtractor.run` does; an error does not stop the compaction. Fails
        with TurnAborted and StoreUnavailable only.
        """
        # The model must see the whole talk, or it would journal half of a matter.
        too_full = TOO_FULL if use.ratio > 1 else ""
        reason = SOMEBODY_WAITS if self._mind.inbox.open_events() else too_full
        if reason:
            log.info("{name}: nothing journalled: {reason}", name=self._mind.name, reason=reason)
            return {"skipped": True, "reason": reason}
        limits = ExtractionLimits(
            iterations=min(MOST_ITERATIONS, self._mind.config.pre_compact_max_iterations),
            end_at=self._mind.clock.seconds() + self._mind.config.turn_deadline,
            is_interrupted=lambda: bool(self._mind.inbox.open_events()),
        )
        try:
            result: dict[str, Any] = yield self._extraction.extract(limits, use)
        except (TurnAborted, StoreUnavailable):
            raise
        except Exception as error:  # noqa: BLE001  # the compaction must go on whatever fails here
            log.failure("{name}: extraction failed; compacting", name=self._mind.name)
            return {"success": False, "error": f"{type(error).__name__}: {error}"}
        return result
