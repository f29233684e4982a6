"""The assistant of one character: an Evennia Script that events wake."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from evennia.scripts.scripts import DefaultScript
from twisted.internet.defer import inlineCallbacks
from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.errors import RunElsewhere, StoreUnavailable, TurnAborted
from evennia_ai.game.assistant_context import AssistantContextMixin
from evennia_ai.game.hearing import AssistantHearingMixin
from evennia_ai.game.presence import AssistantPresenceMixin
from evennia_ai.game.script_ports import GameScript
from evennia_ai.game.sleep_state import cause_of_sleep, is_asleep, lie_down, sleep_state, wake_up
from evennia_ai.messages import turn_label
from evennia_ai.policy.conversation.autonomy import (
    HOUR_S,
    AutonomyState,
    may_answer_assistant,
    should_act,
)
from evennia_ai.policy.schedule.sleep_report import DONE, STOPPED, WOKEN
from evennia_ai.policy.schedule.sleep_schedule import DREAMING
from evennia_ai.scheduling import Steps, pause, persist
from evennia_ai.signals import turn_finished
from evennia_ai.sleep import STEPS, run_sleep_tick
from evennia_ai.sleep.compaction.compact import compact, mask_old_results
from evennia_ai.sleep.compaction.journal_summary import archive_summaries
from evennia_ai.sleep.compaction.request import CompactionRequest
from evennia_ai.sleep.emergency import compact_in_emergency, compact_on_overflow
from evennia_ai.sleep.pass_time import PassTime
from evennia_ai.store.attributes import SCRIPT_KEY, read_attribute, write_attribute
from evennia_ai.store.brief_transaction import store_errors
from evennia_ai.store.lines import erase_vectors
from evennia_ai.store.server_settings import mark_for_deletion
from evennia_ai.store.sleep_passes import begin_pass, end_pass
from evennia_ai.turn.agreed_acts import run_agreed
from evennia_ai.turn.answer_events import TURNS_A_TICK, act_autonomously, answer_events
from evennia_ai.turn.context_use import measure_context
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_AUTONOMOUS
from evennia_ai.turn.react_loop import EXPIRED

log = Logger()

STORE_PAUSE_S = 5.0
LEASE_PAUSE_S = 1.0


class AssistantScript(
    AssistantContextMixin, AssistantHearingMixin, AssistantPresenceMixin, DefaultScript
):
    """The assistant of one character.

    Its interval is 0, since a thousand timed scripts delay a reload by seconds (measured); events
    wake it through `wake`. All its state in memory is in ``ndb``. ``shared_services`` are the
    `GameServices` of this process, None before the start of the server.
    """

    shared_services: ClassVar[Any] = None
    compact_on_overflow = compact_on_overflow
    compact_in_emergency = compact_in_emergency

    # --- Evennia's hooks ---------------------------------------------------------------------

    def at_script_creation(self) -> None:
        """Set Evennia's fields. No setting is stored, so that all of them stay inherited."""
        self.key = SCRIPT_KEY
        self.desc = "the assistant of a character"
        self.interval = 0
        self.persistent = True
        if self.obj is not None:
            self.obj.ndb.ai_assistant = None

    def at_repeat(self, **kwargs: Any) -> None:
        """Tick at the interval that a builder set. Return None: Evennia ignores a Deferred."""
        self.tick()

    def at_script_delete(self) -> bool:
        """Drop what is in memory and mark long-term memory for deletion. True allows it."""
        for waiting in filter(None, (self.ndb.unread, self.ndb.backlog)):
            waiting.clear()
        if self.services:
            self.let_go()
            self.services.loaded.drop(self)
            if self.obj and self.services.semantic.was_used:
                mark_for_deletion(self.obj.id)
        erase_vectors(self.id)  # in one query; with the log Django would load each
        return True

    def at_server_start(self) -> None:
        """Restart a timed script that a SIGKILL left active without a running task."""
        if self.interval > 0 and self.db_is_active:
            is_running = self.ndb._task and self.ndb._task.running
            if not is_running:
                self.start(force_restart=True)

    def at_server_reload(self) -> None:
        """Let no new turn begin in this process."""
        if self.services:
            self.services.quiesce()

    # --- ticking ------------------------------------------------------------------------------

    @property
    def is_on(self) -> bool:
        """Return False after ``aistop``."""
        return not read_attribute(self, "stopped")

    def stop_thinking(self) -> None:
        """Stop hearing and speaking, and drop the turn in flight; tell those who wait for it."""
        write_attribute(self, "stopped", True)
        waiting = self.drop_turn("the assistant was stopped")
        self.tell("stopped", filter(self.services.crowd.should_tell, waiting))
        self.services.memory_indices.drop(self)

    def drop_turn(self, reason: str) -> list[str]:
        """End the turn in flight, if any; return the dbrefs of those who wait for its answer."""
        turns = self.ndb.turns
        if not turns or not turns.current:
            return []
        waiting: list[str] = turns.waiting_speakers()
        turns.finish(turns.current, EXPIRED, reason)
        return waiting

    def break_off(self) -> None:
        """End the turn or the sleep pass under way; the turn's events are handled again."""
        if self.ndb.turns:
            self.turns.recover()
        if self.ndb.sleep_state and self.ndb.sleep_state.pass_time:
            self.ndb.sleep_state.pass_time.end_within(0)

    def forget(self, dbref: str) -> None:
        """Drop from memory what the tables no longer hold about somebody."""
        self.partners.pop(dbref, None)
        self.conversation.forget_view()

    def wake(self) -> None:
        """Tick soon. Several calls before that tick make one tick."""
        services = self.services
        if services is None or not services.accepting or self.ndb.woken:
            return
        self.ndb.woken = True
        services.slices.put(self._woken)

    def _woken(self) -> None:
        self.ndb.woken = False
        self.tick()

    def tick(self) -> None:
        """Run `at_tick` and log its errors."""
        if self.pk:
            self.at_tick().addErrback(self.log_failed_tick, self.character_name)

    def log_failed_tick(self, failure: Failure, name: str) -> None:
        """Log why a tick failed, and the turn that it left open, which the next tick closes."""
        turn = turn_label(self.ndb.turns.current if self.ndb.turns else None)
        message = "{name}, {turn}: a tick failed; the next event starts another"
        log.failure(message, failure, name=name, turn=turn)

    @inlineCallbacks
    def at_tick(self) -> Steps[int]:
        """Do everything that is due, one tick at a time. Fires with the number of turns."""
        if self.ndb.ticking:
            self.ndb.tick_again = True
            return 0
        if not self.may_think():
            return 0
        self.ndb.ticking = True
        try:
            with store_errors(), self.services.processes.lease(self):
                turns: int = yield self.take_turns()
        except TurnAborted as error:
            log.info("evennia_ai: {error}", error=error)
            return 0
        except (StoreUnavailable, RunElsewhere) as error:
            self.retry_later(error)
            return 0
        finally:
            self.ndb.ticking = False
            if self.pk:
                self.services.loaded.note(self)
                if self.ndb.tick_again:
                    self.ndb.tick_again = False
                    self.wake()
        if turns:
            self.services.attend(self)  # its head is fuller now
            turn_finished.send_robust(sender=self, character=self.character, turns=turns)
        if turns == TURNS_A_TICK:
            self.wake()
        return turns

    def retry_later(self, error: StoreUnavailable | RunElsewhere) -> None:
        """Tick again after a pause, since the database or another process is busy."""
        if isinstance(error, RunElsewhere):
            self.services.clock.callLater(LEASE_PAUSE_S, self.wake)
            return
        message = "{name}: {error}; retrying in {pause_s:.0f} s"
        log.warn(message, name=self.character_name, error=error, pause_s=STORE_PAUSE_S)
        self.services.clock.callLater(STORE_PAUSE_S, self.wake)

    @inlineCallbacks
    def take_turns(self) -> Steps[int]:
        """Compact, sleep, answer events or act autonomously. Fires with the number of turns."""
        self.resolve_settings()
        who = self.character
        for records in (who.journal, who.ai_profiles, who.ai_goals, who.ai_plan):
            yield records.load(self.services.slices.put)
        yield pause(self.services.slices.put)  # the conversation may have to be read as well
        if self.ndb.unarchived:
            self.ndb.unarchived = False
            yield archive_summaries(self)
        mask_old_results(self, measure_context(self))
        yield compact_in_emergency(self)
        if is_asleep(self) and not sleep_state(self).slept and not self.inbox.open_events():
            yield sleep_through(self)
        if is_asleep(self):
            if not self.inbox.open_events():
                return 0
            wake_up(self, "somebody speaks to it")
        yield run_agreed(self)
        turns: int = yield answer_events(self)
        if turns:
            self.ndb.news_at = None
        elif self.wants_to_act():
            self.note_unasked_turn()
            yield act_autonomously(self)
            turns = 1
        lie_down(self)
        return turns

    @inlineCallbacks
    def compact(self, order: CompactionRequest) -> Steps[dict[str, Any]]:
        """Compact on an admin's request, instead of a tick.

        Fires with the result; fails with StoreUnavailable, and with TurnAborted if the server stops
        or a tick is running.
        """
        if self.ndb.ticking:
            raise TurnAborted(f"{self.character_name} is thinking just now: try again in a moment.")
        if self.is_forgetting:
            raise TurnAborted(f"{self.character_name} forgets somebody: try again in a moment.")
        self.ndb.ticking = True
        try:
            with self.services.processes.lease(self):
                self.resolve_settings()
                result: dict[str, Any] = yield compact(self, order)
        finally:
            self.ndb.ticking = False
            if self.pk:
                self.wake()
        return result

    @property
    def autonomous_acts(self) -> list[float]:
        """Return the times of the last hour's unasked turns, in the clock's seconds.

        Autonomous acts, and answers to other assistants.
        """
        acts: list[float] | None = self.ndb.autonomous_acts
        if acts is None:
            now, seconds = self.services.now(), self.services.clock.seconds()
            since = now - timedelta(seconds=HOUR_S)
            times = self.turns.times_of(CONTEXT_TICK_AUTONOMOUS.name, since)
            times = sorted([*times, *self.inbox.times_of_assistants(since)])
            acts = self.ndb.autonomous_acts = [seconds - (now - at).total_seconds() for at in times]
        return acts

    def may_answer_assistants(self) -> bool:
        """Return True if the hour has a call left; also if the database cannot tell now."""
        try:
            with store_errors():
                acts = self.autonomous_acts
        except StoreUnavailable:
            return True
        limit = self.config.autonomous_calls_per_hour
        return may_answer_assistant(acts, self.services.clock.seconds(), limit)

    def wants_to_act(self) -> bool:
        """Return True if the assistant should act autonomously now."""
        if self.config.autonomous_calls_per_hour == 0:
            return False
        state = AutonomyState(
            now=self.services.clock.seconds(),
            players_near=self.players_near(),
            acts=tuple(self.autonomous_acts),
            last_talk_at=self.ndb.last_talk_at,
            news_at=self.ndb.news_at,
        )
        config = self.config
        return should_act(state, config.autonomous_calls_per_hour, config.autonomy_quiet)

    @property
    def is_forgetting(self) -> bool:
        """Return True while the words of somebody it knows are being deleted."""
        return bool(self.services.forgetting.holds(self))

    def may_think(self) -> bool:
        """Return True if the assistant may start a turn.

        False while it or all assistants are stopped, the server goes down, it forgets somebody, a
        player controls the character, or the character has no location.
        """
        if not (self.pk and self.is_on and self.services and self.services.accepting):
            return False
        if self.is_forgetting:
            return False
        who = self.character
        is_here = who is not None and who.pk and who.location and not who.has_account
        return bool(is_here and not self.services.switched_off)


if TYPE_CHECKING:

    def check_port(script: AssistantScript) -> GameScript:
        """Let the type checker compare the class with its port."""
        return script


@inlineCallbacks
def sleep_through(script: AssistantScript) -> Steps[dict[str, Any]]:
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
        yield persist(services.clock, script.turns.recover)  # a failed step leaves its turn open
        outcome = WOKEN if time.is_over else DONE
        end = partial(end_pass, state.pass_id, services.now(), outcome, results)
        yield persist(services.clock, end)
        if outcome == DONE:
            state.slept, state.last_pass_at = True, services.clock.seconds()
            if is_asleep(script):
                write_attribute(script, "sleep_phase", DREAMING)
                services.memory_indices.drop(script)
    finally:
        state.end_pass()
    return dict(results)


def note_stopped(script: AssistantScript, pass_id: int) -> None:
    """Store that a stop broke a sleep pass off; if that fails, it is shown as interrupted."""
    try:
        end_pass(pass_id, script.services.now(), STOPPED, {})
    except StoreUnavailable as error:
        message = "{name}: the end of sleep pass {pass_id} is not stored: {error}"
        log.warn(message, name=script.character_name, pass_id=pass_id, error=error)
