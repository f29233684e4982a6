"""One simulated game from a seed: processes that die and start again, and what is left at the end.

Everything that is chance comes from one `random.Random`, and time from clocks of our own, so that a
seed always gives the same game.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from random import Random
from typing import Any

from twisted.logger import Logger
from twisted.python.failure import Failure

from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import IncomingEvent
from evennia_ai.ports import LLMRequest
from tests.invariants import (
    Deed,
    MessageRow,
    Put,
    RequestRow,
    Violation,
    check_append_only,
    violations,
)
from tests.memory_stores import MemoryConversation, MemoryInbox, MemoryTurns
from tests.reading_requests import is_summary, step_of
from tests.simulation.mind import Mind
from tests.simulation.model import is_extraction
from tests.simulation.notebook import Notebook, StandInSegments
from tests.simulation.play import MINDS, Play, Stores
from tests.simulation.process import Died, Process, turn_number
from tests.simulation.restart import after_restart
from tests.simulation.rows import gather, message_rows

STEPS = 20
FATES = ("dies before", "dies after", "is refused")
LATEST_FATE = 40
RELOAD_S = 1.0
OPEN = ("waiting", "claimed", "doubtful")


class Simulation(Play):
    """A game in one interpreter: a process dies when its memory is dropped."""

    def __init__(self, seed: int) -> None:
        rng = Random(seed)
        stubborn = rng.random() < 0.35
        super().__init__(rng, stubborn, rng.choice((1, 1, 2, 3)), rng.choice((1, 2, 2, 3)))
        self.trace: list[str] = []
        self.deeds: list[Deed] = []
        self.puts: list[Put] = []
        self.requests: list[RequestRow] = []
        self.broken: list[Violation] = []
        self.began: dict[tuple[str, int], float] = {}
        self.epochs: dict[tuple[str, int], int] = {}  # in which process each turn began
        self.ended: dict[tuple[str, int], float] = {}
        self.stored_at: dict[str, list[float]] = {dbref: [] for dbref in self.assistants}
        self.intended_at: dict[str, list[float]] = {dbref: [] for dbref in self.assistants}
        self.stores = {dbref: empty_stores() for dbref in self.assistants}
        self.notebooks = {dbref: StandInSegments() for dbref in self.assistants}
        self._moment = 0
        self._fate: tuple[int, str] | None = None
        self._seen: list[MessageRow] = []
        self.process = Process(self, 1)

    # --- the game ------------------------------------------------------------------------------

    def run(self) -> list[Violation]:
        """Play, come to rest, and return the violations."""
        with quiet_logs():
            self.act(self.process.start)
            self.act(self.remember)
            for _ in range(STEPS):
                step = self.rng.choices(STEP_CHOICES, STEP_WEIGHTS)[0]
                self.tell(step.__name__)
                self.act(step, self)
                if self.rng.random() < 0.7:
                    self.act(self.advance, 0.0)
            self._fate = None
            self.come_to_rest()
        self.look_at_log()
        found = [*self.broken, *violations(gather(self))]
        for violation in found:
            self.tell(f"VIOLATION {violation}")
        return found

    def digest(self) -> str:
        """Return a hash of the trace."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    def act(self, step: Callable[..., Any], *args: Any) -> None:
        """Take a step; start another process if this one dies."""
        try:
            step(*args)
        except Died:
            pass
        except StoreUnavailable as error:
            self.tell(f"nobody took {error}")
        while not self.process.alive:
            self.restart()

    def restart(self) -> None:
        """Start the next process on the stored rows."""
        self.look_at_log()
        self.time = max(self.time, self.process.clock.seconds())
        self.process = Process(self, self.process.epoch + 1)
        self.tell(f"process {self.process.epoch} starts")
        try:
            self.process.start()
        except Died:
            return

    def reload(self) -> None:
        """Stop the server in good order while people talk on."""
        self.process.quiesce()
        for _ in range(self.rng.choice((0, 1, 2))):
            self.say()
            self.advance(RELOAD_S / 2)
        self.process.alive = False

    def kill(self) -> None:
        """Kill the process while it waits."""
        self.process.die("while nothing was done")

    def doom(self) -> None:
        """Decide that one of the next operations kills the process or is refused."""
        self._fate = (self.rng.randrange(LATEST_FATE), self.rng.choice(FATES))

    def next_fate(self, name: str) -> str:
        """Return the fate that `doom` decided."""
        if self._fate is None:
            return ""
        left, fate = self._fate
        self._fate = (left - 1, fate) if left else None
        return "" if left else fate

    # --- the database --------------------------------------------------------------------------

    def open_stores(
        self, dbref: str, now: Callable[[], datetime], may_go_on: Callable[[], bool]
    ) -> Stores:
        """Return the stores with their rows and nothing in memory."""
        turns = after_restart(self.stores[dbref], now, may_go_on)
        self.stores[dbref] = turns
        journal = Notebook(now, self.notebooks[dbref])
        return Stores(turns.conversation, turns.inbox, turns, journal)

    def recover(self, process: Process) -> None:
        """Close the turns that an older process left open."""
        for mind in process.minds.values():
            mind.script.turns.recover_open_turns()

    def owing(self) -> set[str]:
        """Return the assistants that somebody waits for."""
        return {
            dbref
            for dbref, stores in self.stores.items()
            if any(row.state in OPEN for row in stores.inbox.rows)
        }

    def is_at_rest(self) -> bool:
        """Return True if nobody waits and nothing is under way."""
        return not self.owing() and not any(m.ticking for m in self.process.minds.values())

    # --- what is noted -------------------------------------------------------------------------

    def tell(self, text: str) -> None:
        """Add a line to the trace."""
        self.trace.append(f"{self.process.clock.seconds():8.2f} {text}")

    def next_moment(self) -> int:
        """Return the next number in the order of all events."""
        self._moment += 1
        return self._moment

    def note_failed_tick(self, mind: Mind, failure: Failure) -> None:
        """Trace that the process died or the database refused."""
        self.tell(f"{mind.name}: a tick failed: {failure.type}")

    def note_put(self, assistant: str, event_id: int, heard: IncomingEvent) -> None:
        """Keep it."""
        self.puts.append(Put(assistant, event_id, heard.text))

    def note_deed(self, mind: Mind, call_id: str, deed: Callable[..., Deed]) -> None:
        """Keep it."""
        turn = self.stores[mind.dbref].turns[turn_number(call_id) - 1].record
        events = tuple(event.id for event in turn.events)
        self.deeds.append(deed(turn_id=turn.id, events=events, moment=self.next_moment()))

    def note_stored(self, assistant: str, name: str, result: Any) -> None:
        """Number what an operation changed."""
        moment = self.next_moment()
        stores, who = self.stores[assistant], self.assistants[assistant]
        stamp(self.stored_at[assistant], stores.conversation.messages, moment)
        stamp(self.intended_at[assistant], stores.acts, moment)
        for number, turn in enumerate(stores.turns, 1):
            key = (assistant, number)
            if key not in self.began:
                self.began[key] = moment
                self.epochs[key] = self.process.epoch
                named = [event.heard.text for event in turn.record.events]
                self.tell(f"{who} begins turn {number}: {named}")
            if turn.outcome and key not in self.ended:
                self.ended[key] = moment
                self.tell(f"{who} ends turn {number}: {turn.outcome}")

    def note_request(self, request: LLMRequest) -> int:
        """Keep a request and who would hear its answer in the world."""
        assistant = next(who for who, name in MINDS.items() if name == request.source.mind.who.name)
        turn_id = len(self.stores[assistant].turns)
        words = [str(message["content"]) for message in request.messages]
        words += [event.heard.text for event in request.events]
        self.requests.append(
            RequestRow(
                assistant=assistant,
                turn_id=turn_id,
                step=0 if is_summary(request) else step_of(request),
                audience=self.hearers(assistant, request),
                text="\n".join(words),
                epoch=self.process.epoch,
                moment=self.next_moment(),
            )
        )
        what = "a summary" if is_summary(request) else "a reply"
        self.tell(f"{MINDS[assistant]} asks {what} in turn {turn_id}")
        return len(self.requests) - 1

    def hearers(self, assistant: str, request: LLMRequest) -> frozenset[str] | None:
        """Who would hear the answer to a request, or read in the journal what comes of it; None for
        a summary."""
        if is_summary(request):
            return None
        turn = self.stores[assistant].turns[-1].record
        if turn.private or is_extraction(request):
            return turn.audience
        return self.rooms.listeners(assistant)

    def note_end_of_request(self, number: int) -> None:
        """Number it."""
        self.requests[number] = replace(self.requests[number], ended=self.next_moment())

    def look_at_log(self) -> None:
        """Compare the logs with the last look."""
        rows = message_rows(self)
        self.broken += check_append_only(self._seen, rows)
        self._seen = rows


STEPS_BY_WEIGHT: dict[Callable[[Simulation], None], int] = {
    Simulation.say: 24,
    Simulation.whisper: 10,
    Simulation.short_wait: 18,
    Simulation.long_wait: 9,
    Simulation.very_long_wait: 1,
    Simulation.wake_all: 4,
    Simulation.be_restless: 3,
    Simulation.be_cramped: 3,
    Simulation.see: 3,
    Simulation.move: 9,
    Simulation.doze: 7,
    Simulation.rouse: 2,
    Simulation.order_compaction: 4,
    Simulation.undo_compaction: 4,
    Simulation.stop_or_start: 2,
    Simulation.steer: 2,
    Simulation.reload: 3,
    Simulation.kill: 2,
    Simulation.doom: 15,
}
STEP_CHOICES, STEP_WEIGHTS = list(STEPS_BY_WEIGHT), list(STEPS_BY_WEIGHT.values())


def empty_stores() -> MemoryTurns:
    """Return an empty database; each process sets its clock."""
    return MemoryTurns(MemoryConversation(no_clock), MemoryInbox(no_clock))


def no_clock() -> Any:
    """The clock of a database that no process has opened yet."""
    raise AssertionError


def stamp(times: list[float], rows: Sequence[Any], moment: int) -> None:
    """Keep the moment for every row that has none yet."""
    times += [moment] * (len(rows) - len(times))


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Drop log lines of planned failures."""
    modules = [module for name, module in sys.modules.items() if name.startswith("evennia_ai.")]
    loggers = [module.log for module in modules if isinstance(getattr(module, "log", 0), Logger)]
    kept = [logger.observer for logger in loggers]
    for logger in loggers:
        logger.observer = lambda event: None
    try:
        yield
    finally:
        for logger, observer in zip(loggers, kept, strict=True):
            logger.observer = observer
