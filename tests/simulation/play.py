"""A game that plays itself: who says, does and goes what and where, all from one source of chance.

What plays it, stores in memory with processes that only seem to die, or a database and a process
that is killed, is the subclass's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from random import Random
from typing import Any

from twisted.python.failure import Failure

from evennia_ai.messages import Heard, make_message, wire_call
from evennia_ai.ports import LLMRequest
from evennia_ai.sleep.compaction.journal_summary import undo_compaction
from evennia_ai.turn.context_use import measure_context
from tests.invariants import Deed
from tests.simulation.mind import KEPT, Mind
from tests.simulation.process import Process
from tests.simulation.world import ROOMS, VIEW, Rooms

ROUNDS = 40
ROUND_S = 5.0
PLAYERS = {"#5": "Ann", "#6": "Bob", "#7": "Cel"}
MINDS = {"#21": "Mira", "#22": "Otto", "#23": "Runa"}
EARLIER = [
    ("user", "Ann says: I promise to bring you 3 sacks of oats from Dunmore by Friday."),
    ("assistant", "Good. You owe me 40 crowns as it is, and the stable is empty."),
    ("user", "Ann says: The grey mare is called Nettle, and she bites."),
    ("assistant", "Then keep her away from the well, please."),
] * 4


@dataclass(frozen=True)
class Stores:
    """One assistant's stores, as one process has them open."""

    conversation: Any
    inbox: Any
    turns: Any
    journal: Any


class Play(ABC):
    """The people, their rooms, and what they may do next.

    ``calm`` is the tool that every model uses at once when the game is to come to rest, empty
    before; ``stubborn`` True where replies may come later than any deadline; ``is_cramped`` where
    a model's window holds little.
    """

    process: Process

    def __init__(self, rng: Random, stubborn: bool, minds: int, players: int) -> None:
        self.rng = rng
        self.is_cramped = rng.random() < 0.5
        self.stubborn = stubborn
        self.calm = ""
        self.time = 0.0
        self.words = 0
        self.instants = 0
        self.sleepers: set[str] = set()
        self.rooms = Rooms()
        self.assistants = dict(list(MINDS.items())[:minds])
        self.players = dict(list(PLAYERS.items())[:players])
        for who in (*self.players, *self.assistants):
            self.rooms.place[who] = ROOMS[0]

    # --- for the subclass ----------------------------------------------------------------------

    @abstractmethod
    def open_stores(
        self, dbref: str, now: Callable[[], datetime], epoch: int, may_go_on: Callable[[], bool]
    ) -> Stores:
        """An assistant's stores, for a process that has just begun."""

    @abstractmethod
    def recover(self, process: Process) -> None:
        """Close what an older process left open."""

    @abstractmethod
    def owing(self) -> set[str]:
        """The assistants somebody waits for."""

    @abstractmethod
    def next_fate(self, name: str) -> str:
        """What becomes of the moment that is about to come: empty where it passes, ``dies
        before``, ``dies after`` or, for an operation of a store, ``is refused``."""

    @abstractmethod
    def note_stored(self, assistant: str, name: str, result: Any) -> None:
        """An operation of a store was done."""

    @abstractmethod
    def note_put(self, assistant: str, event_id: int, heard: Heard) -> None:
        """From here on an utterance is promised."""

    @abstractmethod
    def note_deed(self, mind: Mind, call_id: str, deed: Callable[..., Deed]) -> None:
        """Something happens in the world now; ``deed`` makes the row from what is not known to the
        world: the turn, its events and the moment."""

    @abstractmethod
    def note_request(self, request: LLMRequest) -> int:
        """A model is about to be asked; returns the request's number."""

    @abstractmethod
    def note_end_of_request(self, number: int) -> None:
        """A request came to its end, however it did."""

    @abstractmethod
    def note_failed_tick(self, mind: Mind, failure: Failure) -> None:
        """A tick came to an error that none of its guards took."""

    @abstractmethod
    def tell(self, text: str) -> None:
        """A line of the trace."""

    # --- chance --------------------------------------------------------------------------------

    def remember(self) -> None:
        """Where a window holds little, it is nearly full from the beginning."""
        past = [
            make_message(*line, audience=sorted(self.players), private=False) for line in EARLIER
        ]
        for mind in self.process.minds.values() if self.is_cramped else ():
            mind.script.conversation.append(past)

    def is_addressed(self, heard: Heard) -> bool:
        """Whether words among minds call for an answer."""
        return not self.calm and self.rng.random() < 0.5

    def tool_delay(self) -> float | None:
        """Seconds until a tool's result, None for never."""
        if self.calm or self.rng.random() < 0.9:
            return 0
        return self.rng.choice((0.5, 5.0, None))

    def next_words(self, private: bool) -> str:
        """Words nobody has said before; now and then what a compaction takes for a fact."""
        self.words += 1
        token = f"{'s' if private else 'p'}{self.words:04}x"
        return f"I owe you {self.words + 40} crowns, {token}." if self.words % 4 == 0 else token

    # --- time ----------------------------------------------------------------------------------

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

    def act(self, step: Callable[..., Any], *args: Any) -> None:
        """Take a step."""
        step(*args)

    def come_to_rest(self) -> None:
        """No more faults; everybody is there; all that is owed is done."""
        self.tell("-- coming to rest --")
        for who in self.rooms.place:
            self.rooms.place[who] = ROOMS[0]
        for mind in self.process.minds.values():
            mind.stopped = mind.steered = False
            mind.unarchived = True
        self.sleepers.clear()
        for tool in ("say", "noop"):
            self.calm = tool
            for mind in self.process.minds.values():
                mind.restless = tool == "noop"
            for _ in range(ROUNDS):
                self.wake_all()
                self.act(self.advance, ROUND_S)
                if self.is_at_rest():
                    break

    @abstractmethod
    def is_at_rest(self) -> bool:
        """True where nobody waits and nothing is under way."""

    # --- steps ---------------------------------------------------------------------------------

    def wake_all(self) -> None:
        """The beat of the service."""
        for mind in self.process.minds.values():
            mind.tend()
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
        """A player whispers to a mind, and to somebody else with it now and then."""
        speaker = self.somebody()
        if speaker is None:
            return
        near = sorted(self.rooms.listeners(speaker))
        minds = [who for who in near if who in self.assistants]
        if minds:
            others = near if self.rng.random() < 0.25 else []
            chosen = {self.rng.choice(minds), *self.rng.sample(others, min(1, len(others)))}
            self.heard(speaker, "whisper", frozenset(chosen), True)

    def heard(self, speaker: str, kind: str, ears: frozenset[str], addressed: bool) -> None:
        """Words reach the ears of every mind among ``ears``."""
        private = kind == "whisper"
        text, name = self.next_words(private), self.players[speaker]
        self.tell(f"{name} {kind}s {text} ({','.join(sorted(ears))})")
        for dbref, mind in self.process.minds.items():
            if dbref in ears:
                audience = (ears | {speaker}) - {dbref}
                mind.hear(Heard(kind, speaker, name, text, audience, private, addressed))

    def move(self) -> None:
        """Somebody goes somewhere, or out of the game."""
        who = self.rng.choice([*self.players, *self.players, *self.assistants])
        nowhere = (None,) if who in self.players else ()
        self.rooms.place[who] = self.rng.choice((*ROOMS, *nowhere))
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

    def a_mind(self, wanted: Callable[[Mind], Any] = bool) -> Mind:
        """Any of the minds, rather one that is ``wanted``."""
        minds = list(self.process.minds.values())
        return self.rng.choice([mind for mind in minds if wanted(mind)] or minds)

    def be_restless(self) -> None:
        """Somebody feels like doing something unasked."""
        mind = self.a_mind()
        mind.restless = True
        mind.wake()

    def be_cramped(self) -> None:
        """Somebody's context is full: it compacts before it thinks."""
        mind = self.a_mind()
        mind.cramped = True
        mind.wake()

    def doze(self) -> None:
        """Somebody falls asleep, by the hours it keeps."""
        mind = self.a_mind(lambda mind: measure_context(mind.script).is_due)
        if not mind.asleep or mind.slept:
            mind.fall_asleep()
        mind.wake()

    def rouse(self) -> None:
        """Somebody's hours of sleep are over."""
        mind = self.a_mind()
        if mind.asleep and not mind.ticking:
            mind.wake_up()

    def order_compaction(self) -> None:
        """An admin has somebody compact, and now and then takes back what was done before."""
        mind = self.a_mind(lambda mind: len(mind.script.conversation.view()) > KEPT)
        mind.compact_at_order().addErrback(partial(self.note_failed_tick, mind))
        if self.rng.random() < 0.5:
            self.undo(mind)

    def undo_compaction(self) -> None:
        """An admin takes somebody's last compaction back."""
        self.undo(self.a_mind(lambda mind: mind.script.conversation.current.record))

    def undo(self, mind: Mind) -> None:
        """As ``aicompact/undo``."""
        if undo_compaction(mind.script) is not None:
            self.tell(f"{mind.name}'s last compaction is undone")

    def see(self) -> None:
        """Somebody has seen a lot, and its head fills."""
        mind = self.a_mind(lambda mind: not mind.ticking)
        call = wire_call(f"seen{self.words}", "look", "{}")
        meta = {"audience": sorted(self.players), "private": False}
        self.words += 1
        mind.script.conversation.append(
            [
                make_message("assistant", "", tool_calls=[call], **meta),
                make_message("tool", VIEW, tool_call_id=call["id"], **meta),
            ]
        )
        mind.wake()

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
