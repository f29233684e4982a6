"""The timer that decides when assistants fall asleep and wake by themselves.

An assistant sleeps in its hours (``sleep_schedule``), for one sleep pass if a pass is due and
nobody is near, when a builder orders it, and when it wants to.

Each is looked at when the answer may have changed, not every minute: ten thousand characters that
a player once walked past would cost 1.8 % of a core otherwise (measured).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.game.game_time import minute_now
from evennia_ai.game.sleep_state import cause_of_sleep, fall_asleep, is_asleep, sleep_state, wake_up
from evennia_ai.policy.compaction.plan import ContextUse
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
from evennia_ai.ports import Script
from evennia_ai.scheduling import is_time, keep_running
from evennia_ai.store.attributes import write_attribute
from evennia_ai.store.brief_transaction import store_errors
from evennia_ai.store.sleep_passes import has_unsorted_talk
from evennia_ai.turn.context_use import measure_context

log = Logger()

ROUND_S = 5.0
HOURS_OVER, NAP_OVER = "its hours are over", "its nap is over"


def rest_state(script: Script, use: ContextUse) -> RestState:
    """Return what decides over an assistant's sleep now."""
    now, woken_at = script.services.clock.seconds(), sleep_state(script).woken_at
    asleep = is_asleep(script)
    sleeps_on = asleep and cause_of_sleep(script) in UNTIL_WOKEN
    return RestState(
        asleep=asleep,
        scheduled=sleeps_on or in_hours(script) or wants_nap(script, use, asleep=asleep),
        quiet_s=now - (script.ndb.last_talk_at or 0.0),
        woken_s=None if woken_at is None else now - woken_at,
    )


def wants_nap(script: Script, use: ContextUse, *, asleep: bool) -> bool:
    """Return True if nobody is near, and a sleep pass is unfinished or due.

    A pass is due if a compaction is, or after long quiet that followed some talk.
    """
    if script.players_near():
        return False
    if use.is_due or (asleep and not sleep_state(script).slept):
        return True
    if not has_news(script):
        return False
    return seconds_to_nap(script) <= 0 and has_unsorted_talk(script.id)


def seconds_to_nap(script: Script) -> float:
    """Return how long an assistant with news must still be quiet until it naps."""
    quiet_s = script.services.clock.seconds() - script.ndb.last_talk_at
    return float(script.config.sleep_after_long_quiet - quiet_s)


def has_news(script: Script) -> bool:
    """Return True if long quiet would send it to sleep: it heard talk since its last sleep pass."""
    talk_at, slept_at = script.ndb.last_talk_at, sleep_state(script).last_pass_at
    if not script.config.sleep_after_long_quiet or not talk_at:
        return False
    return slept_at is None or slept_at < talk_at


def in_hours(script: Script) -> bool:
    """Return True in the assistant's own hours of sleep."""
    schedule = read_schedule(script.config.sleep_schedule)
    return schedule is not None and schedule.holds(minute_now(script))


def next_look_s(script: Script, use: ContextUse, state: RestState) -> float | None:
    """Return in how many seconds it may fall asleep if it hears nothing; None if it will not."""
    often = float(script.config.tick_rate_sleep)
    if state.scheduled or use.is_due or script.config.sleep_schedule is not None:
        return often
    if not has_news(script):
        return None
    left_s = seconds_to_nap(script)
    if left_s <= 0 and not script.players_near():
        return None  # it only saw somebody pass
    return max(often, left_s)


@dataclass
class Watched:
    """An assistant that the timer looks at, and when: ``wait_s`` seconds after the last look."""

    script: Script
    due_at: float
    wait_s: float

    def wait(self, now: float, wait_s: float) -> None:
        """Look at it ``wait_s`` seconds from now."""
        self.due_at, self.wait_s = now + wait_s, wait_s


class SleepTimer:
    """Checks assistants that had talk since their last sleep, and those that wake by themselves."""

    def __init__(self, clock: Any) -> None:
        self.clock = clock
        self.assistants: dict[int, Watched] = {}
        self.rounds = LoopingCall(self.check_all)
        self.rounds.clock = clock

    def keep(self, script: Script) -> None:
        """Check an assistant to which something happened, within ``tick_rate_sleep`` seconds."""
        now, often = self.clock.seconds(), script.config.tick_rate_sleep
        watched = self.assistants.get(script.id)
        if watched is None:
            self.assistants[script.id] = Watched(script, now, often)
        elif often < watched.due_at - now <= watched.wait_s:  # more: the clock was set back
            watched.wait(now, often)
        keep_running(self.rounds, ROUND_S)

    def stop(self) -> None:
        """Check no assistant any more."""
        self.assistants.clear()
        self.stop_if_idle()

    def check_all(self) -> None:
        """Queue a check of each assistant that is due.

        A check takes up to a millisecond (measured) and all may be due at once.
        """
        now = self.clock.seconds()
        for script_id, watched in list(self.assistants.items()):
            if not is_time(watched.due_at, now, watched.wait_s):
                continue
            script = watched.script
            if not script.pk or not script.obj:
                del self.assistants[script_id]
            else:
                watched.wait(now, script.config.tick_rate_sleep)
                script.services.slices.put(self.check_queued, script)
        self.stop_if_idle()

    def check_queued(self, script: Script) -> None:
        """Check one assistant, and drop it if it needs no further checks."""
        watched = self.assistants.get(script.id)
        if watched is None:
            return
        wait_s = self.check(script)
        if wait_s is None:
            del self.assistants[script.id]
            self.stop_if_idle()
        else:
            watched.wait(self.clock.seconds(), wait_s)

    def stop_if_idle(self) -> None:
        """Stop the timer if there is no assistant to check."""
        if not self.assistants and self.rounds.running:
            self.rounds.stop()

    def check(self, script: Script) -> float | None:
        """Run `update_mode` and log its errors, so that the other assistants are checked too."""
        try:
            return self.update_mode(script)
        except (StoreUnavailable, TurnAborted) as error:
            message = "{name}: sleep not checked: {error}; checking again later"
            log.warn(message, name=script.character_name, error=error)
        except Exception:  # noqa: BLE001  # a game's classes and hooks may raise anything
            log.failure("{name}: sleep not checked", name=script.character_name)
        return float(script.config.tick_rate_sleep)

    def update_mode(self, script: Script) -> float | None:
        """Let an assistant sleep or wake, if it is time.

        Returns in how many seconds to check it again, None if only after something happened.
        """
        often = float(script.config.tick_rate_sleep)
        if script.ndb.ticking or not script.may_think():
            return often
        script.resolve_settings()
        use = measure_context(script)
        with store_errors():
            state = rest_state(script, use)
        mode = next_mode(state, script.config.sleep_after_quiet)
        if mode == AWAKE:
            if not state.asleep:
                return next_look_s(script, use, state)
            wake_up(script, HOURS_OVER if cause_of_sleep(script) == HOURS else NAP_OVER)
            return None
        if not state.asleep:
            fall_asleep(script, HOURS if in_hours(script) else NAP)
        elif cause_of_sleep(script) == WISH and in_hours(script):
            write_attribute(script, "sleep_cause", HOURS)  # so that it wakes when they are over
        memory = sleep_state(script)
        if not memory.slept:
            script.tick()
        wakes_by_itself = cause_of_sleep(script) not in UNTIL_WOKEN
        is_watched = wakes_by_itself or not memory.slept or script.config.sleep_schedule is not None
        return often if is_watched else None
