"""One life of the simulated server: its memory, its minds, and the moments at which it can die.

Everything here is dropped when the process dies. What outlives it are the rows in the stores, the
rooms, and what was noticed in the world.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, inlineCallbacks, succeed
from twisted.internet.task import Clock

from evennia_ai.config import AssistantConfig, ModelProfile
from evennia_ai.errors import StoreUnavailable, TurnAborted
from evennia_ai.events import Audience, Heard
from evennia_ai.messages import ToolCallRequest
from evennia_ai.policy.react import own_call_id
from evennia_ai.ports import ToolContext
from evennia_ai.sleep.compaction import compact, is_urgent, mask_old_results
from evennia_ai.sleep.order import EMERGENCY, Order
from evennia_ai.store.backlog import Backlog
from evennia_ai.testing.stand_ins import StandInScript, StandInServices
from evennia_ai.turn.attention import EXPIRED, TURNS_A_TICK, act_unasked, answer_events
from evennia_ai.turn.fallback import EXCUSE_STEP
from tests.invariants import Deed
from tests.simulation.model import make_gateway
from tests.simulation.world import TOOLS, Act, Hands, Senses

if TYPE_CHECKING:
    from tests.simulation.play import Play, Stores

CONFIG = AssistantConfig(max_iterations=4)
SMALL_WINDOW = {"max_context_tokens": 1_000, "max_reply_tokens": 16, "compact_preserve_window": 4}
CRAMPED = replace(CONFIG, **SMALL_WINDOW)
KEPT = 4
IN_MEMORY = frozenset({"is_current"})
STORE_PAUSE_S = 5.0
RECOVERY_PAUSE_S = 1.0
READS = frozenset({"log.view", "inbox.open_events", "inbox.overheard"})
EXCUSE_ID = own_call_id(0, EXCUSE_STEP, 0)[-4:]


class Died(BaseException):
    """The process was killed here. No handler for ordinary errors may catch it."""


def turn_number(call_id: str) -> int:
    """The turn that a call's id tells of, see `policy.react.own_call_id`."""
    return int(call_id[:-4], 36)


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


class Mind:
    """One assistant in one process: what `AssistantScript` is in the game."""

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
        self.wake_call: Any = None
        config = CRAMPED if process.sim.is_cramped else CONFIG
        self.script = StandInScript(process.services.gateway, config)
        self.script.services = process.services
        self.script.profile = ModelProfile(dbref, client="sim", model="sim")
        self.script.character = dbref
        self.script.may_think = self.may_think
        self.script.character_name = name
        stores = self.open_stores()
        self.script.conversation = Watched("log", dbref, stores.conversation, process)
        self.script.inbox = Watched("inbox", dbref, stores.inbox, process)
        self.script.turns = Watched("turns", dbref, stores.turns, process)

        self.backlog = Backlog(process.clock, self.script.inbox.put, self.attend_to, self.lose)

    def open_stores(self) -> Stores:
        """What was stored by all processes before this one."""
        process = self.process
        return process.sim.open_stores(
            self.dbref, process.services.now, process.epoch, self.may_think
        )

    def may_think(self) -> bool:
        """As `AssistantScript.may_think`."""
        nowhere = self.process.rooms.place[self.dbref] is None
        return self.process.accepting and not (self.stopped or self.steered or nowhere)

    def hear(self, heard: Heard) -> None:
        """Store it first, then wake; where the database refuses, a moment later."""
        self.backlog.put(heard)

    def attend_to(self, heard: Heard, event_id: int) -> None:
        """As `AssistantScript.attend_to`: from here on it is promised."""
        self.process.sim.note_put(self.dbref, event_id, heard)
        if heard.addressed:
            self.wake()

    def lose(self, heard: Heard, error: StoreUnavailable) -> None:
        """What could not be stored for so long was never promised."""
        self.process.sim.tell(f"{self.name} cannot keep {heard.text}: {error}")

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
            mask_old_results(self.script)
            if is_urgent(self.script) or self.cramped:
                yield compact(self.script, Order(EMERGENCY, force=self.cramped, keep_recent=KEPT))
                self.cramped = False
            turns: int = yield answer_events(self.script)
            if not turns and self.restless:
                self.restless = False
                yield act_unasked(self.script)
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

    def drop_turn(self) -> None:
        """As `AssistantScript.stop_thinking`."""
        if self.script.turns.current:
            self.script.turns.finish(self.script.turns.current, EXPIRED, "it was stopped")


class Process:
    """A server from its start to its end."""

    def __init__(self, sim: Play, epoch: int) -> None:
        self.sim = sim
        self.rooms = sim.rooms
        self.epoch = epoch
        self.alive = True
        self.accepting = True
        self.clock = Clock()
        self.clock.rightNow = sim.time
        self.gateway = make_gateway(sim, self.clock)
        self.services = StandInServices(self.gateway)
        self.services.clock = self.clock
        self.services.toolbox = Hands(self)
        self.services.world = Senses(self.rooms)
        self.minds: dict[str, Mind] = {}
        for dbref, name in sim.assistants.items():
            self.minds[dbref] = Mind(dbref, name, self)

    # --- the moments at which it can die -------------------------------------------------------

    def operate(self, owner: str, name: str, operation: Callable[[], Any]) -> Any:
        """One operation of a store: a transaction, done as a whole or not at all."""
        if not self.alive:
            raise Died
        fate = self.sim.next_fate(name)
        if fate == "dies before":
            self.die(f"before {name}")
        if fate == "is refused" and name not in READS:
            self.sim.tell(f"{name} is refused")
            raise StoreUnavailable(name)
        result = operation()
        self.sim.note_stored(owner, name, result)
        if fate == "dies after":
            self.die(f"after {name}")
        return result

    def moment(self, name: str) -> None:
        """A moment outside the stores; the world is not refused."""
        if not self.alive:
            raise Died
        if self.sim.next_fate(name) in ("dies before", "dies after"):
            self.die(name)

    def die(self, where: str) -> None:
        """kill -9."""
        self.alive = self.accepting = False
        self.sim.tell(f"KILLED {where}")
        raise Died

    # --- start and end -------------------------------------------------------------------------

    def start(self) -> None:
        """Close what an older process left open and wake who owes an answer."""
        try:
            self.sim.recover(self)
        except StoreUnavailable:
            self.clock.callLater(RECOVERY_PAUSE_S, self.start)
            return
        owing = self.sim.owing()
        for dbref, mind in self.minds.items():
            if dbref in owing:
                mind.wake()

    def quiesce(self) -> None:
        """Begin no turn any more and let those in flight go."""
        self.accepting = False
        self.gateway.close()

    # --- what its minds do ---------------------------------------------------------------------

    def do(self, context: ToolContext, call: ToolCallRequest, act: Act) -> None:
        """Something happens: it is noticed for good, and other minds hear it."""
        mind = self.minds[context.character]
        number = turn_number(call.id)
        deed = partial(
            Deed,
            assistant=mind.dbref,
            name=call.name,
            arguments=call.arguments,
            call_id=call.id,
            text=act.text,
            heard_by=act.heard_by,
            excuse=call.id.endswith(EXCUSE_ID),
            safe_to_retry=TOOLS[call.name].safe_to_retry,
            lease_held=mind.may_think() and mind.script.turns.is_current(number),
        )
        self.sim.note_deed(mind, call.id, deed)
        ears = ",".join(sorted(act.heard_by))
        self.sim.tell(f"{mind.name} DOES {call.name} {act.text!r} ({ears})")
        kind = call.name if call.name in ("say", "whisper", "emote") else "emote"
        private = context.private or act.private_to is not None
        heard = Heard(kind, mind.dbref, mind.name, act.text, frozenset(), private)
        hops = context.hops + 1
        self.spread(replace(heard, hops=hops), act.heard_by, CONFIG.max_hops)

    def spread(self, heard: Heard, ears: Audience, max_hops: int) -> None:
        """Let every mind among ``ears`` hear it; whether it feels addressed is up to chance."""
        for dbref, mind in self.minds.items():
            if dbref in ears and dbref != heard.speaker:
                audience = (ears | {heard.speaker}) - {dbref}
                addressed = heard.hops <= max_hops and self.sim.is_addressed(heard)
                mind.hear(replace(heard, audience=audience, addressed=addressed))

    def tool_pause(self) -> Deferred[None]:
        """How long a tool's result takes: nothing mostly, sometimes for ever."""
        delay = self.sim.tool_delay()
        if delay == 0:
            return succeed(None)
        pause: Deferred[None] = Deferred()
        if delay is not None:
            self.clock.callLater(delay, lambda: pause.called or pause.callback(None))
        return pause
