"""One life of the simulated server: its memory, its assistants, and the moments of its death.

Everything here is dropped when the process dies. The rows in the stores, the rooms, and what was
noticed in the world survive it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock

from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import Audience, IncomingEvent, ToolCallRequest
from evennia_ai.policy.conversation.tool_call_rules import own_call_id
from evennia_ai.ports import ToolContext
from evennia_ai.store.transactions import store_errors
from evennia_ai.testing.minds import StandInServices
from evennia_ai.turn.fallback import EXCUSE_STEP
from tests.invariants import Deed
from tests.simulation.mind import CONFIG, Mind
from tests.simulation.model import make_gateway
from tests.simulation.world import TOOLS, Act, Hands, Senses

if TYPE_CHECKING:
    from tests.simulation.play import Play

RECOVERY_PAUSE_S = 1.0
READS = frozenset(
    {
        *("log.view", "log.to_archive", "log.to_journal", "journal.load"),
        *("inbox.open_events", "inbox.overheard"),
    }
)
EXCUSE_ID = own_call_id(0, EXCUSE_STEP, 0)[-4:]


class Died(BaseException):
    """The process was killed here. Handlers of ordinary errors must not catch it."""


def turn_number(call_id: str) -> int:
    """Return the turn of a call's id; see `policy.conversation.tool_call_rules.own_call_id`."""
    return int(call_id[:-4], 36)


class Turns:
    """`TimeSlices` by the clock: whatever is put has its turn after what is due already."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def put(self, work: Callable[..., object], *args: Any) -> None:
        """Call ``work(*args)`` soon."""
        self.clock.callLater(0, work, *args)


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
        self.services.slices = Turns(self.clock)
        self.services.toolbox = Hands(self)
        self.services.world = Senses(self.rooms)
        self.minds: dict[str, Mind] = {}
        for dbref, name in sim.assistants.items():
            self.minds[dbref] = Mind(dbref, name, self)

    def now(self) -> datetime:
        """Return the time for the stores; no two moments are equal."""
        self.sim.instants += 1
        return self.services.now() + timedelta(microseconds=self.sim.instants)

    # --- the moments at which it can die -------------------------------------------------------

    def operate(self, owner: str, name: str, operation: Callable[[], Any]) -> Any:
        """Run one operation of a store, which is whole or not done at all."""
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
        """Pass a moment outside the stores, which cannot be refused."""
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
        """Close turns of an older process and wake every assistant that owes an answer."""
        try:
            with store_errors():
                self.sim.recover(self)
                owing = self.sim.owing()
        except StoreUnavailable:
            self.clock.callLater(RECOVERY_PAUSE_S, self.start)
            return
        for dbref, mind in self.minds.items():
            if dbref in owing:
                mind.wake()

    def quiesce(self) -> None:
        """Start no further turn and drop those in flight."""
        self.accepting = False
        self.gateway.close()

    # --- what its minds do ---------------------------------------------------------------------

    def do(self, context: ToolContext, call: ToolCallRequest, act: Act) -> None:
        """Let something happen: it is noted for good, and other assistants hear it."""
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
        heard = IncomingEvent(kind, mind.dbref, mind.name, act.text, frozenset(), private)
        hops = context.hops + 1
        self.spread(replace(heard, hops=hops), act.heard_by, CONFIG.max_bot_replies)

    def spread(self, heard: IncomingEvent, ears: Audience, max_bot_replies: int) -> None:
        """Let every assistant in ``ears`` hear it, addressed or not, by chance."""
        for dbref, mind in self.minds.items():
            if dbref in ears and dbref != heard.speaker:
                audience = (ears | {heard.speaker}) - {dbref}
                addressed = heard.hops <= max_bot_replies and self.sim.is_addressed(heard)
                mind.hear(replace(heard, audience=audience, addressed=addressed))

    def tool_pause(self) -> Deferred[None]:
        """Return a Deferred that fires when a tool ends: mostly at once, sometimes never."""
        delay = self.sim.tool_delay()
        if delay == 0:
            return succeed(None)
        pause: Deferred[None] = Deferred()
        if delay is not None:
            self.clock.callLater(delay, lambda: pause.called or pause.callback(None))
        return pause
