"""Plays the course of `make real` on a running game, and collects what came of each line."""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Self

from evennia_ai.game.texts import FILLER_KEYS, TEXTS
from evennia_ai.turn.prompt_contexts import CONTEXT_TICK_EVENT
from server import running
from tests.e2e.harness import ADMIN, PLAYERS, GameServer, ServerTrouble
from tests.e2e.telnet import TelnetPlayer
from tests.real.answers import Answer, Call, match_calls
from tests.real.course import HOME, Line, Scene, way
from tests.real.recorder import Recorder
from tests.real.screen import read_screen

ANSWER_TIMEOUT_S = 600.0
FOLLOW_TIMEOUT_S = 5.0
COMMAND_TIMEOUT_S = 20.0
SLOW_COMMAND_TIMEOUT_S = 300.0
SAME_CALL_S = 5.0
KEPT_MESSAGES = 4
BACK_ROOM = "cellar"  # where the admin hears no talk
TOO_LATE = "too late"
NO_COMMAND = "synchronise-4711"
COMPACTED = "messages summarised|Nothing was changed|nothing was (?:changed|compacted)"
READY = "the scene is ready"

OWN_SETTINGS = {"autonomous_calls_per_hour": 0, "sleep_after_quiet": 86_400.0}
IGNORED_KEYS = (*FILLER_KEYS, "compacted", "falls_asleep", "wakes_up", "mumbles", "looks_asleep")

TABLES = ("event", "turn", "modelcall", "toolcall")
OPEN_EVENTS = "SELECT COUNT(*) FROM evennia_ai_event WHERE state IN ('waiting', 'claimed')"
OPEN_TURNS = "SELECT COUNT(*) FROM evennia_ai_turn WHERE ended_at IS NULL"
PLACE = """
SELECT place.db_key FROM objects_objectdb AS object
JOIN objects_objectdb AS place ON place.id = object.db_location_id WHERE object.db_key = ?
"""
PUT = "evennia.search_object({what!r})[0].move_to(evennia.search_object({where!r})[0]"
PUT += ", quiet=True, move_hooks=False)"
STAY = "evennia.search_object({who!r})[0].attributes.remove('ai_following')"

Marks = dict[str, int]


@dataclass
class Play:
    """Two players, who walk from character to character, and an admin behind the scenes.

    Args:
        game: A running game without players.
        recorder: The recorder before the game's endpoint.
    """

    game: GameServer
    recorder: Recorder
    answers: list[Answer] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._open = ExitStack()
        self._previous = ""  # the last character, if nothing happened since

    def __enter__(self) -> Self:
        self.admin = self._open.enter_context(self.game.player(ADMIN))
        self._walk(self.admin, BACK_ROOM)
        self.players = {
            name: self._open.enter_context(self.game.player(name)) for name in PLAYERS[:2]
        }
        return self

    def __exit__(self, *details: object) -> None:
        self._open.close()

    def perform(self, scenes: Sequence[Scene]) -> None:
        """Play the scenes; every line has its `Answer` afterwards."""
        for scene in scenes:
            if scene.do:
                self._previous = ""
                self._do(scene.do, scene.character)
            if scene.lines:
                self._go_to(scene.room)
            for line in scene.lines:
                self._say(line)

    # --- a line -----------------------------------------------------------------------------------

    def _say(self, line: Line) -> None:
        """Say a line, wait until its turn is over, and keep the answer."""
        player = self.players[line.by]
        self._put(line)
        marks = self._marks()
        start, began = player.mark(), time.monotonic()
        player.send(line.command)
        in_time = running.wait_until(lambda: self._is_over(marks, line), ANSWER_TIMEOUT_S)
        ended = time.monotonic()
        self._synchronise(player)
        answer = self._read(line, marks, player, start)
        self.answers.append(
            replace(
                answer,
                state=answer.state if in_time else TOO_LATE,
                spoken_s=[at - began for at in answer.spoken_s],
                done_s=ended - began,
                moved=self._was_done(line) if line.moves else None,
            )
        )
        self._previous = "" if line.moves else line.to
        self._restore(line)

    def _read(self, line: Line, marks: Marks, player: TelnetPlayer, start: int) -> Answer:
        """Return what the player's screen and the tables show; times are on the monotonic clock."""
        shown = read_screen(player.clean[start:], line.to, ignored_lines())
        speech = [one for one in shown if one.is_speech]
        return Answer(
            line=line,
            speech=[one.words for one in speech],
            deeds=[one.words for one in shown if not one.is_speech],
            state=self._state(marks, line),
            acts=self._acts(marks),
            calls=self._calls(marks),
            spoken_s=[player.seen_at(start + one.end - 1) for one in speech],
            is_next=self._previous == line.to,
            is_first_to_character=line.to not in {one.line.to for one in self.answers},
        )

    def _marks(self) -> Marks:
        """Return the highest id of each table."""
        return {
            table: self.game.sql(f"SELECT COALESCE(MAX(id), 0) FROM evennia_ai_{table}")[0][0]
            for table in TABLES
        }

    def _new(self, table: str, marks: Marks) -> list[Any]:
        query = f"SELECT * FROM evennia_ai_{table} WHERE id > ? ORDER BY id"
        return self.game.sql(query, [marks[table]])

    def _is_over(self, marks: Marks, line: Line) -> bool:
        """Return True if the line was heard and nobody thinks about it any more."""
        return bool(self._state(marks, line)) and self._is_at_rest()

    def _is_at_rest(self) -> bool:
        return not any(self.game.sql(query)[0][0] for query in (OPEN_EVENTS, OPEN_TURNS))

    def _state(self, marks: Marks, line: Line) -> str:
        """Return the state of the line's own event."""
        heard = [row for row in self._new("event", marks) if row["speaker_name"] == line.by]
        return heard[0]["state"] if heard else ""

    def _acts(self, marks: Marks) -> list[str]:
        """Return the names of the acts in the world that were done."""
        rows = self._new("toolcall", marks)
        return [row["name"] for row in rows if row["world"] and row["state"] == "done"]

    def _calls(self, marks: Marks) -> list[Call]:
        """Return the model calls with their exchanges."""
        logged = [
            Call(
                row["purpose"],
                datetime.fromisoformat(row["at"]).replace(tzinfo=UTC).timestamp(),
                row["purpose"] == CONTEXT_TICK_EVENT.name,
                row["error_kind"],
            )
            for row in self._new("modelcall", marks)
        ]
        return match_calls(logged, self.recorder.exchanges(), SAME_CALL_S)

    # --- errands ----------------------------------------------------------------------------------

    def _put(self, line: Line) -> None:
        """Put things where the line needs them; players see nothing of it."""
        orders = [PUT.format(what=what, where=where) for what, where in line.put.items()]
        if line.moves:
            orders.append(STAY.format(who=line.to))
        self._order(orders)

    def _was_done(self, line: Line) -> bool:
        """Return True if the errand was done, after the speaker took the line's way."""
        if line.way:
            self._walk(self.players[line.by], line.way)
        return running.wait_until(
            lambda: self._place_of(line.moves) == line.target, FOLLOW_TIMEOUT_S if line.way else 0
        )

    def _restore(self, line: Line) -> None:
        """Bring the character and the speaker back after an errand."""
        if not line.moves:
            return
        home = HOME[line.to]
        stay = STAY.format(who=line.to)
        self._order([stay, PUT.format(what=line.to, where=home)])
        self._go_to(home)

    def _place_of(self, name: str) -> str:
        return str(self.game.sql(PLACE, [name])[0][0])

    def _order(self, orders: Sequence[str]) -> None:
        """Run Python in the game as the superuser."""
        if orders:
            told = f"self.msg({READY[:8]!r} + {READY[8:]!r})"
            self.admin.mark()
            self.admin.send(f"py {'; '.join([*orders, told])}")
            self.admin.expect(READY, COMMAND_TIMEOUT_S)

    # --- moves ------------------------------------------------------------------------------------

    def _go_to(self, room: str) -> None:
        """Let both players walk to a room, and wait until nobody thinks about their arrival."""
        for player in self.players.values():
            for exit_name in way(self._place_of(player.name), room):
                self._walk(player, exit_name)
                self._previous = ""
        running.wait_until(self._is_at_rest, ANSWER_TIMEOUT_S)

    def _walk(self, player: TelnetPlayer, exit_name: str) -> None:
        player.mark()
        player.send(exit_name)
        player.expect("Exits:", COMMAND_TIMEOUT_S)

    def _synchronise(self, player: TelnetPlayer) -> None:
        """Wait until everything that was sent to a player before has come."""
        player.send(NO_COMMAND)
        player.expect(f"'{NO_COMMAND}'", COMMAND_TIMEOUT_S)

    # --- what the admin does ----------------------------------------------------------------------

    def _do(self, what: str, character: str) -> None:
        """Do what a scene asks for before its lines."""
        spoken_to = list(dict.fromkeys(answer.line.to for answer in self.answers))
        steps: dict[str, Callable[[], object]] = {
            "compact": lambda: [self._compact(name) for name in spoken_to],
            "sleep": lambda: self._sleep(character),
            "reload": self._reload,
        }
        steps[what]()

    def _compact(self, name: str) -> None:
        """Compact a character's conversation down to its newest messages."""
        said = self._command(f"aicompact/keep {name}/{KEPT_MESSAGES}", COMPACTED)
        self.notes.append(f"compaction of {name}: {said}")

    def _sleep(self, name: str) -> None:
        """Put a character to sleep, wait for the end of its sleep pass, and wake it."""
        self._command(f"aisleep {name}", "is asleep|will fall asleep")
        query = "SELECT outcome FROM evennia_ai_sleeppass ORDER BY id DESC LIMIT 1"
        running.wait_until(
            lambda: [row[0] for row in self.game.sql(query)] not in ([], [""]),
            SLOW_COMMAND_TIMEOUT_S,
        )
        outcome = "".join(row[0] for row in self.game.sql(query))
        self.notes.append(f"sleep pass of {name}: {outcome or 'not finished'}")
        self._command(f"aiwake {name}", "is awake|stays awake")

    def _reload(self) -> None:
        """Reload the server; the players stay connected."""
        self.notes.append(f"reload: {self.game.reload():.0f} s")

    def _command(self, command: str, pattern: str) -> str:
        """Type a command as the admin; return the line that answers it."""
        self.admin.mark()
        self.admin.send(command)
        try:
            return self.admin.expect(rf".*(?:{pattern}).*", SLOW_COMMAND_TIMEOUT_S)[0]
        except AssertionError as error:
            raise ServerTrouble(f"{command}: {error}\n{self.game.last_words()}") from error


def ignored_lines() -> list[str]:
    """Return patterns of the game's own lines about a character, which no model wrote."""
    return [re.escape(TEXTS[key].removeprefix("{name} ")) for key in IGNORED_KEYS]
