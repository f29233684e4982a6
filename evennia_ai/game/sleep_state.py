"""Falling asleep and waking, and how the world sees it.

When it does is `night_watch`'s to say; what it does asleep, `asleep`'s and `sleep`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    script.ndb.slept, script.ndb.bedtime = False, None
    script.ndb.mumbled_to = set()
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
    if script.ndb.pass_time:
        script.ndb.pass_time.end_within(0)
    script.ndb.woken_at = script.services.clock.seconds()
    show(script, "wakes_up")
    assistant_woke.send_robust(sender=script, character=script.character, reason=reason)
    log.info("evennia_ai: {name} wakes: {reason}", name=script.character_name, reason=reason)


def on_addressed(script: Any, heard: Heard) -> None:
    """Somebody wants an answer of one that is in the middle of a pass of sleep: it mumbles, once
    for each of them, and wakes when the pass is done or ``sleep_wake_within`` is over."""
    time = script.ndb.pass_time
    if time is None or not is_asleep(script):
        return
    time.end_within(script.config.sleep_wake_within)
    mumbled_to = script.ndb.mumbled_to or set()
    if not heard.speaker or heard.speaker in mumbled_to:
        return
    script.ndb.mumbled_to = {*mumbled_to, heard.speaker}
    present = listening_objects(script.character)
    meant = [obj for obj in present if not heard.private or obj.dbref in heard.audience]
    show(script, "mumbles", meant)


@dataclass(frozen=True)
class Bedtime:
    """It shall fall asleep when it has ended what it is about: why, and since when that is so."""

    cause: str
    at: float
    reason: str = ""


def go_to_bed(script: Any, cause: str, reason: str = "") -> bool:
    """Fall asleep now, or at the end of the tick that is under way; raises StoreUnavailable.
    Returns True where it sleeps already. Arguments as for `fall_asleep`."""
    if script.ndb.ticking:
        script.ndb.bedtime = Bedtime(cause, script.services.clock.seconds(), reason)
        return False
    fall_asleep(script, cause, reason)
    script.wake()
    return True


def lie_down(script: Any) -> None:
    """At the end of a tick: fall asleep where it shall, as soon as nobody waits for an answer, and
    not where it only wanted to and somebody has spoken since; raises StoreUnavailable."""
    bedtime: Bedtime | None = script.ndb.bedtime
    if bedtime is None or is_awaited(script):
        return
    script.ndb.bedtime = None
    if bedtime.cause != WISH or (script.ndb.last_talk_at or 0.0) <= bedtime.at:
        fall_asleep(script, bedtime.cause, bedtime.reason)
        script.wake()


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
