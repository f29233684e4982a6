"""Who keeps the hours: when assistants fall asleep and wake by themselves.

An assistant sleeps in its hours (``sleep_schedule``), for as long as a pass takes where one is due
and nobody is near, when a builder says so, and of its own accord.
"""

from __future__ import annotations

from typing import Any

from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.game.game_time import minute_now
from evennia_ai.game.sleep_state import (
    cause_of_sleep,
    fall_asleep,
    is_asleep,
    sleep_state,
    wake_up,
)
from evennia_ai.policy.compaction.decision import ContextUse
from evennia_ai.policy.schedule.sleep_schedule import (
    AWAKE,
    HOURS,
    NAP,
    UNTIL_WOKEN,
    WISH,
    RestState,
    next_mode,
    read_schedule,
)
from evennia_ai.scheduling import is_time, keep_running
from evennia_ai.store.attributes import write_attribute
from evennia_ai.turn.context_use import measure_context

log = Logger()

ROUND_S = 5.0
HOURS_OVER, NAP_OVER = "its hours are over", "its nap is over"


def rest_state(script: Any, use: ContextUse) -> RestState:
    """Return what decides over an assistant's sleep now."""
    now, woken_at = script.services.clock.seconds(), sleep_state(script).woken_at
    asleep = is_asleep(script)
    return RestState(
        asleep=asleep,
        scheduled=has_reason(script, use, asleep=asleep),
        quiet_s=now - (script.ndb.last_talk_at or 0.0),
        woken_s=None if woken_at is None else now - woken_at,
    )


def has_reason(script: Any, use: ContextUse, *, asleep: bool) -> bool:
    """Return True if it should sleep once it is quiet."""
    sleeps_on = asleep and cause_of_sleep(script) in UNTIL_WOKEN
    return sleeps_on or in_hours(script) or wants_nap(script, use, asleep=asleep)


def wants_nap(script: Any, use: ContextUse, *, asleep: bool) -> bool:
    """Return True if nobody is near, and a sleep pass is unfinished or due.

    A pass is due if a compaction is, or after long quiet that followed some talk.
    """
    if script.players_near():
        return False
    unfinished = asleep and not sleep_state(script).slept
    return unfinished or use.is_due or is_quiet_for_long(script)


def is_quiet_for_long(script: Any) -> bool:
    """Return True if nobody has talked for ``sleep_after_long_quiet`` since its last sleep pass."""
    if not has_news(script):
        return False
    quiet_s = script.services.clock.seconds() - script.ndb.last_talk_at
    return bool(quiet_s >= script.config.sleep_after_long_quiet)


def has_news(script: Any) -> bool:
    """Return True if long quiet would send it to sleep: it heard talk since its last sleep pass."""
    talk_at, slept_at = script.ndb.last_talk_at, sleep_state(script).last_pass_at
    if not script.config.sleep_after_long_quiet or not talk_at:
        return False
    return slept_at is None or slept_at < talk_at


def may_sleep_soon(script: Any, use: ContextUse) -> bool:
    """Return True if an assistant that is awake may fall asleep by itself later."""
    return script.config.sleep_schedule is not None or has_news(script) or use.is_due


def in_hours(script: Any) -> bool:
    """Return True in the assistant's own hours of sleep."""
    schedule = read_schedule(script.config.sleep_schedule)
    return schedule is not None and schedule.holds(minute_now(script))


class SleepTimer:
    """Sees to it that assistants with something behind them sleep and wake in time.

    Looks only after those who have lived through something since they last slept, and those who
    are asleep and will wake by themselves: with nobody to look after it stands still.
    """

    def __init__(self, clock: Any) -> None:
        self.clock = clock
        self.charges: dict[int, Any] = {}
        self.rounds = LoopingCall(self.look)
        self.rounds.clock = clock

    def keep(self, script: Any) -> None:
        """Look after an assistant from now on."""
        if script.id not in self.charges:
            self.charges[script.id] = script
            sleep_state(script).next_check_at = self.clock.seconds()
        keep_running(self.rounds, ROUND_S)

    def stop(self) -> None:
        """Look after nobody."""
        self.charges.clear()
        self.rest()

    def look(self) -> None:
        """One round: each that is due, every ``tick_rate_sleep`` seconds, in turns with other work:
        a look takes up to a millisecond (measured), and all may be due at once."""
        now = self.clock.seconds()
        for script_id, script in list(self.charges.items()):
            if not script.pk or not script.obj:
                del self.charges[script_id]
            elif is_time(sleep_state(script).next_check_at, now, script.config.tick_rate_sleep):
                sleep_state(script).next_check_at = now + script.config.tick_rate_sleep
                script.services.slices.put(self.tend, script)
        self.rest()

    def tend(self, script: Any) -> None:
        """See to one assistant, as long as there is something to look after."""
        if script.id in self.charges and not self.see_to(script):
            del self.charges[script.id]
            self.rest()

    def rest(self) -> None:
        """Stand still where there is nobody to look after."""
        if not self.charges and self.rounds.running:
            self.rounds.stop()

    def see_to(self, script: Any) -> bool:
        """`put_to_rest` with its errors logged: one assistant's trouble is not the next one's."""
        try:
            return self.put_to_rest(script)
        except (StoreUnavailable, TurnAborted) as error:
            log.warn("{name}: {error}", name=script.character_name, error=error)
        except Exception:  # noqa: BLE001  # a game's classes and hooks may raise anything
            log.failure("{name} could not be looked after", name=script.character_name)
        return True

    def put_to_rest(self, script: Any) -> bool:
        """Let an assistant fall asleep, dream or wake, as the moment has it. Returns False where it
        needs no looking after."""
        if script.ndb.ticking or not script.may_think():
            return True
        script.resolve_settings()
        use = measure_context(script)
        state = rest_state(script, use)
        mode = next_mode(state, script.config.sleep_after_quiet)
        if mode == AWAKE:
            if not state.asleep:
                return may_sleep_soon(script, use)
            wake_up(script, HOURS_OVER if cause_of_sleep(script) == HOURS else NAP_OVER)
            return False
        if not state.asleep:
            fall_asleep(script, HOURS if in_hours(script) else NAP)
        elif cause_of_sleep(script) == WISH and in_hours(script):
            write_attribute(script, "sleep_cause", HOURS)  # so that it wakes when they are over
        slept = sleep_state(script)
        if not slept.slept:
            script.tick()
        wakes_by_itself = cause_of_sleep(script) not in UNTIL_WOKEN
        return wakes_by_itself or not slept.slept or script.config.sleep_schedule is not None
