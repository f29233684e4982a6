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
from evennia_ai.policy.conversation.react import ToolOffer
from evennia_ai.policy.schedule.sleep_report import REASONS
from evennia_ai.policy.schedule.sleep_schedule import ASLEEP, AWAKE, CONSOLIDATING, NAP, WISH
from evennia_ai.ports import Script
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
    """What one assistant's sleep keeps in memory. Times are seconds of the services' clock."""

    slept: bool = False  # a whole sleep pass in this sleep
    last_pass_at: float | None = None  # the end of the last whole sleep pass
    pass_time: Any = None  # `sleep.pass_time.PassTime` of the sleep pass under way
    pass_id: int | None = None  # the stored row of that pass
    woken_at: float | None = None
    bedtime: Bedtime | None = None
    mumbled_to: set[str] = field(default_factory=set)  # dbrefs of who saw it mumble in this sleep

    def end_pass(self) -> None:
        """Note that no sleep pass is under way any more."""
        if self.pass_time is not None:
            self.pass_time.close()
        self.pass_time = self.pass_id = None


def sleep_state(script: Script) -> SleepState:
    """Return what an assistant's sleep keeps in memory; a new one after a restart."""
    if script.ndb.sleep_state is None:
        script.ndb.sleep_state = SleepState()
    state: SleepState = script.ndb.sleep_state
    return state


def is_asleep(script: Script) -> bool:
    """Return True between falling asleep and waking; restarts keep it."""
    return bool(read_attribute(script, "operating_mode") == ASLEEP)


def mode_of(script: Any) -> str:
    """Return what an assistant is doing, in a word."""
    if getattr(script.character, "assistant", None) is None:
        return "deaf"
    if not script.is_on or getattr(script.services, "switched_off", False):
        return "stopped"
    if script.character.has_account:
        return "puppeted"
    if is_asleep(script):
        return "asleep"
    return "thinking" if script.ndb.ticking else "awake"


def cause_of_sleep(script: Script) -> str:
    """Return the cause of its sleep (`policy.schedule.sleep_schedule`), a nap if none is stored."""
    cause = read_attribute(script, "sleep_cause")
    return cause if cause in REASONS else NAP


def fall_asleep(script: Script, cause: str, reason: str = "") -> None:
    """Fall asleep for a cause of `policy.schedule.sleep_schedule`, and show it to those present.

    ``reason`` is for the log and the signal; empty uses the words of the cause. Raises
    StoreUnavailable, and then it stays awake.
    """
    write_attributes(
        script,
        operating_mode=ASLEEP,
        sleep_phase=CONSOLIDATING,
        sleep_cause=cause,
        asleep_since=script.services.clock.seconds(),
    )
    state = sleep_state(script)
    state.slept, state.bedtime, state.mumbled_to = False, None, set()
    script.tool_offer = ToolOffer()  # the next talk begins with the tools that it needs
    script.services.watch.keep(script)
    show(script, "falls_asleep")
    told = reason or REASONS[cause]
    assistant_slept.send_robust(sender=script, character=script.character, reason=told)
    log.info("evennia_ai: {name} sleeps: {reason}", name=script.character_name, reason=told)


def wake_up(script: Script, reason: str) -> None:
    """Wake, show it, and break off a sleep pass; raises StoreUnavailable and stays asleep."""
    write_attributes(script, operating_mode=AWAKE, sleep_phase=None, sleep_cause=None)
    state = sleep_state(script)
    if state.pass_time:
        state.pass_time.end_within(0)
    state.woken_at = script.services.clock.seconds()
    show(script, "wakes_up")
    assistant_woke.send_robust(sender=script, character=script.character, reason=reason)
    log.info("evennia_ai: {name} wakes: {reason}", name=script.character_name, reason=reason)


def on_addressed(script: Script, heard: Heard) -> None:
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


def go_to_bed(script: Script, cause: str, reason: str = "") -> bool:
    """Call `fall_asleep` now, or at the end of the tick under way; return True if it sleeps now."""
    if script.ndb.ticking:
        sleep_state(script).bedtime = Bedtime(cause, script.services.clock.seconds(), reason)
        return False
    fall_asleep(script, cause, reason)
    script.wake()
    return True


def lie_down(script: Script) -> None:
    """Fall asleep at the end of a tick if that is planned and nobody waits for an answer.

    A plan of its own is dropped if somebody has spoken since. Raises StoreUnavailable.
    """
    state = sleep_state(script)
    bedtime = state.bedtime
    if bedtime is None or script.inbox.open_events():
        return
    state.bedtime = None
    if bedtime.cause != WISH or (script.ndb.last_talk_at or 0.0) <= bedtime.at:
        fall_asleep(script, bedtime.cause, bedtime.reason)
        script.wake()


def stay_up(script: Script) -> bool:
    """Drop a plan to fall asleep. Returns True if there was one."""
    state = sleep_state(script)
    planned, state.bedtime = state.bedtime is not None, None
    return planned


def show(script: Script, key: str, witnesses: Sequence[Any] | None = None) -> None:
    """Show a line to those present, or to the witnesses only."""
    if script.character.location:
        seen_by = listening_objects(script.character) if witnesses is None else witnesses
        send_filler(script.character, text(key), seen_by)


def sleeper_line(character: Any, looker: Any) -> str:
    """Return what somebody sees of a character's sleep, empty if it is awake."""
    script = character.assistant
    if script is None or character.has_account or not is_asleep(script):
        return ""
    return text("looks_asleep", name=shown_name(character, looker))
