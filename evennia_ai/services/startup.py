"""What resumes interrupted work after a server start.

That is: open turns of an earlier process, unanswered events, interrupted sleep, and players near an
assistant. There may be hundreds of assistants, so they are woken one after the other. With several
servers the same resumes the work of an assistant whose character comes from another one.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from evennia.objects.models import ObjectDB
from twisted.logger import Logger

from evennia_ai import signals
from evennia_ai.assistant_character import add_assistant_mixin
from evennia_ai.assistant_script import AssistantScript
from evennia_ai.errors import StoreUnavailable
from evennia_ai.game.confirmations import expect_answer
from evennia_ai.game.perception import is_assistant, puppets
from evennia_ai.game.tick_scheduler import SIGNALS
from evennia_ai.messages import turn_label
from evennia_ai.store.attributes import SCRIPT_KEY, read_anew
from evennia_ai.store.conversation import assistants_to_archive
from evennia_ai.store.pending_acts import assistants_to_act, expire_late, people_asked
from evennia_ai.store.rows import look_for_damage
from evennia_ai.store.server_lock import is_here, note_home, of_this_shard, this_shard
from evennia_ai.store.transactions import store_errors
from evennia_ai.store.turns import (
    assistants_with_work,
    open_passes,
    open_turns,
    recover_pass,
    recover_turn,
)

log = Logger()

FIRST_WAKE_S = 0.5
WAKE_SPREAD_S = 0.05
RECOVERY_PAUSE_S = 2.0
LOOK_S = 2.0  # for characters that came from another server
CATCH_UP_S = 60.0
SHOWN_TURNS = 10  # in a log line


class StartupRecovery:
    """Resumes the interrupted work of all assistants; may begin at any time."""

    def __init__(self, service: Any) -> None:
        self.service = service
        self._again: Any = None
        self.shards = Shards(self)

    def begin(self) -> None:
        """Close the turns of an earlier process and wake the assistants with work to do."""
        self.look_for_damage(self.recover_turns)
        if this_shard():
            self.shards.begin()
        self.service.clock.callLater(FIRST_WAKE_S, self.attend_present)

    def look_for_damage(self, then: Callable[[], object]) -> None:
        """Look for damaged values in the tables, a few ms at a time, before some work."""
        steps = look_for_damage()

        def look() -> None:
            self.put(then if next(steps, None) is None else look)

        self.put(look)

    def put(self, work: Callable[..., object], *args: Any) -> None:
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
        own_minds = [mind for mind in minds if mind and mind.services is self.service]
        running = {item.turns.current for item in own_minds}
        asleep = {item.sleep.pass_id for item in own_minds}
        turn_ids = [turn_id for turn_id in open_turns() if turn_id not in running]
        if turn_ids:
            shown = ", ".join(map(turn_label, turn_ids[:SHOWN_TURNS]))
            line = "evennia_ai: {count} interrupted turns, the first of them: {shown}"
            log.info(line, count=len(turn_ids), shown=shown)
        for turn_id in turn_ids:
            self.put(recover_turn, turn_id, self.service.now())
        for pass_id in open_passes():
            if pass_id not in asleep:
                self.put(recover_pass, pass_id)
        self.put(expire_late, self.service.now())
        self.put(self.wake_owing)
        self.put(self.resume_acts)
        self.put(lambda: self.one_by_one(assistants_to_archive(), partial(wake, left_over=True)))
        self.put(self.watch_sleepers)

    def watch_sleepers(self) -> None:
        """Let the sleep timer wake the assistants that were asleep when the server stopped.

        What an assistant was doing then, it does no more.
        """

        def take_up(script: AssistantScript) -> None:
            if not script.mind.ticker.is_ticking:
                script.mind.status.end_signals()
            if script.mind.sleep.is_asleep:
                self.service.watch(script.mind)

        keys = ("operating_mode", SIGNALS)
        stored = AssistantScript.objects.filter(db_attributes__db_key__in=keys)
        for script_id in set(of_this_shard(stored, "db_obj").values_list("id", flat=True)):
            self.put(call_with, script_id, take_up)

    def wake_owing(self) -> None:
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

    def attend_present(self) -> None:
        """Tick the assistants with players near them, as after a reload."""
        for place in {player.location for player in placed_players()}:
            for obj in place.contents:
                if is_assistant(obj):
                    self.service.attend(obj.assistant.mind)


class Shards:
    """The other servers; ``startup`` resumes the work of assistants that come from them."""

    def __init__(self, startup: StartupRecovery) -> None:
        self._startup, self.service = startup, startup.service
        self._here: set[int] | None = None  # the assistants of this server

    def begin(self) -> None:
        """Look round from now on."""
        self.service.timer.keep("shard", LOOK_S, self.look_round, first_s=0.0)
        self.service.timer.keep("other shards", CATCH_UP_S, self.catch_up)

    def look_round(self) -> float:
        """Take in assistants that came, let go of those that left, and do what was asked for."""
        scripts = AssistantScript.objects.filter(db_key=SCRIPT_KEY)
        with store_errors():
            here = set(of_this_shard(scripts, "db_obj").values_list("id", flat=True))
            self.service.read_switch()
            self.service.forgetting.start()
        astray = {  # they left and came back since the last look, and memory has them elsewhere
            script.id
            for script in AssistantScript.get_all_cached_instances()
            if script.id in here and script.obj and not is_here(script.obj)
        }
        before = (here if self._here is None else self._here) - astray
        self._here = here & before  # `take_in` adds the others
        for script_id in before - here:
            self._startup.put(self.let_go, script_id)
        for script_id in here - before:
            self._startup.put(self.take_in, script_id)
        if here - before:
            self._startup.put(self._startup.recover_turns)
        return LOOK_S

    def catch_up(self) -> float:
        """Read again, at the next use, what other servers change: costs, lore, and more."""
        service = self.service
        for known in (service.lore, service.personas):
            known.read_again()
        signals.catching_up.send_robust(service)
        return CATCH_UP_S

    def let_go(self, script_id: int) -> None:
        """Drop what memory holds of an assistant whose character another server has."""
        script = AssistantScript.get_cached_instance(script_id)
        if script and (mind := script.ndb.mind):
            moved = StoreUnavailable("another server has the character now.")
            self.service.inbox_queue.give_up(mind.hearing, moved)
            mind.let_go()
            self.service.loaded.drop(mind)
        if script:
            note_home(script.obj, "")  # so that its timers end
            for known in (script, script.obj):
                known.flush_from_cache(force=True)

    def take_in(self, script_id: int) -> None:
        """Read an assistant anew that came from another server, and let its character hear."""
        for script in AssistantScript.objects.filter_family(id=script_id):
            if not is_here(script.obj):  # as it was in memory when it left, or was looked at
                self.let_go(script_id)
        for script in AssistantScript.objects.filter_family(id=script_id):
            for holder in (script, script.obj):
                read_anew(holder)
            script.obj.ndb.ai_assistant = None
            add_assistant_mixin(script.obj)
            if (mind := script.ndb.mind) and not mind.is_busy:  # a new one may think already
                mind.let_go()
            show_in_place(script.obj)
        self._here = {script_id, *(self._here or ())}


def placed_players() -> list[Any]:
    """Return the characters of connected players that are in a place."""
    return [puppet for puppet in puppets() if puppet.location]


def show_in_place(character: Any) -> None:
    """Let a character and the players in its place hear each other.

    evennia-shards drops the place from the cache: then each has another copy, and that of the
    character, read from the rows, lacks players whose location its router took away (measured).
    """
    if not character.location:
        return
    present = [character]
    present += [p for p in placed_players() if p.location.pk == character.db_location_id]
    for place in [person.location for person in present]:  # copies are equal
        for person in present:
            place.contents_cache.add(person)


def wake(script: AssistantScript, left_over: bool = False, acts_due: bool = False) -> None:
    """Wake an assistant; summaries may be ``left_over``, or acts due that a person agreed to."""
    mind = script.mind
    mind.compactor.is_left_over = left_over or mind.compactor.is_left_over
    mind.turn_runner.acts_due = acts_due or mind.turn_runner.acts_due
    script.wake()


def call_with(script_id: int, work: Callable[[Any], None]) -> None:
    for script in AssistantScript.objects.filter_family(id=script_id):
        work(script)
