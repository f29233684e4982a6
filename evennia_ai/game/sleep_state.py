"""Falling asleep and waking, and how the world sees it.

`services.sleep_timer` decides when; `assistant_script.sleep_through` runs the sleep pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from twisted.logger import Logger

from evennia_ai.game.perception import listening_objects
from evennia_ai.game.texts import text
from evennia_ai.game.typing_indicator import send_filler, shown_name
from evennia_ai.messages import Heard
from evennia_ai.policy.schedule.sleep_report import REASONS
from evennia_ai.policy.schedule.sleep_schedule import ASLEEP, AWAKE, CONSOLIDATING, NAP, WISH
from evennia_ai.signals import assistant_slept, assistant_woke
from evennia_ai.store.attributes import read_attribute, write_attributes

log = Logger()


@dataclass(frozen=True)
class Bedtime:
    """A plan to fall asleep at the end of the tick: its cause, its reason, and when it was made."""

    cause: str
    at: float
    reason: str = ""


@dataclass
class SleepState:
    """What one assistant's sleep keeps in memory. Times are seconds of the services' clock.

    Attributes:
        slept: True after a whole sleep pass in this sleep.
        last_pass_at: when the last whole sleep pass ended.
        pass_time: the time of the sleep pass under way (`sleep.pass_time.PassTime`).
        pass_id: the stored row of the sleep pass under way.
        woken_at: when it last woke.
        next_check_at: when the sleep timer looks at it next.
        bedtime: its plan to fall asleep.
        mumbled_to: dbrefs of those who spoke to it during this sleep and saw it mumble.
    """

    slept: bool = False
    last_pass_at: float | None = None
    pass_time: Any = None
    pass_id: int | None = None
    woken_at: float | None = None
    next_check_at: float = 0.0
    bedtime: Bedtime | None = None
    mumbled_to: set[str] = field(default_factory=set)

    def fall_asleep(self) -> None:
        """A sleep begins."""
        self.slept, self.bedtime = False, None
        self.mumbled_to = set()

    def end_pass(self) -> None:
        """No sleep pass is under way any more."""
        if self.pass_time is not None:
            self.pass_time.close()
        self.pass_time = self.pass_id = None

    def complete_pass(self, now: float) -> None:
        """A sleep pass has done all of its steps."""
        self.slept, self.last_pass_at = True, now


def sleep_state(script: Any) -> SleepState:
    """Return what an assistant's sleep keeps in memory; a new one after a restart."""
    if script.ndb.sleep_state is None:
        script.ndb.sleep_state = SleepState()
    state: SleepState = script.ndb.sleep_state
    return state


def is_asleep(script: Any) -> bool:
    """True between falling asleep and waking, also over restarts."""
    return bool(read_attribute(script, "operating_mode") == ASLEEP)


def cause_of_sleep(script: Any) -> str:
    """Why it sleeps, one of `policy.schedule.sleep_schedule`'s causes; a nap where nothing is
    stored."""
    cause = read_attribute(script, "sleep_cause")
    return cause if cause in REASONS else NAP


def is_awaited(script: Any) -> bool:
    """True where somebody waits for an answer."""
    open_events = script.inbox.open_events()
    return bool(open_events.waiting or open_events.doubtful)


def fall_asleep(script: Any, cause: str, reason: str = "") -> None:
    """Go to sleep, for all to see; raises StoreUnavailable, and then it is awake.

    Args:
        script: the assistant.
        cause: one of `policy.schedule.sleep_schedule`'s.
        reason: what the log and the signal tell, in place of the cause's own words.
    """
    write_attributes(
        script,
        operating_mode=ASLEEP,
        sleep_phase=CONSOLIDATING,
        sleep_cause=cause,
        asleep_since=script.services.clock.seconds(),
    )
    sleep_state(script).fall_asleep()
    script.services.watch.keep(script)
    show(script, "falls_asleep")
    told = reason or REASONS[cause]
    assistant_slept.send_robust(sender=script, character=script.character, reason=told)
    log.info("evennia_ai: {name} sleeps: {reason}", name=script.character_name, reason=told)


def wake_up(script: Any, reason: str) -> None:
    """Be awake again, for all to see; raises StoreUnavailable, and then it sleeps on.

    A pass of sleep that is still under way is broken off.
    """
    write_attributes(script, operating_mode=AWAKE, sleep_phase=None, sleep_cause=None)
    state = sleep_state(script)
    if state.pass_time:
        state.pass_time.end_within(0)
    state.woken_at = script.services.clock.seconds()
    show(script, "wakes_up")
    assistant_woke.send_robust(sender=script, character=script.character, reason=reason)
    log.info("evennia_ai: {name} wakes: {reason}", name=script.character_name, reason=reason)


def on_addressed(script: Any, heard: Heard) -> None:
    """Answer somebody who speaks to an assistant during a sleep pass.

    It mumbles, once for each speaker, and wakes when the pass ends or after ``sleep_wake_within``.
    """
    state = sleep_state(script)
    if state.pass_time is None or not is_asleep(script):
        return
    state.pass_time.end_within(script.config.sleep_wake_within)
    if not heard.speaker or heard.speaker in state.mumbled_to:
        return
    state.mumbled_to.add(heard.speaker)
    present = listening_objects(script.character)
    meant = [obj for obj in present if not heard.private or obj.dbref in heard.audience]
    show(script, "mumbles", meant)


def go_to_bed(script: Any, cause: str, reason: str = "") -> bool:
    """Fall asleep now, or at the end of the tick that is under way; raises StoreUnavailable.
    Returns True where it sleeps already. Arguments as for `fall_asleep`."""
    if script.ndb.ticking:
        sleep_state(script).bedtime = Bedtime(cause, script.services.clock.seconds(), reason)
        return False
    fall_asleep(script, cause, reason)
    script.wake()
    return True


def lie_down(script: Any) -> None:
    """At the end of a tick: fall asleep where it shall, as soon as nobody waits for an answer, and
    not where it only wanted to and somebody has spoken since; raises StoreUnavailable."""
    state = sleep_state(script)
    bedtime = state.bedtime
    if bedtime is None or is_awaited(script):
        return
    state.bedtime = None
    if bedtime.cause != WISH or (script.ndb.last_talk_at or 0.0) <= bedtime.at:
        fall_asleep(script, bedtime.cause, bedtime.reason)
        script.wake()


def stay_up(script: Any) -> bool:
    """Drop a plan to fall asleep. Returns True if there was one."""
    state = sleep_state(script)
    planned, state.bedtime = state.bedtime is not None, None
    return planned


def show(script: Any, key: str, witnesses: Sequence[Any] | None = None) -> None:
    """Let those present see something, or those of them who are named."""
    if script.character.location:
        seen_by = listening_objects(script.character) if witnesses is None else witnesses
        send_filler(script.character, text(key), seen_by)


def sleeper_line(character: Any, looker: Any) -> str:
    """What whoever looks at a character is told of its sleep; empty where it is awake."""
    script = character.assistant
    if script is None or character.has_account or not is_asleep(script):
        return ""
    return text("looks_asleep", name=shown_name(character, looker))
