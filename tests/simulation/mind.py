"""One assistant of the simulated server, awake and asleep, as `AssistantScript` is in a game."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, inlineCallbacks

from evennia_ai import ports
from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.messages import IncomingEvent
from evennia_ai.policy.compaction.plan import EMERGENCY, MANUAL, CompactionOrder
from evennia_ai.policy.conversation.persona_and_lore import Persona
from evennia_ai.policy.tool_call_modes.form import PLAIN, TOOLS
from evennia_ai.sleep import STEPS, SleepPassTimer
from evennia_ai.store.inbox_queue import InboxQueue
from evennia_ai.store.transactions import store_errors
from evennia_ai.testing.minds import MemoryIdentity, NeverAsleep, in_memory
from evennia_ai.turn.turn_runner import EXPIRED, TURNS_A_TICK
from tests.minds import MemoryMind

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
WINDOWS = {TOOLS: 1_000, PLAIN: 1_000}
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


class Body(str):  # noqa: SLOT000  # one for each assistant
    """A character: its dbref, and what it knows."""

    def __init__(self, dbref: str) -> None:
        kinds = (ports.EntityProfiles, ports.Goals, ports.DayPlan)
        self.ai_profiles, self.ai_goals, self.ai_plan = map(in_memory, kinds)
        self.key, self.location = "", None
        self.journal: Any = None


class Rest(NeverAsleep):
    """`ports.Rest` of an assistant that sleeps when the simulation says so, also over restarts."""

    def __init__(self, mind: Mind) -> None:
        self._mind = mind
        self.has_slept = False
        self.time: SleepPassTimer | None = None

    @property
    def is_asleep(self) -> bool:  # type: ignore[override]
        """True between falling asleep and waking."""
        return self._mind.dbref in self._mind.process.sim.sleepers

    @property
    def needs_pass(self) -> bool:  # type: ignore[override]
        """True until a pass is done."""
        return self.is_asleep and not self.has_slept

    def fall_asleep(self) -> None:
        """Sleep, with a pass to come."""
        self._mind.process.sim.sleepers.add(self._mind.dbref)
        self.has_slept = False
        self._mind.process.sim.tell(f"{self._mind.name} falls asleep")

    def wake_up(self, reason: str) -> None:
        """Be awake."""
        self._mind.process.sim.sleepers.discard(self._mind.dbref)
        self._mind.process.sim.tell(f"{self._mind.name} wakes up")

    @inlineCallbacks
    def sleep_through(self, run: Callable[..., Any]) -> Generator[Deferred[Any], Any, None]:
        """Make one pass, which whoever speaks to the assistant may break off."""
        self.time = SleepPassTimer(self._mind.process.clock)
        try:
            yield run(self.time, STEPS)
            self.has_slept = True
        finally:
            self.time.close()
            self.time = None


class Whim:
    """`turn.autonomy.Will` of an assistant that acts unasked when the simulation says so."""

    is_restless = False

    def wants_to_act(self) -> bool:
        """Return True once after it became restless."""
        return self.is_restless

    def note_act(self) -> None:
        """Be content."""
        self.is_restless = False


class Mind:
    """One assistant in one process, ticking as a `game.minds.GameMind` does."""

    def __init__(self, dbref: str, name: str, process: Process) -> None:
        self.dbref = dbref
        self.name = name
        self.process = process
        self.stopped = False
        self.steered = False
        self.ticking = False
        self.tick_again = False
        self.cramped = False
        self.wake_call: Any = None
        self.sleep = Rest(self)
        stores, character = self.open_stores(), Body(dbref)
        character.key = name
        character.journal = Watched("journal", dbref, stores.journal, process)
        config = CRAMPED[process.sim.form] if process.sim.is_cramped else CONFIG
        self.script = MemoryMind(process.services.gateway, config)
        self.script.rebuild(
            who=MemoryIdentity(character, Persona("You are Mira, a barkeep.")),
            log=Watched("log", dbref, stores.conversation, process),
            inbox=Watched("inbox", dbref, stores.inbox, process),
            turns=Watched("turns", dbref, stores.turns, process),
            sleep=self.sleep,
            services=process.services,
        )
        form, stream = process.sim.form, process.sim.streams
        self.script.settings.profile = ModelProfile(
            dbref, client="sim", model="sim", form=form, stream=stream
        )
        self.script.status.may_think = self.may_think
        self.script.compactor.is_left_over = True
        self.script.autonomy = self.whim = Whim()
        self.assistant_id = 0
        self.queue = InboxQueue(
            process.clock, lambda events: [self.script.inbox.put(event) for _, event in events]
        )

    def open_stores(self) -> Stores:
        """What was stored by all processes before this one."""
        process = self.process
        return process.sim.open_stores(self.dbref, process.now, self.may_think)

    def may_think(self) -> bool:
        """As `AssistantScript.may_think`."""
        nowhere = self.process.rooms.place[self.dbref] is None
        return self.process.accepting and not (self.stopped or self.steered or nowhere)

    # --- hearing -------------------------------------------------------------------------------

    def hear(self, heard: IncomingEvent) -> None:
        """Store it first, then wake; where the database refuses, a moment later."""
        self.process.sim.note_heard(self.dbref, heard)
        self.queue.put(self, heard)

    def attend_to(self, heard: IncomingEvent, event_id: int) -> None:
        """As `AssistantScript.attend_to`: from here on it is promised."""
        self.process.sim.note_put(self.dbref, event_id, heard)
        if heard.addressed:
            if self.sleep.time:
                self.sleep.time.end_within(PATIENCE_S)
            self.wake()

    def give_up(self, heard: IncomingEvent, error: StoreUnavailable) -> None:
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
        """Compact where the simulation wants that, then tick as in a game."""
        if self.cramped:
            yield self.compact(EMERGENCY)
            self.cramped = False
        turns: int = yield self.script.tick()
        return turns

    def compact(self, reason: str) -> Deferred[dict[str, Any]]:
        """Compact all but a few messages."""
        return self.script.compactor.compact(CompactionOrder(reason, force=True, keep_recent=KEPT))

    def lose_lease(self) -> None:
        """As `AssistantScript.notice_unpuppet`."""
        self.script.turns.lose_lease()
        self.wake()

    def drop_turn(self) -> None:
        """As `AssistantScript.stop_thinking`."""
        if self.script.turns.current:
            self.script.turns.finish(self.script.turns.current, EXPIRED, "it was stopped")

    # --- sleep and compaction ------------------------------------------------------------------

    def tend(self) -> None:
        """As `game.sleep_state`: a full head sleeps where nobody is near."""
        if self.ticking or not self.may_think():
            return
        unseen = self.process.rooms.listeners(self.dbref).isdisjoint(self.process.sim.players)
        if unseen and not self.sleep.is_asleep and self.script.meter.measure().is_due:
            self.sleep.fall_asleep()
        if self.sleep.needs_pass:
            self.tick()

    @inlineCallbacks
    def compact_at_order(self) -> Generator[Deferred[Any], Any, None]:
        """As `AssistantScript.compact`, at an admin's word."""
        if self.ticking:
            return
        self.ticking = True
        try:
            yield self.compact(MANUAL)
        except (TurnAborted, StoreUnavailable) as error:
            self.process.sim.tell(f"{self.name} does not compact: {error}")
        finally:
            self.ticking = False
            self.wake()
