"""Falling asleep and waking: how the world sees it, and who keeps the hours.

An assistant sleeps in its hours (``sleep_schedule``), or for as long as a compaction takes where
one is due and nobody is near, and when a builder says so. What it does asleep is `sleep`'s.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from django.utils import timezone
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.policy.sleep_schedule import (
    ASLEEP,
    AWAKE,
    CONSOLIDATING,
    DREAMING,
    RestState,
    next_mode,
    read_schedule,
)
from evennia_ai.senses import listening_objects
from evennia_ai.signals import assistant_slept, assistant_woke
from evennia_ai.sleep import run_sleep_tick
from evennia_ai.sleep.compaction import is_due
from evennia_ai.store.attributes import read_attribute, write_attribute
from evennia_ai.texts import text
from evennia_ai.thinking import send_filler
from evennia_ai.timers import is_time, keep_running

log = Logger()

ROUND_S = 5.0


def is_asleep(script: Any) -> bool:
    """True between falling asleep and waking, also over restarts."""
    return bool(read_attribute(script, "operating_mode") == ASLEEP)


def fall_asleep(script: Any, reason: str) -> None:
    """Go to sleep, for all to see; raises StoreUnavailable."""
    write_attribute(script, "operating_mode", ASLEEP)
    write_attribute(script, "sleep_phase", CONSOLIDATING)
    script.ndb.slept = False
    script.services.watch.keep(script)
    show(script, "falls_asleep")
    assistant_slept.send_robust(sender=script, character=script.character, reason=reason)
    log.info("evennia_ai: {name} sleeps: {reason}", name=script.character_name, reason=reason)


def wake_up(script: Any, reason: str) -> None:
    """Be awake again, for all to see; raises StoreUnavailable."""
    write_attribute(script, "operating_mode", AWAKE)
    write_attribute(script, "sleep_phase", None)
    script.ndb.woken_at = script.services.clock.seconds()
    script.ndb.sleep_ordered = False
    show(script, "wakes_up")
    assistant_woke.send_robust(sender=script, character=script.character, reason=reason)
    log.info("evennia_ai: {name} wakes: {reason}", name=script.character_name, reason=reason)


def show(script: Any, key: str) -> None:
    """Let those present see it."""
    if script.character.location:
        send_filler(script.character, text(key), listening_objects(script.character))


@inlineCallbacks
def sleep_through(script: Any) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """One pass of sleep; after it the assistant dreams, and can be woken.

    Fires with the steps' results; fails with TurnAborted and StoreUnavailable.
    """
    results: dict[str, Any] = yield run_sleep_tick(script, script.character)
    script.ndb.slept = True
    write_attribute(script, "sleep_phase", DREAMING)
    return results


def rest_state(script: Any) -> RestState:
    """What decides over an assistant's sleep now."""
    now = script.services.clock.seconds()
    woken_at = script.ndb.woken_at
    asleep = is_asleep(script)
    return RestState(
        asleep=asleep,
        scheduled=bool(script.ndb.sleep_ordered) or in_hours(script) or wants_nap(script, asleep),
        quiet_s=now - (script.ndb.last_talk_at or 0.0),
        woken_s=None if woken_at is None else now - woken_at,
    )


def wants_nap(script: Any, asleep: bool) -> bool:
    """True where a compaction is due, or its pass of sleep not done yet, and nobody is near."""
    unfinished = asleep and not script.ndb.slept
    return not script.players_near() and (unfinished or is_due(script))


def in_hours(script: Any) -> bool:
    """True in the assistant's own hours of sleep, in the game's time zone."""
    schedule = read_schedule(script.config.sleep_schedule)
    return schedule is not None and schedule.holds(timezone.localtime(script.services.now()))


class NightWatch:
    """Sees to it that assistants with something behind them sleep and wake in time.

    Looks only after those who have lived through something since they last slept, and those who
    are asleep: with nobody to look after it stands still.
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
            script.ndb.next_look = self.clock.seconds()
        keep_running(self.rounds, ROUND_S)

    def stop(self) -> None:
        """Look after nobody."""
        self.charges.clear()
        if self.rounds.running:
            self.rounds.stop()

    def look(self) -> None:
        """One round: each that is due, every ``tick_rate_sleep`` seconds."""
        now = self.clock.seconds()
        for script_id, script in list(self.charges.items()):
            if not script.pk or not script.obj:
                del self.charges[script_id]
            elif is_time(script.ndb.next_look, now, script.config.tick_rate_sleep):
                script.ndb.next_look = now + script.config.tick_rate_sleep
                if not self.tend(script):
                    self.charges.pop(script_id, None)
        if not self.charges:
            self.rounds.stop()

    def tend(self, script: Any) -> bool:
        """See to one assistant. Returns False where there is nothing to look after any more."""
        try:
            return self.put_to_rest(script)
        except (StoreUnavailable, TurnAborted) as error:
            log.warn("{name}: {error}", name=script.character_name, error=error)
        except Exception:  # noqa: BLE001  # one assistant's trouble is not the next one's
            log.failure("{name} could not be looked after", name=script.character_name)
        return True

    def put_to_rest(self, script: Any) -> bool:
        """Let an assistant fall asleep, dream or wake, as the moment has it."""
        if script.ndb.ticking or not script.may_think():
            return True
        script.resolve_settings()
        state = rest_state(script)
        mode = next_mode(state, script.config.sleep_after_quiet)
        if mode == ASLEEP and not state.asleep:
            fall_asleep(script, "its hours" if in_hours(script) else "a full head, nobody near")
        elif mode == AWAKE and state.asleep:
            wake_up(script, "its hours are over")
            return False
        if mode == ASLEEP and not script.ndb.slept:
            script.tick()
        return mode == ASLEEP or script.config.sleep_schedule is not None or is_due(script)
