"""The mind of one character, as Evennia sees it: a Script that is woken by events."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Any, ClassVar

from evennia.scripts.scripts import DefaultScript
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.game.assistant_context import AssistantContextMixin
from evennia_ai.game.assistant_hearing import AssistantHearingMixin
from evennia_ai.game.sleep_state import (
    cause_of_sleep,
    is_asleep,
    lie_down,
    sleep_state,
    wake_up,
)
from evennia_ai.policy.conversation.autonomy import (
    HOUR_S,
    AutonomyLimits,
    AutonomyState,
    should_act,
)
from evennia_ai.policy.schedule.sleep_report import DONE, STOPPED, WOKEN
from evennia_ai.policy.schedule.sleep_schedule import DREAMING
from evennia_ai.scheduling import Steps, persist
from evennia_ai.signals import turn_finished
from evennia_ai.sleep import STEPS, run_sleep_tick
from evennia_ai.sleep.compaction.compact import compact, mask_old_results
from evennia_ai.sleep.compaction.journal_summary import archive_summaries
from evennia_ai.sleep.compaction.request import CompactionRequest
from evennia_ai.sleep.emergency import compact_in_emergency, compact_on_overflow
from evennia_ai.sleep.pass_time import PassTime
from evennia_ai.store.attributes import (
    SCRIPT_KEY,
    read_attribute,
    write_attribute,
)
from evennia_ai.store.deleted_characters import mark_for_deletion
from evennia_ai.store.sleep_passes import begin_pass, end_pass
from evennia_ai.turn.answer_events import TURNS_A_TICK, act_autonomously, answer_events
from evennia_ai.turn.context_use import measure_context
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_AUTONOMOUS
from evennia_ai.turn.react_loop import EXPIRED

log = Logger()

STORE_PAUSE_S = 5.0


class AssistantScript(AssistantContextMixin, AssistantHearingMixin, DefaultScript):
    """Interval 0: a thousand timed scripts would hold a reload for seconds (measured). An event
    wakes it through one delayed call; all state of the living assistant is in ``ndb``."""

    shared_services: ClassVar[Any] = None

    # --- Evennia's hooks ---------------------------------------------------------------------

    def at_script_creation(self) -> None:
        """Settings are not written here, so that they go on being inherited."""
        self.key = SCRIPT_KEY
        self.desc = "the mind of a character"
        self.interval = 0
        self.persistent = True
        if self.obj is not None:
            self.obj.ndb.ai_assistant = None

    def at_repeat(self, **kwargs: Any) -> None:
        """For a builder who sets an interval. Returns nothing: Evennia would drop a Deferred."""
        self.tick()

    def at_script_delete(self) -> bool:
        """What could not be stored for it yet is nobody's any more, and what its character
        remembers goes. True lets it be deleted."""
        if self.ndb.backlog:
            self.ndb.backlog.clear()
        if self.obj and self.services and self.services.semantic.was_used:
            mark_for_deletion(self.obj.id)
        return True

    def at_server_start(self) -> None:
        """After a SIGKILL a timed script counts as active without a running task: start it."""
        if (
            self.interval > 0
            and self.db_is_active
            and not (self.ndb._task and self.ndb._task.running)
        ):
            self.start(force_restart=True)

    def at_server_reload(self) -> None:
        """From here on no new turn begins in this process."""
        if self.services:
            self.services.quiesce()

    # --- ticking ------------------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        """False after ``aistop``."""
        return not read_attribute(self, "stopped")

    def stop_thinking(self) -> None:
        """Hear and say nothing from now on; an answer on its way is dropped."""
        write_attribute(self, "stopped", True)
        self.drop_turn("the assistant was stopped")

    def drop_turn(self, reason: str) -> list[str]:
        """End the turn that is being thought, if any, without another word.

        Returns the dbrefs of those who wait for its answer.
        """
        turns = self.ndb.turns
        if not turns or not turns.current:
            return []
        waiting: list[str] = turns.waiting_speakers()
        turns.finish(turns.current, EXPIRED, reason)
        return waiting

    def forget(self, dbref: str) -> None:
        """Drop from memory what the tables do not hold of somebody any more."""
        self.partners.pop(dbref, None)
        self.conversation.forget_view()

    def compact_on_overflow(self) -> Deferred[bool]:
        """Compact at once, without a model. Fires with True where there is more room now."""
        return compact_on_overflow(self)

    def compact_in_emergency(self) -> Deferred[dict[str, Any] | None]:
        """Compact where the context is nearly full, as `sleep.emergency.compact_in_emergency`
        says."""
        return compact_in_emergency(self)

    def wake(self) -> None:
        """Tick soon. Any number of calls before that make one tick."""
        services = self.services
        if services is None or not services.accepting or self.ndb.woken:
            return
        self.ndb.woken = True
        services.slices.put(self._woken)

    def _woken(self) -> None:
        self.ndb.woken = False
        self.tick()

    def tick(self) -> None:
        """Run `at_tick` with its errors logged."""
        if self.pk:
            self.at_tick().addErrback(lambda failure: log.failure("a tick failed", failure=failure))

    @inlineCallbacks
    def at_tick(self) -> Steps[int]:
        """Do everything there is to do now. Never overlaps with itself.

        Fires with the number of turns taken.
        """
        if self.ndb.ticking:
            self.ndb.tick_again = True
            return 0
        if not self.may_think():
            return 0
        self.ndb.ticking = True
        try:
            turns: int = yield self.take_turns()
        except TurnAborted as error:
            log.info("evennia_ai: {error}", error=error)
            return 0
        except StoreUnavailable as error:
            log.warn("{name} waits: {error}", name=self.character_name, error=error)
            self.services.clock.callLater(STORE_PAUSE_S, self.wake)
            return 0
        finally:
            self.ndb.ticking = False
            if self.pk and self.ndb.tick_again:
                self.ndb.tick_again = False
                self.wake()
        if turns:
            turn_finished.send_robust(sender=self, character=self.character, turns=turns)
        if turns == TURNS_A_TICK:
            self.wake()
        return turns

    @inlineCallbacks
    def take_turns(self) -> Steps[int]:
        """Make room where the context is nearly full, then answer who waits; where nobody does,
        perhaps act unasked. Fires with the number of turns."""
        self.resolve_settings()
        yield self.character.journal.load(self.services.slices.put)
        yield self.character.ai_profiles.load(self.services.slices.put)
        yield self.character.ai_goals.load(self.services.slices.put)
        yield self.character.ai_plan.load(self.services.slices.put)
        if self.ndb.unarchived:
            self.ndb.unarchived = False
            yield archive_summaries(self)
        mask_old_results(self, measure_context(self))
        yield compact_in_emergency(self)
        if is_asleep(self):
            if not sleep_state(self).slept and not self.inbox.open_events():
                yield sleep_through(self)
            if is_asleep(self) and not self.inbox.open_events():
                return 0
        if is_asleep(self):
            wake_up(self, "somebody speaks to it")
        turns: int = yield answer_events(self)
        if turns:
            self.ndb.news_at = None
        elif self.wants_to_act():
            self.autonomous_acts.append(self.services.clock.seconds())
            yield act_autonomously(self)
            turns = 1
        lie_down(self)
        return turns

    @inlineCallbacks
    def compact(self, order: CompactionRequest) -> Steps[dict[str, Any]]:
        """Compact at an admin's word, in the place of a tick. Fires with the result; fails with
        TurnAborted, also where it is thinking at this moment, and with StoreUnavailable."""
        if self.ndb.ticking:
            raise TurnAborted(f"{self.character_name} is thinking just now: try again in a moment.")
        self.ndb.ticking = True
        try:
            self.resolve_settings()
            result: dict[str, Any] = yield compact(self, order)
        finally:
            self.ndb.ticking = False
            if self.pk:
                self.wake()
        return result

    @property
    def autonomous_acts(self) -> list[float]:
        """When it acted unasked within the last hour, in the clock's seconds."""
        if self.ndb.autonomous_acts is None:
            since = self.services.now() - timedelta(seconds=HOUR_S)
            times = self.turns.times_of(CONTEXT_TICK_AUTONOMOUS.name, since)
            self.ndb.autonomous_acts = [at.timestamp() for at in times]
        acts: list[float] = self.ndb.autonomous_acts
        return acts

    def wants_to_act(self) -> bool:
        """True where it is time for a little life of its own."""
        if self.config.autonomous_calls_per_hour == 0:
            return False
        state = AutonomyState(
            now=self.services.clock.seconds(),
            players_near=self.players_near(),
            acts=tuple(self.autonomous_acts),
            last_talk_at=self.ndb.last_talk_at,
            news_at=self.ndb.news_at,
        )
        limits = AutonomyLimits(self.config.autonomous_calls_per_hour, self.config.autonomy_quiet)
        return should_act(state, limits)

    def may_think(self) -> bool:
        """False while it is stopped, the server goes down, somebody steers the character himself,
        or the character is nowhere."""
        character = self.character
        return bool(
            self.pk
            and self.is_on
            and self.services
            and self.services.accepting
            and not self.services.switched_off
            and character is not None
            and character.pk
            and character.location
            and not character.has_account
        )


@inlineCallbacks
def sleep_through(script: Any) -> Steps[dict[str, Any]]:
    """Run one sleep pass; after it the assistant dreams, and wakes as soon as it is spoken to.

    A pass that was broken off because somebody waited is run again in the next sleep. Fires with
    the steps' results; fails with TurnAborted and StoreUnavailable.
    """
    services, state = script.services, sleep_state(script)
    time = state.pass_time = PassTime(services.clock)
    begin = partial(begin_pass, script.id, services.now(), services.epoch, cause_of_sleep(script))
    try:
        state.pass_id = yield persist(services.clock, begin)
        try:
            results = yield run_sleep_tick(script, script.character, STEPS, time)
        except TurnAborted:
            note_stopped(script, state.pass_id)
            raise
        outcome = WOKEN if time.is_over else DONE
        end = partial(end_pass, state.pass_id, services.now(), outcome, results)
        yield persist(services.clock, end)
        if outcome == DONE:
            state.slept, state.last_pass_at = True, services.clock.seconds()
            if is_asleep(script):
                write_attribute(script, "sleep_phase", DREAMING)
    finally:
        state.end_pass()
    return dict(results)


def note_stopped(script: Any, pass_id: int) -> None:
    """Store that a stop broke a sleep pass off; if that fails, it is shown as interrupted."""
    try:
        end_pass(pass_id, script.services.now(), STOPPED, {})
    except StoreUnavailable as error:
        message = "{name}: the end of sleep pass {pass_id} is not stored: {error}"
        log.warn(message, name=script.character_name, pass_id=pass_id, error=error)
