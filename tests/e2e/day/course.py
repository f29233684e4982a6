"""Play the plan of a day on a real server."""

import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Self

from tests.e2e.crash.campaign import OPEN
from tests.e2e.day import plan
from tests.e2e.day.database import Database
from tests.e2e.day.model import DayModel
from tests.e2e.day.plan import Cast, Step
from tests.e2e.day.world import DayGame
from tests.e2e.harness import ADMIN
from tests.e2e.telnet import TelnetPlayer, Unexpected

PATIENCE_S = 40.0
REST_S, QUIET_S = 120.0, 2.0
BACK_AFTER_S = 5.0
# An event whose hearers have all left waits for the return of one.
LEFT = (
    "SELECT speaker, db_location_id AS place FROM evennia_ai_event"
    " JOIN scripts_scriptdb ON scripts_scriptdb.id = assistant_id"
    " JOIN objects_objectdb ON objects_objectdb.id = db_obj_id WHERE state = 'waiting'"
)
NEWEST = "SELECT COALESCE(MAX(id), 0) AS newest FROM evennia_ai_{table}"


@dataclass(frozen=True)
class Forgotten:
    """Somebody's words of which nothing may be left: since ``at``, in unix seconds.

    ``last_event`` is the newest event by then.
    """

    who: str
    marks: frozenset[str]
    at: float
    last_event: int


@dataclass
class Day:
    """Plays a day; a context manager, within which everybody is logged in.

    Args:
        look: Called in the middle of the day.
        pace: How many seconds a second of the plan takes.
    """

    game: DayGame
    cast: Cast
    model: DayModel
    pace: float = 1.0
    look: Callable[[Self], None] = lambda day: None
    players: dict[str, TelnetPlayer] = field(default_factory=dict)
    forgotten: list[Forgotten] = field(default_factory=list)
    jumps: list[tuple[int, int]] = field(default_factory=list)
    restarts: list[tuple[float, float]] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    typed: dict[str, set[str]] = field(default_factory=dict)
    walks: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._open = ExitStack()
        self._began = time.monotonic()
        self.database = Database(self.game)
        self._open.callback(self.database.unlock)
        self._acts: dict[str, Callable[[Step], None]] = {
            plan.TYPE: self._type,
            plan.LOOK: lambda step: self.look(self),
            plan.KILL: self._kill,
            plan.RELOAD: lambda step: self._reload(),
            plan.CLOCK: self._turn_clock,
            plan.FORGET: lambda step: self._forget(step.who),
            plan.LOCK: lambda step: self.database.lock(),
            plan.UNLOCK: lambda step: self.database.unlock(),
            plan.DISCONNECT: lambda step: self.database.disconnect(),
            plan.STOP_DATABASE: self._stop_database,
            plan.MODEL: lambda step: self.model.control(**step.order),
            plan.ADMIN: lambda step: self.admin.send(step.line),
        }

    def __enter__(self) -> Self:
        self.model.control(**plan.WELL)
        self.admin = self._open.enter_context(self.game.player(ADMIN))
        for name in self.cast.players:
            self.players[name] = self._open.enter_context(self.game.player(name))
        return self

    def __exit__(self, *details: object) -> None:
        self._open.close()

    def play(self, steps: Iterable[Step]) -> None:
        """Do all steps in their time. What takes longer delays the rest."""
        begun, late = time.monotonic(), 0.0
        for step in steps:
            due = begun + late + self.pace * step.at_s
            time.sleep(max(0.0, due - time.monotonic()))
            if self.game.is_dead():
                self._revive()
            if step.what != plan.TYPE:
                self._note(f"{step.what} {step.who}{step.line} {step.order or ''}".strip())
            self._acts[step.what](step)
            late += max(0.0, time.monotonic() - due - late_enough(step))

    def rest(self) -> None:
        """End all troubles, let the game come to rest, and kill it.

        Those who left before they were heard come back.
        """
        self.database.unlock()
        self.model.control(latency=0.0, faults={"rate": 0.0})
        if self.game.is_dead():
            self._revive()
        self.game.order_file.unlink(missing_ok=True)
        for line in ("aistart all", *(f"aistart {name}" for name in self.cast.minds)):
            self.admin.send(line)
        resting_since = None
        until = self.game.clock() + REST_S
        back_at = time.monotonic() + BACK_AFTER_S
        while resting_since is None or time.monotonic() < resting_since + QUIET_S:
            waiting = [dict(row) for row in self.game.sql(OPEN)]
            if not waiting:
                resting_since = resting_since or time.monotonic()
            else:
                resting_since = None
                assert self.game.clock() < until, f"it does not come to rest: {waiting}"
                if time.monotonic() > back_at:
                    back_at += BACK_AFTER_S
                    for left in self.game.sql(LEFT)[:1]:
                        self.admin.send(f"tel {left['speaker']} = #{left['place']}")
            time.sleep(0.2)
        self.game.kill_server()

    def _note(self, what: str) -> None:
        self.done.append(f"{time.monotonic() - self._began:.0f} s: {what}")

    # --- steps ----------------------------------------------------------------------------------

    def _type(self, step: Step) -> None:
        self.players[step.who].send(step.line)
        if step.line in plan.WAYS:
            self.walks.setdefault(step.who, []).append(time.monotonic())
        if step.mark:
            self.typed.setdefault(step.who, set()).add(step.mark)

    def _kill(self, step: Step) -> None:
        """Kill the server at once, or let it kill itself when it comes to a moment."""
        if step.line:
            self.game.order_file.write_text(step.line)
        else:
            self.game.kill_server()

    def _revive(self) -> None:
        """Start the server that was killed, and let everybody go on."""
        self._restarted(self.game.revive, self._enter)

    def _reload(self) -> None:
        """Reload the server; players stay."""
        self._restarted(self.game.reload)

    def _restarted(self, *works: Callable[[], object]) -> None:
        """Bring the server back, and note from when to when players may have missed something."""
        self.game.order_file.unlink(missing_ok=True)
        began = time.monotonic()
        for work in works:
            work()
        self.restarts.append((began, time.monotonic()))
        self._note(f"all are back after {time.monotonic() - began:.1f} s")

    def _enter(self) -> None:
        for player in (*self.players.values(), self.admin):
            player.mark()
            player.send(f"ic {player.name}")
        for player in (*self.players.values(), self.admin):
            player.expect(f"You become {player.name}|already", PATIENCE_S)

    def _turn_clock(self, step: Step) -> None:
        """Set the clock, and note which turns that falls into."""
        before = self._newest("turn")
        self.game.turn_clock(step.amount)
        time.sleep(0.3)
        self.jumps.append((before, self._newest("turn")))

    def _newest(self, table: str) -> int:
        return int(self.game.sql(NEWEST.format(table=table))[0]["newest"])

    def _stop_database(self, step: Step) -> None:
        self.database.stop()
        time.sleep(step.amount)
        self.database.start()

    def _forget(self, who: str) -> None:
        """Let a player have their words forgotten; what they said before is to be gone."""
        said, began = frozenset(self.typed.get(who, ())), time.monotonic()
        while not self._asks_to_forget(self.players[who]):
            assert self.game.is_dead(), f"{who} was not forgotten:\n{self.players[who].transcript}"
            self._revive()
        self._note(f"{who} is forgotten after {time.monotonic() - began:.1f} s")
        last = self._newest("event")
        self.forgotten.append(Forgotten(who, said, time.time(), last))

    def _asks_to_forget(self, player: TelnetPlayer) -> bool:
        """Return False if no answer comes."""
        player.mark()
        player.send("forgetme")
        try:
            if player.expect(r"yes/\[no\]|Nothing is stored", PATIENCE_S)[0].startswith("yes"):
                player.send("yes")
                player.expect("It is forgotten", PATIENCE_S)
        except Unexpected:
            return False
        return True


def late_enough(step: Step) -> float:
    """Return how long a step takes before it delays the others."""
    return 0.05 if step.what == plan.TYPE else 0.2
