"""One pass of sleep, from the row that says it began to the one that says what came of it."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.policy.sleep_report import DONE, STOPPED, WOKEN
from evennia_ai.policy.sleep_schedule import DREAMING
from evennia_ai.rest import cause_of_sleep, is_asleep
from evennia_ai.sleep import WHOLE_PASS, run_sleep_tick
from evennia_ai.sleep.pass_time import PassTime
from evennia_ai.store.attributes import write_attribute
from evennia_ai.store.sleep_passes import begin_pass, end_pass
from evennia_ai.turn.persistence import persist

log = Logger()


@inlineCallbacks
def sleep_through(script: Any) -> Generator[Deferred[Any], Any, dict[str, Any]]:
    """One pass of sleep; after it the assistant dreams, and wakes at once where it is spoken to.

    Where somebody waited and the pass was broken off, it is done anew in the next sleep. Fires with
    the steps' results; fails with TurnAborted and StoreUnavailable.
    """
    services, cause = script.services, cause_of_sleep(script)
    begin = partial(begin_pass, script.id, services.now(), services.epoch, cause)
    time = script.ndb.pass_time = PassTime(services.clock)
    try:
        pass_id: int = yield persist(services.clock, begin)
        script.ndb.pass_id = pass_id
        try:
            results = yield run_sleep_tick(script, script.character, WHOLE_PASS, time)
        except TurnAborted:
            note_stopped(script, pass_id)
            raise
        outcome = WOKEN if time.is_over else DONE
        end = partial(end_pass, pass_id, services.now(), outcome, results)
        yield persist(services.clock, end)
        if outcome == DONE:
            script.ndb.slept, script.ndb.last_pass_at = True, services.clock.seconds()
        if outcome == DONE and is_asleep(script):
            write_attribute(script, "sleep_phase", DREAMING)
    finally:
        time.close()
        script.ndb.pass_time = script.ndb.pass_id = None
    return dict(results)


def note_stopped(script: Any, pass_id: int) -> None:
    """Store that a pass was broken off by a stop, if that can be stored now: else it is told as
    interrupted."""
    try:
        end_pass(pass_id, script.services.now(), STOPPED, {})
    except StoreUnavailable as error:
        log.warn("{name}: {error}", name=script.character_name, error=error)
