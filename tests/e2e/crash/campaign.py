"""Three players talk to an assistant while its server is killed again and again."""

import random
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import Self

from server import running
from tests.e2e.crash.crash_game import CrashGame
from tests.e2e.harness import PLAYERS
from tests.e2e.telnet import TelnetPlayer

OPEN = (
    "SELECT assistant_id, state || ' ' || kind || ': ' || text AS what FROM evennia_ai_event"
    " WHERE state IN ('waiting', 'claimed', 'doubtful') UNION ALL"
    " SELECT assistant_id, context || ' turn ' || id FROM evennia_ai_turn WHERE ended_at IS NULL"
)
HEARD = "SELECT id FROM evennia_ai_event WHERE text LIKE ?"
POINTS = (
    "inbox row", "turn begun", "model called", "call recorded", "intent stored", "act executed",
    "outcome stored", "turn finished", "turn recovered",
)  # fmt: skip
NAMED = tuple(f"{side} {point}" for point in POINTS for side in ("before", "after"))
AT_START = tuple(moment for moment in NAMED if "recovered" in moment)
PHRASES = (
    "say Mira, what about {mark}?",
    "say Mira, wave at me for {mark}",
    "say Mira, give me the mug, that is {mark}",
    "whisper Mira = keep {mark} to yourself",
)
LET_GO = "drop mug"
LONGEST_TALK_S = 0.8
LONGEST_START_S = 0.5
PATIENCE_S = 20.0


@dataclass
class Campaign:
    """Kills a game's server, restarts it, and lets its players go on.

    Args:
        game: Its portal is open and no server runs.
        seed: Decides all random choices.
    """

    game: CrashGame
    seed: int
    players: list[TelnetPlayer] = field(default_factory=list)
    moments: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._marks = (f"k{number}" for number in count(1))
        self._last = ""  # mark of the line that was spoken last
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self.start()
        self.players = [self._open.enter_context(self.game.player(name)) for name in PLAYERS]
        return self

    def __exit__(self, *details: object) -> None:
        self._open.close()

    def kill(self, moment: str = "") -> None:
        """Kill the server at a named moment, or at a random one, and start it again.

        Lines from before may still be waiting.
        """
        self.moments.append(moment or "at random")
        if moment in AT_START:
            self._kill_with_open_turns()
        elif moment:
            self._kill_at(moment)
        else:
            self._kill_at_random()
        self.start()

    def start(self) -> None:
        """Start the server until it stays up, and log everybody in."""
        self.game.start_server()
        while not self.game.await_server():
            self.game.start_server()
        for player in self.players:
            player.mark()
            player.send(f"ic {player.name}")
        for player in self.players:
            player.expect(f"You become {player.name}", PATIENCE_S)

    def drain(self, timeout_s: float) -> None:
        """Let the game come to rest.

        A last line to the assistant takes in what it overheard.
        """
        self.game.wait_until(self._is_idle, timeout_s)
        self._last = next(self._marks)
        self.players[0].send(f"say Mira, that was {self._last}")
        self.game.wait_until(self._is_at_rest, timeout_s)

    def _is_idle(self) -> bool:
        return not self.game.sql(OPEN)

    def _is_at_rest(self) -> bool:
        """Return True once the last line was heard and nobody waits for anything."""
        return bool(self.game.sql(HEARD, [f"%{self._last}%"])) and self._is_idle()

    def talk(self) -> None:
        """Let some players speak; each line has a mark of its own."""
        for player in self._random.sample(self.players, self._random.randint(1, len(self.players))):
            self._last = next(self._marks)
            player.send(LET_GO)
            player.send(self._random.choice(PHRASES).format(mark=self._last))

    def _kill_at(self, moment: str) -> None:
        """Kill the server at a named moment, in whichever turn reaches it."""
        if self._random.random() < 0.5:
            self.talk()
            time.sleep(self._random.uniform(0, LONGEST_TALK_S))
        self.game.order_file.write_text(moment)
        until = self.game.clock() + PATIENCE_S
        while not self.game.is_dead() and self.game.clock() < until:
            self.talk()
            running.wait_until(self.game.is_dead, 1.0)
        assert self.game.is_dead(), f"nothing came by {moment!r}"

    def _kill_at_random(self) -> None:
        """Kill the server at a random moment of a talk or a start."""
        self.talk()
        time.sleep(self._random.uniform(0, LONGEST_TALK_S))
        self.game.kill_server()
        if self._random.random() < 0.3:
            self.moments.append("at random in the start")
            self.game.start_server()
            time.sleep(self._random.uniform(0, LONGEST_START_S))
            self.game.kill_server()

    def _kill_with_open_turns(self) -> None:
        """Kill the server while it recovers the turns that a kill left open."""
        self._kill_at("after turn begun")
        self.game.order_file.write_text(self.moments[-1])
        self.game.start_server()
        self.game.wait_until(self.game.is_dead, PATIENCE_S)
        assert self.game.is_dead(), f"nothing came by {self.moments[-1]!r}"


def schedule(kills: int, seed: int) -> list[str]:
    """Return the moments of the kills, shuffled: each named one, the rest random."""
    moments = [*NAMED, *[""] * (kills - len(NAMED))][:kills]
    random.Random(seed).shuffle(moments)
    return moments
