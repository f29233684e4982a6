"""One simulated game from a seed: what happens when, and what is left of it at the end.

Everything that is chance comes from one `random.Random`, and time from clocks of our own, so that a
seed always gives the same game.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

from evennia_ai.errors import StoreUnavailable
from evennia_ai.events import Heard
from evennia_ai.llm import gateway
from evennia_ai.ports import LLMRequest, TurnRecord
from evennia_ai.testing.memory_stores import MemoryConversation, MemoryInbox, MemoryTurns
from evennia_ai.turn import attention
from tests.invariants import (
    Deed,
    MessageRow,
    Put,
    RequestRow,
    Violation,
    check_append_only,
    violations,
)
from tests.simulation.process import Died, Mind, Process
from tests.simulation.rows import gather, message_rows
from tests.simulation.world import ROOMS, Rooms

STEPS = 25
ROUNDS = 40
ROUND_S = 5.0
PLAYERS = {"#5": "Ann", "#6": "Bob", "#7": "Cel"}
MINDS = {"#21": "Mira", "#22": "Otto", "#23": "Runa"}
FATES = ("dies before", "dies after", "is refused")
LATEST_FATE = 40
RELOAD_S = 1.0


class Simulation:
    """A game that plays itself.

    ``calm`` is the tool that every model uses at once when the game is to come to rest, empty
    before; ``stubborn`` True where replies may come later than any deadline.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.calm = ""
        self.stubborn = self.rng.random() < 0.35
        self.time = 0.0
        self.trace: list[str] = []
        self.deeds: list[Deed] = []
        self.puts: list[Put] = []
        self.requests: list[RequestRow] = []
        self.broken: list[Violation] = []
        self.began: dict[tuple[str, int], float] = {}
        self.ended: dict[tuple[str, int], float] = {}
        self.stored_at: dict[str, list[float]] = {}
        self.intended_at: dict[str, list[float]] = {}
        self._moment = 0
        self._words = 0
        self._fate: tuple[int, str] | None = None
        self._seen: list[MessageRow] = []
        self.rooms = Rooms()
        self.assistants = dict(list(MINDS.items())[: self.rng.choice((1, 1, 2, 3))])
        self.players = dict(list(PLAYERS.items())[: self.rng.choice((1, 2, 2, 3))])
        for who in (*self.players, *self.assistants):
            self.rooms.place[who] = ROOMS[0]
        self.stores = {dbref: empty_stores() for dbref in self.assistants}
        self.stored_at = {dbref: [] for dbref in self.assistants}
        self.intended_at = {dbref: [] for dbref in self.assistants}
        self.process = Process(self, 1)

    # --- the game ------------------------------------------------------------------------------

    def run(self) -> list[Violation]:
        """Play, come to rest, and judge; returns what broke a promise."""
        with quiet_logs():
            self.act(self.process.start)
            for _ in range(STEPS):
                name, step = self.rng.choices(STEPS_NAMES, STEPS_WEIGHTS)[0]
                self.tell(name)
                self.act(step, self)
                if self.rng.random() < 0.7:
                    self.act(self.advance, 0.0)
            self.come_to_rest()
        self.look_at_log()
        found = [*self.broken, *violations(gather(self))]
        for violation in found:
            self.tell(f"VIOLATION {violation}")
        return found

    def digest(self) -> str:
        """What happened, as a hash."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()

    def act(self, step: Callable[..., Any], *args: Any) -> None:
        """Take a step; where the process dies of it, another is started."""
        try:
            step(*args)
        except Died:
            pass
        except StoreUnavailable as error:
            self.tell(f"nobody took {error}")
        while not self.process.alive:
            self.restart()
        self.process.refresh_leases()

    def restart(self) -> None:
        """The next process, on the rows of the one before."""
        self.look_at_log()
        self.time = max(self.time, self.process.clock.seconds())
        self.process = Process(self, self.process.epoch + 1)
        self.tell(f"process {self.process.epoch} starts")
        try:
            self.process.start()
        except Died:
            return

    def advance(self, seconds: float) -> None:
        """Let time pass, each call at its own moment."""
        process = self.process
        until = process.clock.seconds() + seconds
        while process.alive:
            calls = process.clock.calls
            due = calls[0].getTime() if calls else until
            process.clock.rightNow = max(process.clock.seconds(), min(due, until))
            if not calls or due > until:
                break
            process.clock.advance(0)
        self.time = process.clock.seconds()

    def come_to_rest(self) -> None:
        """No more faults; everybody is there; all that is owed is done."""
        self.tell("-- coming to rest --")
        self.calm, self._fate = "say", None
        for who in self.rooms.place:
            self.rooms.place[who] = ROOMS[0]
        for mind in self.process.minds.values():
            mind.stopped = mind.steered = False
        for tool in ("say", "noop"):
            self.calm = tool
            for mind in self.process.minds.values():
                mind.restless = tool == "noop"
            for _ in range(ROUNDS):
                self.wake_all()
                self.act(self.advance, ROUND_S)
                if self.is_at_rest():
                    break

    def is_at_rest(self) -> bool:
        """True where nobody waits and nothing is under way."""
        rows = (row for stores in self.stores.values() for row in stores.inbox.rows)
        owed = any(row.state in ("waiting", "claimed", "doubtful") for row in rows)
        return not owed and not any(mind.ticking for mind in self.process.minds.values())

    # --- chance --------------------------------------------------------------------------------

    def next_fate(self, name: str) -> str:
        """What becomes of the operation that is about to be done."""
        if self._fate is None:
            return ""
        left, fate = self._fate
        self._fate = (left - 1, fate) if left else None
        return "" if left else fate

    def is_addressed(self, heard: Heard) -> bool:
        """Whether words among minds call for an answer."""
        return not self.calm and self.rng.random() < 0.5

    def tool_delay(self) -> float | None:
        """Seconds until a tool's result, None for never."""
        if self.calm or self.rng.random() < 0.9:
            return 0
        return self.rng.choice((0.5, 5.0, None))

    def next_words(self, private: bool) -> str:
        """Words nobody has said before."""
        self._words += 1
        return f"{'s' if private else 'p'}{self._words:04}x"

    # --- what is noted -------------------------------------------------------------------------

    def tell(self, text: str) -> None:
        """A line of the trace."""
        self.trace.append(
            f"{self.process.clock.seconds() if hasattr(self, 'process') else 0:8.2f} {text}"
        )

    def next_moment(self) -> int:
        """The next number in the order of all that happens."""
        self._moment += 1
        return self._moment

    def note_put(self, assistant: str, event_id: int, heard: Heard) -> None:
        """From here on an utterance is promised."""
        self.puts.append(Put(assistant, event_id, heard.text))

    def note_stored(self, name: str) -> None:
        """Find out what an operation changed, and number it."""
        moment = self.next_moment()
        for dbref, stores in self.stores.items():
            stamp(self.stored_at[dbref], stores.conversation.messages, moment)
            stamp(self.intended_at[dbref], stores.acts, moment)
            for number, turn in enumerate(stores.turns, 1):
                key = (dbref, number)
                if key not in self.began:
                    self.began[key] = moment
                    named = [event.heard.text for event in turn.record.events]
                    self.tell(f"{self.assistants[dbref]} begins turn {number}: {named}")
                if turn.outcome and key not in self.ended:
                    self.ended[key] = moment
                    self.tell(f"{self.assistants[dbref]} ends turn {number}: {turn.outcome}")

    def note_request(self, request: LLMRequest) -> int:
        """Who would hear the answer to a request, by what is so in the world, and what it tells;
        returns its number."""
        assistant = next(who for who, name in MINDS.items() if name == request.scene.name)
        turn = self.stores[assistant].turns[-1].record
        words = [str(message["content"]) for message in request.messages]
        words += [line.text for line in request.scene.lines]
        self.requests.append(
            RequestRow(
                assistant=assistant,
                turn_id=turn.id,
                step=request.scene.step,
                audience=turn.audience if turn.private else self.rooms.listeners(assistant),
                text="\n".join(words),
                epoch=self.process.epoch,
                moment=self.next_moment(),
            )
        )
        self.tell(f"{MINDS[assistant]} asks in turn {turn.id}")
        return len(self.requests) - 1

    def note_end_of_request(self, number: int) -> None:
        """A request came to its end, however it did."""
        self.requests[number] = replace(self.requests[number], ended=self.next_moment())

    def turn_of_call(self, assistant: str, call_id: str) -> TurnRecord:
        """The turn that a call's id tells of, see `policy.react.own_call_id`."""
        return self.stores[assistant].turns[int(call_id[:-4], 36) - 1].record

    def look_at_log(self) -> None:
        """Compare the logs with what they were at the last look."""
        rows = message_rows(self)
        self.broken += check_append_only(self._seen, rows)
        self._seen = rows

    # --- steps ---------------------------------------------------------------------------------

    def wake_all(self) -> None:
        """The beat of the service."""
        for mind in self.process.minds.values():
            mind.wake()

    def somebody(self) -> str | None:
        """A player who is in the game."""
        present = [who for who in self.players if self.rooms.place[who]]
        return self.rng.choice(present) if present else None

    def say(self) -> None:
        """A player says something; whether anybody is meant is up to chance."""
        speaker = self.somebody()
        if speaker is not None:
            self.heard(speaker, "say", self.rooms.listeners(speaker), self.rng.random() < 0.75)

    def whisper(self) -> None:
        """A player whispers to somebody, and to a second one now and then."""
        speaker = self.somebody()
        if speaker is None:
            return
        near = sorted(self.rooms.listeners(speaker))
        minds = [who for who in near if who in self.assistants]
        if minds:
            others = [who for who in near if who in self.players]
            others = others if self.rng.random() < 0.25 else []
            chosen = {self.rng.choice(minds), *self.rng.sample(others, min(1, len(others)))}
            self.heard(speaker, "whisper", frozenset(chosen), True)

    def heard(self, speaker: str, kind: str, ears: frozenset[str], addressed: bool) -> None:
        """Words reach the ears of every mind among ``ears``."""
        private = kind == "whisper"
        text = self.next_words(private)
        self.tell(f"{self.players[speaker]} {kind}s {text} ({','.join(sorted(ears))})")
        for dbref, mind in self.process.minds.items():
            if dbref in ears:
                audience = (ears | {speaker}) - {dbref}
                mind.hear(
                    Heard(kind, speaker, self.players[speaker], text, audience, private, addressed)
                )

    def move(self) -> None:
        """Somebody goes somewhere, or out of the game."""
        who = self.rng.choice([*self.players, *self.players, *self.assistants])
        nowhere = (None,) if who in self.players else ()
        self.rooms.place[who] = self.rng.choice((*ROOMS, *nowhere))
        self.process.refresh_leases()
        self.wake_all()

    def short_wait(self) -> None:
        """A moment."""
        self.advance(self.rng.choice((0.2, 0.5, 1.0, 3.0)))

    def long_wait(self) -> None:
        """Long enough for most replies."""
        self.advance(self.rng.choice((6.0, 12.0, 21.0, 40.0)))

    def very_long_wait(self) -> None:
        """Too long for any answer."""
        self.advance(310.0)

    def be_restless(self) -> None:
        """Somebody feels like doing something unasked."""
        mind = self.a_mind()
        mind.restless = True
        mind.wake()

    def a_mind(self) -> Mind:
        """Any of the minds."""
        return self.rng.choice(list(self.process.minds.values()))

    def stop_or_start(self) -> None:
        """An admin stops a mind, or starts it again."""
        mind = self.a_mind()
        mind.stopped = not mind.stopped
        if mind.stopped:
            mind.drop_turn()
        else:
            mind.wake()

    def steer(self) -> None:
        """Somebody puppets a character, or leaves it."""
        mind = self.a_mind()
        mind.steered = not mind.steered

    def reload(self) -> None:
        """The server goes down in good order while people talk on."""
        self.process.quiesce()
        for _ in range(self.rng.choice((0, 1, 2))):
            self.say()
            self.advance(RELOAD_S / 2)
        self.process.alive = False

    def kill(self) -> None:
        """The process dies while it waits for something."""
        self.process.die("while nothing was done")

    def doom(self) -> None:
        """One of the next operations will be the last, or will be refused."""
        self._fate = (self.rng.randrange(LATEST_FATE), self.rng.choice(FATES))


STEP_WEIGHTS: dict[Callable[[Simulation], None], int] = {
    Simulation.say: 24,
    Simulation.whisper: 10,
    Simulation.short_wait: 18,
    Simulation.long_wait: 9,
    Simulation.very_long_wait: 1,
    Simulation.wake_all: 4,
    Simulation.be_restless: 3,
    Simulation.move: 9,
    Simulation.stop_or_start: 2,
    Simulation.steer: 2,
    Simulation.reload: 3,
    Simulation.kill: 2,
    Simulation.doom: 12,
}
STEPS_NAMES = [(step.__name__, step) for step in STEP_WEIGHTS]
STEPS_WEIGHTS = list(STEP_WEIGHTS.values())


def empty_stores() -> MemoryTurns:
    """A database without rows; each process gives it its own clock."""
    conversation = MemoryConversation(no_clock)
    return MemoryTurns(conversation, MemoryInbox(no_clock))


def stamp(times: list[float], rows: Sequence[Any], moment: int) -> None:
    """Note the moment for every row that has none yet."""
    times += [moment] * (len(rows) - len(times))


def no_clock() -> Any:
    """The clock of a database that no process has opened yet."""
    raise AssertionError


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Keep thousands of failures that are meant to be out of the log."""
    loggers = (attention.log, gateway.log)
    kept = [logger.observer for logger in loggers]
    for logger in loggers:
        logger.observer = lambda event: None
    try:
        yield
    finally:
        for logger, observer in zip(loggers, kept, strict=True):
            logger.observer = observer
