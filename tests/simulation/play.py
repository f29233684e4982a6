"""A game that plays itself: one random generator decides who says what, acts and moves.

A subclass decides what it runs on: stores in memory with processes that only seem to die, or a
database and a process that is killed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from random import Random
from typing import Any

from twisted.python.failure import Failure

from evennia_ai.messages import IncomingEvent, make_message, wire_call
from evennia_ai.policy.tool_call_modes.form import FORMS
from evennia_ai.ports import LLMRequest
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
    """One assistant's stores in one process."""

    conversation: Any
    inbox: Any
    turns: Any
    journal: Any


class Play(ABC):
    """The people, their rooms, and what they may do next.

    ``calm`` is the tool that every model calls at once while the game comes to rest; it is empty
    before. ``stubborn`` is True if replies may come later than any deadline. ``is_cramped`` is True
    if the context window is small. ``form`` is the request form; ``streams`` is True if replies
    are streamed. ``replay_share`` is how often a model does the same at every try at a line.
    """

    process: Process
    replay_share = 0.0

    def __init__(self, rng: Random, stubborn: bool, minds: int, players: int) -> None:
        self.rng = rng
        self.is_cramped = rng.random() < 0.5
        self.form = rng.choice(FORMS)
        self.streams = rng.random() < 0.6
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
        self, dbref: str, now: Callable[[], datetime], may_go_on: Callable[[], bool]
    ) -> Stores:
        """Return an assistant's stores for a new process."""

    @abstractmethod
    def recover(self, process: Process) -> None:
        """Close the turns that an older process left open."""

    @abstractmethod
    def owing(self) -> set[str]:
        """Return the assistants that somebody waits for."""

    @abstractmethod
    def next_fate(self, name: str) -> str:
        """Return the next moment's fate: ``dies before``, ``dies after``, ``is refused``, or none.

        Only an operation of a store can be refused.
        """

    @abstractmethod
    def note_stored(self, assistant: str, name: str, result: Any) -> None:
        """Note that an operation of a store is done."""

    @abstractmethod
    def note_put(self, assistant: str, event_id: int, heard: IncomingEvent) -> None:
        """Note that an utterance is promised from now on."""

    def note_heard(self, assistant: str, heard: IncomingEvent) -> None:  # noqa: B027  # optional
        """Note that an assistant heard words, stored or not."""

    def note_lost(self, assistant: str, heard: IncomingEvent) -> None:  # noqa: B027  # optional
        """Note that words cannot be stored, and that their speaker is told."""

    @abstractmethod
    def note_deed(self, mind: Mind, call_id: str, deed: Callable[..., Deed]) -> None:
        """Note that something happens in the world.

        ``deed`` makes the row from what the world does not know: the turn, its events, the moment.
        """

    @abstractmethod
    def note_request(self, request: LLMRequest) -> int:
        """Note a request to a model; return its number."""

    @abstractmethod
    def note_end_of_request(self, number: int) -> None:
        """Note the end of a request."""

    @abstractmethod
    def note_failed_tick(self, mind: Mind, failure: Failure) -> None:
        """Note a tick that failed in spite of its guards."""

    @abstractmethod
    def tell(self, text: str) -> None:
        """Add a line to the trace."""

    # --- chance --------------------------------------------------------------------------------

    def remember(self) -> None:
        """Fill a small context window almost completely."""
        past = [
            make_message(*line, audience=sorted(self.players), private=False) for line in EARLIER
        ]
        for mind in self.process.minds.values() if self.is_cramped else ():
            mind.script.conversation.append(past)

    def is_addressed(self, heard: IncomingEvent) -> bool:
        """Return whether words among assistants call for an answer."""
        return not self.calm and self.rng.random() < 0.5

    def tool_delay(self) -> float | None:
        """Return the seconds until a tool's result; None for never."""
        if self.calm or self.rng.random() < 0.9:
            return 0
        return self.rng.choice((0.5, 5.0, None))

    def next_words(self, private: bool) -> str:
        """Return new words, at times with something that a compaction takes for a fact."""
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
        """Stop all faults, bring everybody back, and let all turns end."""
        self.tell("-- coming to rest --")
        for who in self.rooms.place:
            self.rooms.place[who] = ROOMS[0]
        for mind in self.process.minds.values():
            mind.stopped = mind.steered = False
            mind.script.compactor.is_left_over = True
        self.sleepers.clear()
        for tool in ("say", "noop"):
            self.calm = tool
            for mind in self.process.minds.values():
                mind.whim.is_restless = tool == "noop"
            for _ in range(ROUNDS):
                self.wake_all()
                self.act(self.advance, ROUND_S)
                if self.is_at_rest():
                    break

    @abstractmethod
    def is_at_rest(self) -> bool:
        """Return True if nobody waits and nothing is under way."""

    # --- steps ---------------------------------------------------------------------------------

    def wake_all(self) -> None:
        """Tick as the service does."""
        for mind in self.process.minds.values():
            mind.tend()
            mind.wake()

    def somebody(self) -> str | None:
        """Choose a player who is in the game."""
        present = [who for who in self.players if self.rooms.place[who]]
        return self.rng.choice(present) if present else None

    def say(self) -> None:
        """Let a player say something, addressed to somebody or not."""
        speaker = self.somebody()
        if speaker is not None:
            self.heard(speaker, "say", self.rooms.listeners(speaker), self.rng.random() < 0.75)

    def whisper(self) -> None:
        """Let a player whisper to an assistant, at times to a second person too."""
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
        """Let every assistant in ``ears`` hear some words."""
        private = kind == "whisper"
        text, name = self.next_words(private), self.players[speaker]
        self.tell(f"{name} {kind}s {text} ({','.join(sorted(ears))})")
        for dbref, mind in self.process.minds.items():
            if dbref in ears:
                audience = (ears | {speaker}) - {dbref}
                mind.hear(IncomingEvent(kind, speaker, name, text, audience, private, addressed))

    def move(self) -> None:
        """Let somebody move, or leave the game."""
        who = self.rng.choice([*self.players, *self.players, *self.assistants])
        nowhere = (None,) if who in self.players else ()
        self.rooms.place[who] = self.rng.choice((*ROOMS, *nowhere))
        self.wake_all()

    def short_wait(self) -> None:
        """Let a moment pass."""
        self.advance(self.rng.choice((0.2, 0.5, 1.0, 3.0)))

    def long_wait(self) -> None:
        """Let enough time pass for most replies."""
        self.advance(self.rng.choice((6.0, 12.0, 21.0, 40.0)))

    def very_long_wait(self) -> None:
        """Let more time pass than an answer may take."""
        self.advance(310.0)

    def a_mind(self, wanted: Callable[[Mind], Any] = bool) -> Mind:
        """Choose an assistant, preferably one that is ``wanted``."""
        minds = list(self.process.minds.values())
        return self.rng.choice([mind for mind in minds if wanted(mind)] or minds)

    def be_restless(self) -> None:
        """Let an assistant act without being asked."""
        mind = self.a_mind()
        mind.whim.is_restless = True
        mind.wake()

    def be_cramped(self) -> None:
        """Let an assistant compact before its next turn."""
        mind = self.a_mind()
        mind.cramped = True
        mind.wake()

    def doze(self) -> None:
        """Let an assistant fall asleep by its schedule."""
        mind = self.a_mind(lambda mind: mind.script.meter.measure().is_due)
        if not mind.sleep.needs_pass:
            mind.sleep.fall_asleep()
        mind.wake()

    def rouse(self) -> None:
        """Let an assistant wake up."""
        mind = self.a_mind()
        if mind.sleep.is_asleep and not mind.ticking:
            mind.sleep.wake_up("somebody rouses it")

    def order_compaction(self) -> None:
        """Let an admin order a compaction, at times after an undo."""
        mind = self.a_mind(lambda mind: len(mind.script.conversation.view()) > KEPT)
        mind.compact_at_order().addErrback(partial(self.note_failed_tick, mind))
        if self.rng.random() < 0.5:
            self.undo(mind)

    def undo_compaction(self) -> None:
        """Let an admin undo an assistant's last compaction."""
        self.undo(self.a_mind(lambda mind: mind.script.conversation.current.record))

    def undo(self, mind: Mind) -> None:
        """Undo as ``aicompact/undo`` does."""
        if mind.script.compactor.archive.undo() is not None:
            self.tell(f"{mind.name}'s last compaction is undone")

    def see(self) -> None:
        """Fill the context window of an assistant."""
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
        """Let an admin stop or start an assistant."""
        mind = self.a_mind()
        mind.stopped = not mind.stopped
        if mind.stopped:
            mind.drop_turn()
        else:
            mind.wake()

    def steer(self) -> None:
        """Let an admin puppet a character or leave it."""
        mind = self.a_mind()
        mind.steered = not mind.steered
        if not mind.steered:
            mind.lose_lease()
