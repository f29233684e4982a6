"""What a start takes up: the turns of a dead process, those who owe an answer, sleepers, and those
who have players near. One after the other and in turns with other work, since there may be
hundreds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import evennia
from twisted.logger import Logger

from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.perception import is_assistant
from evennia_ai.game.sleep_state import is_asleep
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.compactions import assistants_to_archive
from evennia_ai.store.recovery import assistants_with_work, lost_turns, recover_lost_turn

log = Logger()

FIRST_WAKE_S = 0.5
WAKE_SPREAD_S = 0.05
RECOVERY_PAUSE_S = 2.0


class StartupRecovery:
    """Takes up what is left to do, for the service of all assistants. May begin again at any
    time."""

    def __init__(self, service: Any) -> None:
        self.service = service
        self._again: Any = None

    def begin(self) -> None:
        """Close the turns of an earlier process and wake who owes something."""
        from evennia_ai.assistant_script import AssistantScript

        service = self.service
        turn_ids = lost_turns(service.epoch)
        if turn_ids:
            log.info("evennia_ai: {count} interrupted turns", count=len(turn_ids))
        for turn_id in turn_ids:
            service.slices.put(self.recover, turn_id)
        service.slices.put(self.wake_owing)
        service.slices.put(self.wake_archiving)
        service.clock.callLater(FIRST_WAKE_S, self.attend_present)
        slept = AssistantScript.objects.filter(db_attributes__db_key="operating_mode")
        for script_id in slept.values_list("id", flat=True):
            service.slices.put(self.watch_if_asleep, script_id)

    def recover(self, turn_id: int) -> None:
        """Close one turn that an earlier process left; where the database is busy, begin again a
        little later."""
        try:
            recover_lost_turn(turn_id, self.service.now())
        except StoreUnavailable as error:
            log.warn("evennia_ai: {error}; trying again", error=error)
            if not self._again or not self._again.active():
                self._again = self.service.clock.callLater(RECOVERY_PAUSE_S, self.service.resume)

    def wake_owing(self) -> None:
        """Wake who owes an answer, one after the other."""
        owing = assistants_with_work()
        if owing:
            log.info("evennia_ai: {count} assistants owe an answer", count=len(owing))
        self.one_by_one(owing, self.wake_one)

    def wake_archiving(self) -> None:
        """Wake those in whose journal a summary is missing, or is though it was taken back."""
        self.one_by_one(assistants_to_archive(), self.archive_one)

    def one_by_one(self, script_ids: Sequence[int], wake: Callable[[int], None]) -> None:
        """Wake many, spread over time."""
        for number, script_id in enumerate(script_ids):
            self.service.clock.callLater(FIRST_WAKE_S + number * WAKE_SPREAD_S, wake, script_id)

    def wake_one(self, script_id: int) -> None:
        """Wake an assistant by its number; one that was deleted meanwhile is none."""
        for script in scripts_of(script_id):
            script.wake()

    def archive_one(self, script_id: int) -> None:
        """Have an assistant make its journal agree with its compactions at its next tick."""
        for script in scripts_of(script_id):
            script.ndb.unarchived = True
            script.wake()

    def watch_if_asleep(self, script_id: int) -> None:
        """Look after an assistant that sleeps since before the start."""
        for script in scripts_of(script_id):
            if is_asleep(script):
                self.service.watch.keep(script)

    def attend_present(self) -> None:
        """Tick the assistants that have players near, such as after a reload."""
        puppets = (session.puppet for session in evennia.SESSION_HANDLER.get_sessions())
        for place in {puppet.location for puppet in puppets if puppet and puppet.location}:
            for obj in place.contents:
                if is_assistant(obj):
                    self.service.attend(obj.assistant)


def assistants_exist() -> bool:
    """True if the game has at least one assistant."""
    from evennia_ai.assistant_script import AssistantScript

    return bool(AssistantScript.objects.filter(db_key=SCRIPT_KEY).exists())


def scripts_of(script_id: int) -> Iterator[Any]:
    """The assistant of a number, if there is one still."""
    from evennia_ai.assistant_script import AssistantScript

    yield from AssistantScript.objects.filter_family(id=script_id)
