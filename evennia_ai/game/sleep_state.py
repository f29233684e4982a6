"""Falling asleep and waking: how the world sees it, and when it is time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.game.client_notices import send_filler, shown_name
from evennia_ai.game.perception import listening_objects
from evennia_ai.game.texts import text
from evennia_ai.game.tick_scheduler import TickScheduler
from evennia_ai.game.world_clock import sleep_minute
from evennia_ai.messages import IncomingEvent
from evennia_ai.policy.compaction.plan import ContextUse
from evennia_ai.policy.conversation.tool_call_rules import ToolOffer
from evennia_ai.policy.sleep_schedule import (
    ASLEEP,
    AWAKE,
    CONSOLIDATING,
    DONE,
    DREAMING,
    HOURS,
    NAP,
    REASONS,
    STOPPED,
    UNTIL_WOKEN,
    WISH,
    WOKEN,
    RestState,
    next_mode,
    read_schedule,
)
from evennia_ai.ports import Identity, OfferedTools, Settings, Turns
from evennia_ai.scheduling import Coroutine, retry_write
from evennia_ai.signals import assistant_slept, assistant_woke
from evennia_ai.sleep import SleepPassTimer
from evennia_ai.store.attributes import read_attribute, write_attribute, write_attributes
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.transactions import store_errors
from evennia_ai.store.turns import begin_pass, end_pass, has_unsorted_talk

log = Logger()

HOURS_OVER, NAP_OVER = "its hours are over", "its nap is over"


@dataclass(frozen=True)
class Bedtime:
    """A plan to fall asleep at the end of the tick: its cause, its reason, and when it was made."""

    cause: str
    at: float
    reason: str = ""


class GameSleep:
    """The sleep of one assistant, a `SleepController`. The shell keeps the stored Attributes."""

    def __init__(
        self,
        shell: Any,
        who: Identity,
        settings: Settings,
        inbox: TableInbox,
        turns: Turns,
        offered: OfferedTools,
        ticker: TickScheduler,
        services: Any,
        drop_index: Callable[[], None],
    ) -> None:
        self._shell, self._who, self._settings, self._inbox = shell, who, settings, inbox
        self._turns, self._offered, self._ticker, self._services = turns, offered, ticker, services
        self._drop_index = drop_index
        # Times are seconds of the services' clock.
        self.woken_at: float | None = None
        self.bedtime: Bedtime | None = None
        self.slept = False  # a whole sleep pass in this sleep
        self.last_pass_at: float | None = None  # the end of the last whole sleep pass
        self.pass_time: SleepPassTimer | None = None  # of the sleep pass under way
        self.pass_id: int | None = None  # the stored row of that pass
        self._mumbled_to = set[str]()  # dbrefs of who saw it mumble in this sleep

    @property
    def needs_pass(self) -> bool:
        """Return True if it sleeps and has not sorted its memories yet."""
        return self.is_asleep and not self.slept

    @inlineCallbacks
    def sleep_through(
        self, run: Callable[[SleepPassTimer], Deferred[dict[str, Any]]]
    ) -> Coroutine[dict[str, Any]]:
        """Run one sleep pass; one that is broken off is run again in the next sleep.

        Fires with the steps' results; fails with TurnAborted and StoreUnavailable.
        """
        clock, now = self._services.clock, self._services.now
        time = self.pass_time = SleepPassTimer(clock)
        try:
            begin = partial(begin_pass, self._who.id, now(), self.cause)
            pass_id = self.pass_id = yield retry_write(clock, begin)
            try:
                results = yield run(time)
            except TurnAborted:
                self._note_stopped(pass_id)
                raise
            yield retry_write(clock, self._turns.recover)  # a failed step leaves its turn open
            outcome = WOKEN if time.is_over else DONE
            yield retry_write(clock, partial(end_pass, pass_id, now(), outcome, results))
            if outcome == DONE:
                self.slept, self.last_pass_at = True, clock.seconds()
                if self.is_asleep:
                    write_attribute(self._shell, "sleep_phase", DREAMING)
                    self._drop_index()
        finally:
            time.close()
            self.pass_time = self.pass_id = None
        return dict(results)

    def _note_stopped(self, pass_id: int) -> None:
        """Store that a stop broke a sleep pass off; if that fails, it shows as interrupted."""
        try:
            end_pass(pass_id, self._services.now(), STOPPED, {})
        except StoreUnavailable as error:
            message = "{name}: the end of sleep pass {pass_id} is not stored: {error}"
            log.warn(message, name=self._who.name, pass_id=pass_id, error=error)

    def break_off(self) -> None:
        """End the sleep pass under way, if there is one."""
        if self.pass_time:
            self.pass_time.end_within(0)

    def fall_asleep(self, cause: str, reason: str = "") -> None:
        """Fall asleep for a cause of `policy.sleep_schedule`, and show it; raises StoreUnavailable.

        ``reason`` is for the log and the signal; empty uses the words of the cause.
        """
        write_attributes(
            self._shell,
            operating_mode=ASLEEP,
            sleep_phase=CONSOLIDATING,
            sleep_cause=cause,
            asleep_since=self._services.clock.seconds(),
        )
        self.slept, self.bedtime, self._mumbled_to = False, None, set()
        self._offered.offer = ToolOffer()  # the next talk begins with the tools that it needs
        self._drop_index()
        self._services.watch(self._shell.mind)
        self._show("falls_asleep")
        cause_words = reason or REASONS[cause]
        assistant_slept.send_robust(
            sender=self._shell, character=self._who.character, reason=cause_words
        )
        log.info("evennia_ai: {name} sleeps: {reason}", name=self._who.name, reason=cause_words)

    def wake_up(self, reason: str) -> None:
        """Wake, show it, and break off a sleep pass; raises StoreUnavailable and stays asleep."""
        write_attributes(self._shell, operating_mode=AWAKE, sleep_phase=None, sleep_cause=None)
        self.break_off()
        self.woken_at = self._services.clock.seconds()
        self._show("wakes_up")
        assistant_woke.send_robust(sender=self._shell, character=self._who.character, reason=reason)
        log.info("evennia_ai: {name} wakes: {reason}", name=self._who.name, reason=reason)

    def on_addressed(self, event: IncomingEvent) -> None:
        """Mumble, once for each speaker, and wake soon if this comes during a sleep pass."""
        if self.pass_time is None or not self.is_asleep:
            return
        self.pass_time.end_within(self._settings.config.sleep_wake_within)
        if not event.speaker or event.speaker in self._mumbled_to:
            return
        self._mumbled_to.add(event.speaker)
        present = listening_objects(self._who.character)
        listeners = [obj for obj in present if not event.private or obj.dbref in event.audience]
        self._show("mumbles", listeners)

    def go_to_bed(self, cause: str, reason: str = "") -> bool:
        """Call `fall_asleep` now, or at the end of the tick; return True if it sleeps now."""
        if self._ticker.is_ticking:
            self.bedtime = Bedtime(cause, self._services.clock.seconds(), reason)
            return False
        self.fall_asleep(cause, reason)
        self._ticker.wake()
        return True

    def lie_down(self) -> None:
        """Fall asleep if that is planned and nobody waits; raises StoreUnavailable.

        A plan of its own is dropped if somebody has spoken since.
        """
        bedtime = self.bedtime
        if bedtime is None or self._inbox.open_events():
            return
        self.bedtime = None
        if bedtime.cause != WISH or (self._shell.mind.presence.last_talk_at or 0.0) <= bedtime.at:
            self.fall_asleep(bedtime.cause, bedtime.reason)
            self._ticker.wake()

    def stay_up(self) -> bool:
        """Drop a plan to fall asleep. Returns True if there was one."""
        planned, self.bedtime = self.bedtime is not None, None
        return planned

    def _show(self, key: str, witnesses: Sequence[Any] | None = None) -> None:
        """Show a line to those present, or to the witnesses only."""
        if self._who.character.location:
            seen_by = listening_objects(self._who.character) if witnesses is None else witnesses
            send_filler(self._who.character, text(key), seen_by)

    def update(self) -> float | None:
        """Let it sleep or wake, if it is time; raises StoreUnavailable.

        Returns in how many seconds to look again, None if only after something happened.
        """
        mind = self._shell.mind
        if not mind.status.is_alive:
            return None
        often = float(self._settings.config.tick_rate_sleep)
        if self._ticker.is_ticking or not mind.status.may_think():
            return often
        self._settings.resolve()
        use = mind.meter.measure()
        with store_errors():
            state = self._state(use)
        if next_mode(state, self._settings.config.sleep_after_quiet) == AWAKE:
            if not state.asleep:
                return self._next_look_s(use, state)
            self.wake_up(HOURS_OVER if self.cause == HOURS else NAP_OVER)
            return None
        if not state.asleep:
            self.fall_asleep(HOURS if self._in_hours() else NAP)
        elif self.cause == WISH and self._in_hours():
            # So that it wakes when they are over.
            write_attribute(self._shell, "sleep_cause", HOURS)
        if self.needs_pass:
            self._ticker.tick()
        wakes_by_itself = self.cause not in UNTIL_WOKEN
        scheduled = self._settings.config.sleep_schedule is not None
        return often if wakes_by_itself or self.needs_pass or scheduled else None

    def _state(self, use: ContextUse) -> RestState:
        """Return what decides over its sleep now."""
        now, asleep = self._services.clock.seconds(), self.is_asleep
        sleeps_on = asleep and self.cause in UNTIL_WOKEN
        return RestState(
            asleep=asleep,
            scheduled=sleeps_on or self._in_hours() or self._wants_nap(use, asleep=asleep),
            quiet_s=now - (self._shell.mind.presence.last_talk_at or 0.0),
            woken_s=None if self.woken_at is None else now - self.woken_at,
        )

    def _wants_nap(self, use: ContextUse, *, asleep: bool) -> bool:
        """Return True if nobody is near, and a sleep pass is unfinished, or is due."""
        if self._shell.mind.presence.players_near():
            return False
        if use.is_due or (asleep and self.needs_pass):
            return True
        if not self._has_news():
            return False
        return self._seconds_to_nap() <= 0 and has_unsorted_talk(self._who.id)

    def _seconds_to_nap(self) -> float:
        """Return how long an assistant with news must still be quiet until it naps."""
        quiet_s = self._services.clock.seconds() - (self._shell.mind.presence.last_talk_at or 0.0)
        return float(self._settings.config.sleep_after_long_quiet - quiet_s)

    def _has_news(self) -> bool:
        """Return True if long quiet would send it to sleep: it heard talk since its last pass."""
        talk_at, slept_at = self._shell.mind.presence.last_talk_at, self.last_pass_at
        if not self._settings.config.sleep_after_long_quiet or not talk_at:
            return False
        return slept_at is None or slept_at < talk_at

    def _in_hours(self) -> bool:
        """Return True in the assistant's own hours of sleep."""
        config = self._settings.config
        schedule = read_schedule(config.sleep_schedule)
        if schedule is None:
            return False
        return schedule.holds(sleep_minute(self._services.world_clock, config.sleep_clock))

    def _next_look_s(self, use: ContextUse, state: RestState) -> float | None:
        """Return when it may fall asleep if it hears nothing, in seconds; None if it will not."""
        config = self._settings.config
        often = float(config.tick_rate_sleep)
        if state.scheduled or use.is_due or config.sleep_schedule is not None:
            return often
        if not self._has_news():
            return None
        left_s = self._seconds_to_nap()
        if left_s <= 0 and not self._shell.mind.presence.players_near():
            return None  # it only saw somebody pass
        return max(often, left_s)

    @property
    def cause(self) -> str:
        """Return the cause of its sleep (`policy.sleep_schedule`), a nap if none is stored."""
        cause = read_attribute(self._shell, "sleep_cause")
        return cause if cause in REASONS else NAP

    @property
    def is_asleep(self) -> bool:
        return is_asleep(self._shell)


def mode_of(character: Any, services: Any) -> str:
    """Return what a character's assistant is doing, in a word."""
    script = getattr(character, "assistant", None)
    if script is None:
        return "deaf"
    mind = script.mind
    if not mind.status.is_on or getattr(services, "switched_off", False):
        return "stopped"
    if character.has_account:
        return "puppeted"
    if mind.sleep.is_asleep:
        return "asleep"
    return "thinking" if mind.ticker.is_ticking else "awake"


def sleeper_line(character: Any, looker: Any) -> str:
    """Return what somebody sees of a character's sleep, empty if it is awake."""
    script = character.assistant
    if script is None or character.has_account or not is_asleep(script):
        return ""
    return text("looks_asleep", name=shown_name(character, looker))


def is_asleep(shell: Any) -> bool:
    """Return True for an assistant between falling asleep and waking; restarts keep it."""
    return bool(read_attribute(shell, "operating_mode") == ASLEEP)
