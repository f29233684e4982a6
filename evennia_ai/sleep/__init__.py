"""A sleep pass: its time, and the steps in which an assistant sorts its memories."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred
from twisted.logger import Logger

from evennia_ai.errors import AssistantError, StoreUnavailable, TurnAborted
from evennia_ai.ports import Extension, MindContext
from evennia_ai.ports.extension import collect
from evennia_ai.scheduling import Clock, Coroutine, yield_to_reactor

# More than a step needs to ask a slow model once for each of many listeners.
STEP_TIME_S = 600.0


class StepGivenUp(AssistantError):
    """A sleep step was given up before its end. The text says why."""


class SleepPassTimer:
    """The time of one sleep pass; ``is_over`` once it is broken off because somebody waits."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.is_over = False
        self._end: Any = None
        self._give_up: Callable[[str], None] | None = None

    def end_within(self, seconds: float) -> None:
        """Break the pass off after some seconds at the latest. The earliest request counts."""
        if self._end is None or not self._end.active():
            self._end = self.clock.callLater(seconds, self._break_off)
        elif self._end.getTime() > self.clock.seconds() + seconds:
            self._end.reset(seconds)

    def close(self) -> None:
        """End the pass: nothing can be broken off any more."""
        if self._end is not None and self._end.active():
            self._end.cancel()

    def limit(self, running: Deferred[Any]) -> Deferred[Any]:
        """Wait for a step, but not longer than its time.

        A step that ignores its cancellation is abandoned; its late result is dropped. Fires and
        fails as the step does; fails with `StepGivenUp`.
        """
        came: Deferred[Any] = Deferred()

        def arrive(result: Any) -> None:
            if not came.called:
                came.callback(result)

        def give_up(reason: str) -> None:
            came.errback(StepGivenUp(reason))
            running.cancel()

        def settle(result: Any) -> Any:
            self._give_up = None
            if timer.active():
                timer.cancel()
            return result

        late = f"given up after {STEP_TIME_S:.0f} s"
        timer = self.clock.callLater(STEP_TIME_S, give_up, late)
        self._give_up = give_up
        came.addBoth(settle)
        running.addBoth(arrive)
        return came

    def _break_off(self) -> None:
        self.is_over = True
        if self._give_up is not None:
            self._give_up("broken off")


log = Logger()

WOKEN = {"skipped": True, "reason": "woken"}
BROKEN_OFF = {"skipped": True, "reason": "broken off in the middle of it"}


# The steps of a tick, which begin each pass: their titles in reports, and a format for their
# figures there; an empty one lists them.
STEP_TEXTS = {
    "memory_links": ("Journal into long-term memory", ""),
    "entity_consolidation": ("What it knows of others", ""),
    "orphaned_links": ("Links that lead nowhere", ""),
    "episodic_prune": ("Old memories let go", ""),
    "stale_conversations": ("Talks that came to an end", "{ended} ended, {running} going on"),
    "pre_compaction_extraction": (
        "Facts written down",
        "{facts_recorded} into the journal (model calls: {iterations})",
    ),
    "context_compaction": (
        "Old talk summed up",
        "{compacted_messages} messages, {original_tokens:,} tokens before and {new_tokens:,} after",
    ),
}
STEPS = tuple(STEP_TEXTS)


def run_sleep_tick(script: Any, character: Any) -> Deferred[dict[str, dict[str, Any]]]:
    """Run the steps of a sleep pass that belong to a tick; fires and fails as their runner.

    ``script`` is an `AssistantScript`, ``character`` its character.
    """
    results: Deferred[dict[str, dict[str, Any]]] = script.mind.sleep_pass.run(None, STEPS)
    return results


def step_texts(extensions: Sequence[Extension]) -> dict[str, tuple[str, str]]:
    """Return the title of each step in reports by its name, and the format of its figures."""
    added = collect(extensions, lambda extension: extension.sleep_steps())
    return {step.name: (step.title, step.sentence) for step in added} | STEP_TEXTS


@dataclass(frozen=True, eq=False)
class SleepPassRunner:
    """Runs the steps of a sleep pass.

    ``steps`` has for each step's name, in their order, what runs it: it returns a result dict, or a
    Deferred of one. That has ``success`` and figures, with ``error`` if a provider failed and
    ``cut_off`` if replies reached their token limit; or ``skipped`` True and ``reason``. A step
    fails with TurnAborted and StoreUnavailable only.
    """

    _mind: MindContext
    steps: Mapping[str, Callable[[], Any]]

    @inlineCallbacks
    def run(
        self, time: SleepPassTimer | None = None, names: Iterable[str] = ()
    ) -> Coroutine[dict[str, dict[str, Any]]]:
        """Run some steps, or without names all of them: a whole pass.

        A step that fails or never ends does not stop the next. Each step may run again without
        doing anything twice, so ``time`` may break the pass off even within a step; what was not
        done is reported as skipped. Fires with each step's result by its name; fails with
        TurnAborted only, if the server stops or the assistant may not think any more.
        """
        time = time or SleepPassTimer(self._mind.clock)
        results: dict[str, dict[str, Any]] = {}
        for step in names or self.steps:
            yield yield_to_reactor(self._mind.slices.put)  # the stand-in makes no pauses of its own
            if not self._mind.status.may_think():
                raise TurnAborted("asleep, it was stopped")
            if time.is_over:
                results[step] = dict(WOKEN)
            else:
                results[step] = yield self._run_step(step, time)
        return results

    @inlineCallbacks
    def _run_step(self, step: str, time: SleepPassTimer) -> Coroutine[dict[str, Any]]:
        """Run one step. Fires with its result dict; fails with TurnAborted only."""
        name = self._mind.name
        try:
            return checked((yield time.limit(maybeDeferred(self.steps[step]))))
        except TurnAborted:
            raise
        except StepGivenUp as error:
            tell = log.info if time.is_over else log.warn  # somebody spoke to it, or it was slow
            tell("{name}: sleep step {step} {error}", name=name, step=step, error=error)
            return dict(BROKEN_OFF) if time.is_over else {"success": False, "error": str(error)}
        except StoreUnavailable as error:
            log.warn("{name}: sleep step {step} failed: {error}", name=name, step=step, error=error)
            return {"success": False, "error": f"StoreUnavailable: {error}"}
        except Exception as error:  # noqa: BLE001  # one step's error must not stop the next
            log.failure("{name}: sleep step {step} failed", name=name, step=step)
            return {"success": False, "error": f"{type(error).__name__}: {error}"}


def checked(result: Any) -> dict[str, Any]:
    """Return a step's result; raises TypeError if it is no dict."""
    if not isinstance(result, dict):
        raise TypeError(f"a step must return a dict, not {type(result).__name__}")
    return result
