"""Free the context window before anything else when it is nearly full.

A player who waits for an answer waits for one summary at most; for none if the model is slow or its
window small: then a digest takes its place until the next sleep. Only if nobody waits does the
assistant first journal what it will need of the evicted messages; else it does so behind its
answer, or in sleep if its model is slow.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.config import usable_window
from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.policy.compaction import plan
from evennia_ai.ports import MindContext
from evennia_ai.ports.background import skip
from evennia_ai.scheduling import Coroutine
from evennia_ai.sleep.compaction.compact import Compactor
from evennia_ai.sleep.extraction import INTERRUPTED, ExtractionLimits, FactExtractor
from evennia_ai.turn.context_use import ContextMeter

log = Logger()

MOST_ITERATIONS = 3
SOMEBODY_WAITS = "somebody waits for an answer"
SLOW = "the model is slow or its window small"


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
        asks = not self._is_slow
        journalled: dict[str, Any] = (yield self._extract(use)) if asks else skip(SLOW)
        is_read = journalled.get("success", False) and journalled["stopped_by"] != INTERRUPTED
        order = plan.CompactionOrder(plan.EMERGENCY, asks=asks, is_unread=not is_read)
        result: dict[str, Any] = yield self._compact(order)
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
        order = plan.CompactionOrder(plan.OVERFLOW, force=True, is_unread=True)
        result: dict[str, Any] = yield self._compact(order)
        return is_smaller or bool(result.get("success"))

    @inlineCallbacks
    def journal_late(self) -> Coroutine[dict[str, Any]]:
        """Journal what was evicted while somebody waited, if nobody does now.

        A slow model does so in sleep. Fires and fails as `_extract`.
        """
        if self._is_slow:
            return skip(SLOW)
        result: dict[str, Any] = yield self._journal(self._extraction.journal_late)
        return result

    @property
    def _is_slow(self) -> bool:
        return plan.digest_goes_first(self._meter.window, self._mind.profile.told.speed)

    @inlineCallbacks
    def _compact(self, order: plan.CompactionOrder) -> Coroutine[dict[str, Any]]:
        """Compact; the record tells whether what goes is still to be journalled."""
        is_unread = order.is_unread and self._mind.config.pre_compact_extraction_enabled
        order = replace(order, is_unread=is_unread)
        result: dict[str, Any] = yield self._compactor.compact(order)
        if order.is_unread and result.get("success"):
            self._extraction.has_late = True
        return result

    def _extract(self, use: plan.ContextUse) -> Deferred[dict[str, Any]]:
        """Journal facts of what an emergency compaction evicts, until somebody waits.

        Takes at most `MOST_ITERATIONS` model calls for each audience and the time of one turn.
        Fires as `FactExtractor.run` does; an error does not stop the compaction. Fails
        with TurnAborted and StoreUnavailable only.
        """
        return self._journal(partial(self._extraction.extract, use=use))

    @inlineCallbacks
    def _journal(
        self, extract: Callable[[ExtractionLimits], Deferred[dict[str, Any]]]
    ) -> Coroutine[dict[str, Any]]:
        if self._mind.inbox.open_events():
            log.info(
                "{name}: {reason}; journalling later", name=self._mind.name, reason=SOMEBODY_WAITS
            )
            return skip(SOMEBODY_WAITS)
        limits = ExtractionLimits(
            iterations=min(MOST_ITERATIONS, self._mind.config.pre_compact_max_iterations),
            end_at=self._mind.clock.seconds() + self._mind.config.turn_deadline,
            is_interrupted=lambda: bool(self._mind.inbox.open_events()),
        )
        try:
            result: dict[str, Any] = yield extract(limits)
        except (TurnAborted, StoreUnavailable):
            raise
        except Exception as error:  # noqa: BLE001  # the compaction must go on whatever fails here
            log.failure("{name}: extraction failed", name=self._mind.name)
            return {"success": False, "error": f"{type(error).__name__}: {error}"}
        return result
