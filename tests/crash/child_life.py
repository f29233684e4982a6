"""One life of a killed process: the engine on our tables, and a world that survives it.

Django must be set up. Each promise to a player and each deed that a player noticed is one write to
a journal, so that it survives any kill.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from django.db import connection
from django.db.models import Max
from evennia.objects.models import ObjectDB

import evennia_ai.store.segments  # noqa: F401  # stores the records
from evennia_ai.messages import IncomingEvent
from evennia_ai.models import Compaction, Event, Message, ToolCall, Turn
from evennia_ai.policy.context.projection import LogInView
from evennia_ai.ports import LLMRequest, TurnRecord
from evennia_ai.ports.journal import Journal
from evennia_ai.store.conversation import TableConversation
from evennia_ai.store.inbox import TableInbox
from evennia_ai.store.turns import TableTurns, assistants_with_work, open_turns, recover_turn
from evennia_ai.testing.minds import StandInServices
from tests.crash.fast_points import AFTER, BEFORE, Kill, steps_towards
from tests.invariants import Deed, Put, RequestRow
from tests.reading_requests import is_summary, step_of
from tests.simulation.mind import Mind
from tests.simulation.model import is_extraction
from tests.simulation.play import MINDS, Play, Stores
from tests.simulation.process import Process
from tests.simulation.rows import parts_of, view_row
from tests.simulation.schedule import OPEN, quiet_logs

STEPS_A_LIFE = 12
URGED = 2
STEPS_AFTER = 6
WORDS_A_LIFE = 200
INSTANTS_A_LIFE = 10_000
TIMED = (Compaction, Event, Turn, ToolCall)
BEGINNING = StandInServices(None).now()
SCRIPT_IDS = {dbref: number for number, dbref in enumerate(MINDS, 1)}
DBREFS = {number: dbref for dbref, number in SCRIPT_IDS.items()}

STEPS: dict[Callable[[Play], None], int] = {
    Play.say: 24,
    Play.whisper: 10,
    Play.short_wait: 16,
    Play.long_wait: 8,
    Play.wake_all: 4,
    Play.be_restless: 3,
    Play.be_cramped: 4,
    Play.doze: 4,
    Play.rouse: 1,
    Play.order_compaction: 3,
    Play.undo_compaction: 2,
    Play.move: 6,
    Play.stop_or_start: 1,
    Play.steer: 1,
}


def latest_time() -> float:
    """Return the game's time, in seconds, at the last fact of the life before."""
    latest = [model.objects.aggregate(Max("at"))["at__max"] for model in TIMED]
    return max((at - BEGINNING).total_seconds() for at in (*latest, BEGINNING) if at is not None)


class Body:
    """A stand-in for a character: only the Attributes that a journal needs."""

    def __init__(self, dbref: str) -> None:
        self.dbref = self.key = dbref
        self.id = int(dbref[1:])
        row = ObjectDB(id=self.id)
        row._state.db, row._state.adding = connection.alias, False
        self.db_attributes = row.db_attributes
        self.__dbclass__ = ObjectDB


class Chronicle:
    """A file of facts, one to a line; each line is written whole or not at all."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def write(self, kind: str, fact: Any) -> None:
        """Write a fact to the file."""
        line = json.dumps([kind, fact], default=sorted)
        os.write(self._file, f"{line}\n".encode())


class Executioner:
    """Kills this process with SIGKILL at the chosen moment."""

    def __init__(self, kill: Kill | None, journal: Chronicle) -> None:
        self.kill = kill
        self.journal = journal
        self.left = kill.number if kill is not None else 0
        self.last_words: Callable[[], None] = lambda: None
        self.doing = ""

    def passes(self, moment: str) -> None:
        """Note a moment; kill the process if it was chosen."""
        if self.is_due(moment):
            self.strike()

    def is_due(self, moment: str) -> bool:
        """Return True if this pass of a moment was chosen."""
        if self.kill is None or moment != self.kill.moment:
            return False
        self.left -= 1
        return self.left == 0

    def strike(self) -> None:
        """Kill this process; nothing is cleaned up."""
        self.last_words()
        self.journal.write("killed", self.kill.moment if self.kill else "")
        os.kill(os.getpid(), signal.SIGKILL)

    def watch_database(self) -> None:
        """Make every writing statement and every commit a moment."""
        connection.ensure_connection()
        connection.execute_wrappers.append(self._statement)
        commit = connection._commit
        connection._commit = partial(self._around, "commit", commit)

    def _statement(self, execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith(("SELECT", "PRAGMA")):
            return execute(sql, *rest)
        return self._around("statement", execute, sql, *rest)

    def _around(self, moment: str, do: Any, *arguments: Any) -> Any:
        self.passes(f"{BEFORE} {moment}")
        self.passes(f"{BEFORE} {moment} of {self.doing}")
        result = do(*arguments)
        self.passes(f"{AFTER} {moment}")
        self.passes(f"{AFTER} {moment} of {self.doing}")
        return result


class MortalProcess(Process):
    """A process that a kill really ends."""

    sim: Life

    def operate(self, owner: str, name: str, operation: Callable[[], Any]) -> Any:
        """Run an operation as the simulation does, and note its moments."""
        executioner = self.sim.executioner

        def known() -> Any:
            executioner.doing = name
            try:
                return operation()
            finally:
                executioner.doing = ""

        return super().operate(owner, name, known)

    def moment(self, name: str) -> None:
        """Pass a moment outside the stores."""
        self.sim.executioner.passes(name)

    def die(self, where: str) -> None:
        """kill -9."""
        self.sim.executioner.strike()


class Life(Play):
    """The ``number``-th life of a game: what happens from a start to a kill."""

    def __init__(self, game: int, number: int, kill: Kill | None, folder: Path) -> None:
        rng = Random(f"game {game}")
        minds, players = rng.choice((1, 2, 3)), rng.choice((1, 2, 3))
        super().__init__(Random(f"game {game} life {number}"), False, minds, players)
        self.folder = folder
        self.journal = Chronicle(folder / "journal")
        self.trace = Chronicle(folder / "trace")
        self.executioner = Executioner(kill, self.journal)
        self.words = number * WORDS_A_LIFE
        self.instants = number * INSTANTS_A_LIFE
        self.time = latest_time()
        self.begun: dict[str, TurnRecord] = {}
        self.is_cramped |= bool(steps_towards(kill))
        self.process = MortalProcess(self, number)

    def run(self, is_last: bool) -> None:
        """Start and play; in the last life, come to rest."""
        with quiet_logs():
            self.executioner.watch_database()
            self.process.start()
            self.note_views("view found")
            self.executioner.last_words = partial(self.note_views, "view lost")
            if not self.had_a_past:
                self.remember()
            for step in self.choose_steps():
                step(self)
                self.advance(0.0)
            if is_last:
                self.come_to_rest()

    def choose_steps(self) -> list[Callable[[Play], None]]:
        """Choose the next steps, now and then those that lead to the chosen moment."""
        steps = self.rng.choices(list(STEPS), list(STEPS.values()), k=STEPS_A_LIFE)
        urged = [getattr(Play, name) for name in steps_towards(self.executioner.kill)]
        return [*urged * URGED, *steps[: STEPS_AFTER if urged else None]]

    # --- the database --------------------------------------------------------------------------

    def open_stores(
        self, dbref: str, now: Callable[[], datetime], may_go_on: Callable[[], bool]
    ) -> Stores:
        """Return the stores on the tables."""
        conversation = TableConversation(SCRIPT_IDS[dbref], now)
        turns = TableTurns(SCRIPT_IDS[dbref], conversation, now, may_go_on)
        inbox, journal = TableInbox(SCRIPT_IDS[dbref], now), Journal(Body(dbref))
        return Stores(conversation, inbox, turns, journal)

    def recover(self, process: Process) -> None:
        """Close the turns that an older process left open."""

        def close_lost_turns() -> None:
            running = {mind.script.turns.current for mind in process.minds.values()}
            for turn_id in open_turns():
                if turn_id not in running:
                    recover_turn(turn_id, process.now())

        process.operate("", "recovery", close_lost_turns)

    def owing(self) -> set[str]:
        """Return the assistants that somebody waits for."""
        return {DBREFS[number] for number in assistants_with_work()}

    def is_at_rest(self) -> bool:
        """Return True if nobody waits and nothing is under way."""
        waits = Event.objects.filter(state__in=OPEN).exists()
        return not waits and not any(mind.ticking for mind in self.process.minds.values())

    @property
    def had_a_past(self) -> bool:
        """Return True if an earlier life was long enough for talk."""
        return Message.objects.exists()

    # --- what is noted -------------------------------------------------------------------------

    def next_fate(self, name: str) -> str:
        """Return whether the chosen moment has come."""
        for side in (BEFORE, AFTER):
            if self.executioner.is_due(f"{side} {name}"):
                return f"dies {side}"
        return ""

    def note_views(self, kind: str) -> None:
        """Return what each assistant has in view in memory.

        It is empty if an operation was half done: then the database may be ahead of memory.
        """
        if self.executioner.doing:
            return
        for dbref, mind in self.process.minds.items():
            view: LogInView = mind.script.conversation.current
            fact = asdict(view_row(dbref, view.items))
            fact |= {"masked": view.masked_upto, "parts": parts_of(view.record)}
            fact |= {"life": self.process.epoch}
            self.journal.write(kind, fact)

    def tell(self, text: str) -> None:
        """Add a line to the trace, which is printed with a violation."""
        self.trace.write(f"{self.process.epoch} {self.process.clock.seconds():.2f}", text)

    def note_failed_tick(self, mind: Mind, failure: Any) -> None:
        """Raise: no tick may fail here."""
        self.journal.write("trouble", f"{mind.name}: a tick failed: {failure.getTraceback()}")

    def note_stored(self, assistant: str, name: str, result: Any) -> None:
        """Journal the events of a turn."""
        if name == "turns.begin":
            self.begun[assistant] = result
            events = [event.id for event in result.events]
            fact = {"turn": result.id, "events": events, "epoch": self.process.epoch}
            self.journal.write("turn", fact)
        elif name == "turns.finish":
            self.tell(f"{self.assistants[assistant]} ends a turn")

    def note_put(self, assistant: str, event_id: int, heard: IncomingEvent) -> None:
        """Journal an utterance: from now on it is promised."""
        self.journal.write("put", asdict(Put(assistant, event_id, heard.text)))

    def note_deed(self, mind: Mind, call_id: str, deed: Callable[..., Deed]) -> None:
        """Journal a deed that somebody noticed."""
        turn = self.begun[mind.dbref]
        events = tuple(event.id for event in turn.events)
        moment = self.process.now().timestamp()
        self.journal.write("deed", asdict(deed(turn_id=turn.id, events=events, moment=moment)))

    def note_request(self, request: LLMRequest) -> int:
        """Journal a request and who would hear its answer."""
        assistant = next(who for who, name in MINDS.items() if name == request.source.mind.who.name)
        text = "\n".join(str(message["content"]) for message in request.messages)
        row = RequestRow(assistant, 0, 0, None, text)
        if not is_summary(request):
            turn = self.begun[assistant]
            told_alone = turn.private or is_extraction(request)
            audience = turn.audience if told_alone else self.rooms.listeners(assistant)
            row = RequestRow(assistant, turn.id, step_of(request), audience, text)
        self.journal.write("request", asdict(row))
        return 0

    def note_end_of_request(self, number: int) -> None:
        """Do nothing: simulated games check the ends of requests."""
