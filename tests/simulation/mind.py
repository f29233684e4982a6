"""One assistant of the simulated server, awake and asleep, as `AssistantScript` is in a game."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.messages import Audience, Heard
from evennia_ai.policy.audience import KnownLine
from evennia_ai.policy.request_forms.form import SCHEMA, TEXT, TOOLS
from evennia_ai.sleep import run_sleep_tick
from evennia_ai.sleep.compaction.request import EMERGENCY, MANUAL, CompactionRequest
from evennia_ai.sleep.pass_time import PassTime
from evennia_ai.store.backlog import Backlog
from evennia_ai.store.brief_transaction import store_errors
from evennia_ai.testing.memory_records import EmptyProfiles
from evennia_ai.testing.minds import MemoryMind
from evennia_ai.turn.answer_events import EXPIRED, TURNS_A_TICK

if TYPE_CHECKING:
    from tests.simulation.play import Stores
    from tests.simulation.process import Process

CONFIG = AssistantConfig(max_iterations=4)
SMALL_WINDOW = {
    "max_reply_tokens": 16,
    "compact_reserve_tokens": 200,
    "compact_preserve_window": 4,
    "compact_sleep_threshold": 0.6,
    "compact_emergency_threshold": 0.9,
    "mask_threshold": 0.5,
    "mask_keep_last": 1,
}
WINDOWS = {TOOLS: 1_000, TEXT: 1_000, SCHEMA: 1_300}  # the rules of `schema` are longer
CRAMPED = {
    form: replace(CONFIG, **SMALL_WINDOW, max_context_tokens=tokens)
    for form, tokens in WINDOWS.items()
}
KEPT = 4
IN_MEMORY = frozenset({"is_current", "lose_lease", "pinned"})
STORE_PAUSE_S = 5.0
PATIENCE_S = 2.0


class Watched:
    """A store each of whose operations is a moment at which the process may die, or be refused."""

    def __init__(self, name: str, owner: str, store: Any, process: Process) -> None:
        self._name = name
        self._owner = owner
        self._store = store
        self._process = process

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._store, name)
        if not callable(value) or name in IN_MEMORY:
            return value

        def operation(*args: Any, **kwargs: Any) -> Any:
            return self._process.operate(
                self._owner, f"{self._name}.{name}", lambda: value(*args, **kwargs)
            )

        setattr(self, name, operation)
        return operation


class Body(str):
    """A character: its dbref, and what it knows."""

    __slots__ = ("ai_profiles", "journal")
    journal: Any
    ai_profiles: EmptyProfiles


class Mind:
    """One assistant in one process."""

    def __init__(self, dbref: str, name: str, process: Process) -> None:
        self.dbref = dbref
        self.name = name
        self.process = process
        self.stopped = False
        self.steered = False
        self.ticking = False
        self.tick_again = False
        self.restless = False
        self.cramped = False
        self.slept = False
        self.unarchived = True
        self.sleep: PassTime | None = None
        self.wake_call: Any = None
        config = CRAMPED[process.sim.form] if process.sim.is_cramped else CONFIG
        self.script = MemoryMind(process.services.gateway, config)
        self.script.services = process.services
        form, stream = process.sim.form, process.sim.streams
        self.script.profile = ModelProfile(
            dbref, client="sim", model="sim", form=form, stream=stream
        )
        self.script.character = Body(dbref)
        self.script.character.ai_profiles = EmptyProfiles()
        self.script.mind.life.may_think = self.may_think
        self.script.mind.knowledge.pins = self.pins
        self.script.mind.who.name = name
        stores = self.open_stores()
        self.script.conversation = Watched("log", dbref, stores.conversation, process)
        self.script.inbox = Watched("inbox", dbref, stores.inbox, process)
        self.script.turns = Watched("turns", dbref, stores.turns, process)
        self.script.character.journal = Watched("journal", dbref, stores.journal, process)
        self.backlog = Backlog(process.clock, self.script.mind.inbox.put, self.attend_to, self.lose)

    def open_stores(self) -> Stores:
        """What was stored by all processes before this one."""
        process = self.process
        return process.sim.open_stores(self.dbref, process.now, process.epoch, self.may_think)

    def may_think(self) -> bool:
        """As `AssistantScript.may_think`."""
        nowhere = self.process.rooms.place[self.dbref] is None
        return self.process.accepting and not (self.stopped or self.steered or nowhere)

    def pins(self, audience: Audience) -> list[KnownLine]:
        """As `AssistantContextMixin.pins`."""
        found = self.script.character.journal.pinned(audience)
        return [KnownLine(entry["content"], entry["audience"] is not None) for entry in found]

    # --- hearing -------------------------------------------------------------------------------

    def hear(self, heard: Heard) -> None:
        """Store it first, then wake; where the database refuses, a moment later."""
        self.process.sim.note_heard(self.dbref, heard)
        self.backlog.put(heard)

    def attend_to(self, heard: Heard, event_id: int) -> None:
        """As `AssistantScript.attend_to`: from here on it is promised."""
        self.process.sim.note_put(self.dbref, event_id, heard)
        if heard.addressed:
            if self.sleep:
                self.sleep.end_within(PATIENCE_S)
            self.wake()

    def lose(self, heard: Heard, error: StoreUnavailable) -> None:
        """What could not be stored for so long was never promised."""
        self.process.sim.note_lost(self.dbref, heard)
        self.process.sim.tell(f"{self.name} cannot keep {heard.text}: {error}")

    # --- ticking -------------------------------------------------------------------------------

    def wake(self) -> None:
        """Tick soon, once."""
        if self.process.accepting and self.wake_call is None:
            self.wake_call = self.process.clock.callLater(0, self._woken)

    def _woken(self) -> None:
        self.wake_call = None
        self.tick()

    def tick(self) -> None:
        """A tick, with its errors written down."""
        self.at_tick().addErrback(lambda failure: self.process.sim.note_failed_tick(self, failure))

    @inlineCallbacks
    def at_tick(self) -> Generator[Deferred[Any], Any, int]:
        """As `AssistantScript.at_tick`: never overlaps with itself."""
        if self.ticking:
            self.tick_again = True
            return 0
        if not self.may_think():
            return 0
        self.ticking = True
        try:
            with store_errors():
                turns: int = yield self.take_turns()
        except TurnAborted as error:
            self.process.sim.tell(f"{self.name}: {error}")
            return 0
        except StoreUnavailable as error:
            self.process.sim.tell(f"{self.name} waits: {error}")
            self.process.clock.callLater(STORE_PAUSE_S, self.wake)
            return 0
        finally:
            self.ticking = False
            if self.tick_again:
                self.tick_again = False
                self.wake()
        if turns == TURNS_A_TICK:
            self.wake()
        return turns

    @inlineCallbacks
    def take_turns(self) -> Generator[Deferred[Any], Any, int]:
        """As `AssistantScript.take_turns`."""
        yield self.script.character.journal.load(self.process.services.slices.put)
        if self.unarchived:
            self.unarchived = False
            yield self.script.mind.compactor.archive.archive()
        self.script.mind.compactor.mask_old_results(self.script.mind.meter.measure())
        if self.cramped:
            yield self.script.mind.compactor.compact(
                CompactionRequest(EMERGENCY, force=True, keep_recent=KEPT)
            )
            self.cramped = False
        yield self.script.mind.emergency.make_room()
        if self.asleep:
            if not self.script.mind.inbox.open_events():
                if not self.slept:
                    yield self.sleep_through()
                return 0
            self.wake_up()
        turns: int = yield self.script.mind.answering.answer_all()
        if not turns and self.restless:
            self.restless = False
            yield self.script.mind.answering.act_alone()
        return turns

    def lose_lease(self) -> None:
        """As `AssistantScript.notice_unpuppet`."""
        self.script.mind.turns.lose_lease()
        self.wake()

    def drop_turn(self) -> None:
        """As `AssistantScript.stop_thinking`."""
        if self.script.mind.turns.current:
            self.script.mind.turns.finish(self.script.mind.turns.current, EXPIRED, "it was stopped")

    # --- sleep and compaction ------------------------------------------------------------------

    @property
    def asleep(self) -> bool:
        """True between falling asleep and waking, also over restarts."""
        return self.dbref in self.process.sim.sleepers

    def fall_asleep(self) -> None:
        """As `sleep_state.fall_asleep`."""
        self.process.sim.sleepers.add(self.dbref)
        self.slept = False
        self.process.sim.tell(f"{self.name} falls asleep")

    def wake_up(self) -> None:
        """As `sleep_state.wake_up`."""
        self.process.sim.sleepers.discard(self.dbref)
        self.process.sim.tell(f"{self.name} wakes up")

    @inlineCallbacks
    def sleep_through(self) -> Generator[Deferred[Any], Any, None]:
        """As `sleep_through`: one pass, which whoever speaks to it may break off."""
        self.sleep = PassTime(self.process.clock)
        try:
            yield run_sleep_tick(self.script, self.script.character, time=self.sleep)
            self.slept = True
        finally:
            self.sleep.close()
            self.sleep = None

    def tend(self) -> None:
        """As `SleepTimer.update_mode`: a full head sleeps where nobody is near."""
        if self.ticking or not self.may_think():
            return
        unseen = self.process.rooms.listeners(self.dbref).isdisjoint(self.process.sim.players)
        if unseen and not self.asleep and self.script.mind.meter.measure().is_due:
            self.fall_asleep()
        if self.asleep and not self.slept:
            self.tick()

    @inlineCallbacks
    def compact_at_order(self) -> Generator[Deferred[Any], Any, None]:
        """As `AssistantScript.compact`, at an admin's word."""
        if self.ticking:
            return
        self.ticking = True
        try:
            yield self.script.mind.compactor.compact(
                CompactionRequest(MANUAL, force=True, keep_recent=KEPT)
            )
        except (TurnAborted, StoreUnavailable) as error:
            self.process.sim.tell(f"{self.name} does not compact: {error}")
        finally:
            self.ticking = False
            self.wake()
