"""Decide whether an assistant falls asleep or wakes, each time the timer looks at it."""

from evennia_ai.game.life import GameLife, Ticker
from evennia_ai.game.sleep_state import Sleep
from evennia_ai.policy.compaction.plan import ContextUse
from evennia_ai.policy.sleep_schedule import (
    AWAKE,
    HOURS,
    NAP,
    UNTIL_WOKEN,
    WISH,
    RestState,
    next_mode,
    read_schedule,
)
from evennia_ai.ports import Company, Identity, Settings
from evennia_ai.scheduling import Clock
from evennia_ai.store.brief_transaction import store_errors
from evennia_ai.store.turns import has_unsorted_talk
from evennia_ai.turn.context_use import ContextMeter

HOURS_OVER, NAP_OVER = "its hours are over", "its nap is over"


class SleepCheck:
    """Lets an assistant fall asleep and wake by its hours, its quiet and its full context
    window."""

    def __init__(
        self,
        who: Identity,
        settings: Settings,
        meter: ContextMeter,
        company: Company,
        life: GameLife,
        rest: Sleep,
        ticker: Ticker,
        clock: Clock,
    ) -> None:
        self._who, self._settings, self._meter, self._company = who, settings, meter, company
        self._life, self._rest, self._ticker, self._clock = life, rest, ticker, clock

    def update(self) -> float | None:
        """Let it sleep or wake, if it is time.

        Returns in how many seconds to look again, None if only after something happened. Raises
        StoreUnavailable.
        """
        if not self._life.is_alive:
            return None
        often = float(self._settings.config.tick_rate_sleep)
        if self._ticker.is_ticking or not self._life.may_think():
            return often
        self._settings.resolve()
        use, rest = self._meter.measure(), self._rest
        with store_errors():
            state = self._state(use)
        if next_mode(state, self._settings.config.sleep_after_quiet) == AWAKE:
            if not state.asleep:
                return self._next_look_s(use, state)
            rest.wake_up(HOURS_OVER if rest.cause == HOURS else NAP_OVER)
            return None
        if not state.asleep:
            rest.fall_asleep(HOURS if self._in_hours() else NAP)
        elif rest.cause == WISH and self._in_hours():
            rest.change_cause(HOURS)  # so that it wakes when they are over
        if rest.needs_pass:
            self._ticker.tick()
        wakes_by_itself = rest.cause not in UNTIL_WOKEN
        scheduled = self._settings.config.sleep_schedule is not None
        return often if wakes_by_itself or rest.needs_pass or scheduled else None

    def _state(self, use: ContextUse) -> RestState:
        """Return what decides over its sleep now."""
        now, woken_at = self._clock.seconds(), self._rest.woken_at
        asleep = self._rest.is_asleep
        sleeps_on = asleep and self._rest.cause in UNTIL_WOKEN
        return RestState(
            asleep=asleep,
            scheduled=sleeps_on or self._in_hours() or self._wants_nap(use, asleep=asleep),
            quiet_s=now - (self._company.last_talk_at or 0.0),
            woken_s=None if woken_at is None else now - woken_at,
        )

    def _wants_nap(self, use: ContextUse, *, asleep: bool) -> bool:
        """Return True if nobody is near, and a sleep pass is unfinished or due.

        A pass is due if a compaction is, or after long quiet that followed some talk.
        """
        if self._company.players_near():
            return False
        if use.is_due or (asleep and self._rest.needs_pass):
            return True
        if not self._has_news():
            return False
        return self._seconds_to_nap() <= 0 and has_unsorted_talk(self._who.id)

    def _seconds_to_nap(self) -> float:
        """Return how long an assistant with news must still be quiet until it naps."""
        quiet_s = self._clock.seconds() - (self._company.last_talk_at or 0.0)
        return float(self._settings.config.sleep_after_long_quiet - quiet_s)

    def _has_news(self) -> bool:
        """Return True if long quiet would send it to sleep: it heard talk since its last pass."""
        talk_at, slept_at = self._company.last_talk_at, self._rest.state.last_pass_at
        if not self._settings.config.sleep_after_long_quiet or not talk_at:
            return False
        return slept_at is None or slept_at < talk_at

    def _in_hours(self) -> bool:
        """Return True in the assistant's own hours of sleep."""
        schedule = read_schedule(self._settings.config.sleep_schedule)
        return schedule is not None and schedule.holds(self._life.minute_now())

    def _next_look_s(self, use: ContextUse, state: RestState) -> float | None:
        """Return when it may fall asleep if it hears nothing, in seconds; None if it will not."""
        config = self._settings.config
        often = float(config.tick_rate_sleep)
        if state.scheduled or use.is_due or config.sleep_schedule is not None:
            return often
        if not self._has_news():
            return None
        left_s = self._seconds_to_nap()
        if left_s <= 0 and not self._company.players_near():
            return None  # it only saw somebody pass
        return max(often, left_s)
