"""What resumes interrupted work after a server start.

That is: open turns of an earlier process, unanswered events, interrupted sleep, and players near an
assistant. There may be hundreds of assistants, so they are woken one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import evennia
from evennia.objects.models import ObjectDB
from twisted.logger import Logger

from evennia_ai.assistant_script import AssistantScript
from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.act_answers import expect_answer
from evennia_ai.game.perception import is_assistant
from evennia_ai.messages import turn_label
from evennia_ai.store.attributes import SCRIPT_KEY
from evennia_ai.store.brief_transaction import store_errors
from evennia_ai.store.conversation import assistants_to_archive
from evennia_ai.store.pending_acts import assistants_to_act, people_asked
from evennia_ai.store.turns import assistants_with_work, open_turns, recover_turn

log = Logger()

FIRST_WAKE_S = 0.5
WAKE_SPREAD_S = 0.05
RECOVERY_PAUSE_S = 2.0
SHOWN_TURNS = 10  # in a log line


class StartupRecovery:
    """Resumes the interrupted work of all assistants; may begin at any time."""

    def __init__(self, service: Any) -> None:
        self.service = service
        self._again: Any = None

    def begin(self) -> None:
        """Close the turns of an earlier process and wake the assistants with work to do."""
        self.put(self.recover_turns)
        self.service.clock.callLater(FIRST_WAKE_S, self.attend_present)

    def put(self, work: Callable[..., None], *args: Any) -> None:
        """Do some work soon; if the database refuses, begin again a moment later."""

        def do() -> None:
            try:
                with store_errors():
                    work(*args)
            except StoreUnavailable as error:
                line = "evennia_ai: interrupted work waits: {error}; retrying in {seconds:.0f} s"
                log.warn(line, error=error, seconds=RECOVERY_PAUSE_S)
                clock = self.service.clock
                if not self._again or not self._again.active():
                    self._again = clock.callLater(RECOVERY_PAUSE_S, self.service.resume)

        self.service.slices.put(do)

    def recover_turns(self) -> None:
        """Close the turns that an earlier process left open, then resume all other work."""
        minds = [script.ndb.mind for script in AssistantScript.get_all_cached_instances()]
        running = {one.turns.current for one in minds if one and one.services is self.service}
        turn_ids = [turn_id for turn_id in open_turns() if turn_id not in running]
        if turn_ids:
            shown = ", ".join(map(turn_label, turn_ids[:SHOWN_TURNS]))
            line = "evennia_ai: {count} interrupted turns, the first of them: {shown}"
            log.info(line, count=len(turn_ids), shown=shown)
        for turn_id in turn_ids:
            self.put(recover_turn, turn_id, self.service.now())
        self.put(self.wake_owing)
        self.put(self.resume_acts)
        self.put(lambda: self.one_by_one(assistants_to_archive(), partial(wake, left_over=True)))
        self.put(self.watch_sleepers)

    def watch_sleepers(self) -> None:
        """Let the sleep timer wake the assistants that were asleep when the server stopped."""
        slept = AssistantScript.objects.filter(db_attributes__db_key="operating_mode")
        for script_id in slept.values_list("id", flat=True):
            self.put(call_with, script_id, self.watch_if_asleep)

    def wake_owing(self) -> None:
        """Wake the assistants with unanswered events."""
        owing = assistants_with_work()
        if owing:
            log.info("evennia_ai: {count} assistants have unanswered events", count=len(owing))
        self.one_by_one(owing, wake)

    def resume_acts(self) -> None:
        """Let people answer as before, and wake the assistants that may act by now."""
        for dbref, act_id in people_asked(self.service.now()):
            for person in ObjectDB.objects.dbref_search(dbref):
                expect_answer(person, act_id)
        self.one_by_one(assistants_to_act(), partial(wake, acts_due=True))

    def one_by_one(
        self, script_ids: Sequence[int], wake: Callable[[AssistantScript], None]
    ) -> None:
        """Call ``wake`` with each assistant, `WAKE_SPREAD_S` seconds apart."""
        for number, script_id in enumerate(script_ids):
            delay_s = FIRST_WAKE_S + number * WAKE_SPREAD_S
            self.service.clock.callLater(delay_s, call_with, script_id, wake)

    def watch_if_asleep(self, script: AssistantScript) -> None:
        """Let the sleep timer wake an assistant that was asleep when the server stopped."""
        if script.mind.rest.is_asleep:
            self.service.watch(script.mind)

    def attend_present(self) -> None:
        """Tick the assistants with players near them, as after a reload."""
        puppets = (session.puppet for session in evennia.SESSION_HANDLER.get_sessions())
        for place in {puppet.location for puppet in puppets if puppet and puppet.location}:
            for obj in place.contents:
                if is_assistant(obj):
                    self.service.attend(obj.assistant.mind)


def assistants_exist() -> bool:
    """True if the game has at least one assistant."""
    return bool(AssistantScript.objects.filter(db_key=SCRIPT_KEY).exists())


def wake(script: AssistantScript, left_over: bool = False, acts_due: bool = False) -> None:
    """Wake an assistant; summaries may be ``left_over``, or acts due that a person agreed to."""
    mind = script.mind
    mind.compactor.is_left_over = left_over or mind.compactor.is_left_over
    mind.answering.acts_due = acts_due or mind.answering.acts_due
    script.wake()


def call_with(script_id: int, work: Callable[[Any], None]) -> None:
    """Call ``work`` with the assistant of this id, if it still exists."""
    for script in AssistantScript.objects.filter_family(id=script_id):
        work(script)
