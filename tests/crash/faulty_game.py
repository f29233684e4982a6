"""Hours of a game in which the machine's clock jumps at every await and the database refuses.

In every other game, the driven ones, the clock jumps at each moment, turns are broken into at each
of their commits while more is said, and models do the same at every try at a line.

The engine runs on our tables. Django must be set up. Planned work goes by a steady clock, as in a
server; only the times that are stored and compared jump.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.utils import Error, OperationalError

from evennia_ai.errors import StoreUnavailable
from evennia_ai.messages import IncomingEvent, ToolCallRequest
from evennia_ai.models import Event
from evennia_ai.ports import ToolContext
from tests.crash import child_rows
from tests.crash.child_life import BEGINNING, SCRIPT_IDS, STEPS, Life
from tests.faults.django_errors import ERRORS
from tests.invariants import Evidence, Violation, violations
from tests.simulation.mind import Mind
from tests.simulation.play import Play
from tests.simulation.process import Process
from tests.simulation.schedule import quiet_logs
from tests.simulation.world import Act

JUMPS_S = tuple(sign * size for size in (2, 60, 3_600, 86_400) for sign in (-1, 1))
REFUSED_SHARE, JUMP_SHARE, RAISES_SHARE, BREAKS_IN_SHARE = 0.01, 0.3, 0.1, 0.1
# Of driven games.
REPLAY_SHARE, SPEAKS_ON_SHARE = 0.9, 0.9
# How often a turn is broken into behind a commit: the first one about a line, and a later one.
BREAKS_COMMIT_SHARES = {
    "turns.begin": (0.05, 0.4),
    "turns.record_model_call": (0.05, 0.2),
    "turns.record_outcome": (0.5, 0.2),
}
OUTAGES_S = (0.3, 5.0, 40.0)
ENDS = ("answered", "noted", "excused")
READS = ("SELECT", "PRAGMA", "ROLLBACK", "RELEASE", "SAVEPOINT")


class FaultyProcess(Process):
    """A process whose machine's clock jumps at each of its moments."""

    sim: FaultyGame

    def __init__(self, sim: FaultyGame, epoch: int) -> None:
        super().__init__(sim, epoch)
        self.services.now = self.jumping_now  # type: ignore[method-assign]

    def jumping_now(self) -> datetime:
        """Return the machine's time."""
        return BEGINNING + timedelta(seconds=self.clock.seconds() + self.sim.offset_s)

    def now(self) -> datetime:
        """Return the machine's time for a row, and note which moment that is."""
        at = super().now()
        self.sim.moments[at.timestamp()] = float(self.sim.instants)
        return at

    def operate(self, owner: str, name: str, operation: Callable[[], Any]) -> Any:
        """Run an operation of a store between two jumps."""
        self.sim.jump()
        result = super().operate(owner, name, operation)
        self.sim.jump()
        if self.sim.is_driven and name in BREAKS_COMMIT_SHARES:
            self.sim.break_commit(self.minds[owner], BREAKS_COMMIT_SHARES[name])
        return result

    def moment(self, name: str) -> None:
        """Pass a moment outside the stores; a tool may raise after its deed."""
        self.sim.jump()
        super().moment(name)
        if name == "after a deed" and self.sim.chance(RAISES_SHARE):
            self.sim.count["tools that raised"] += 1
            raise RuntimeError("a hook of the game")

    def do(self, context: ToolContext, call: ToolCallRequest, act: Act) -> None:
        """Let something happen; at times an admin puppets the character at that moment."""
        super().do(context, call, act)
        if self.sim.chance(BREAKS_IN_SHARE):
            self.sim.break_into(self.minds[context.character])


class FaultyGame(Life):
    """A game of some hours; ``count`` says how often each fault came."""

    process: FaultyProcess

    def __init__(self, seed: int, folder: Path) -> None:
        self.offset_s, self.down_until = 0, 0.0
        self.outage: type[Error] = OperationalError
        self.moments: dict[float, float] = {}
        self.count: Counter[str] = Counter()
        self.unheard: Counter[tuple[str, str]] = Counter()
        self.lost_leases: set[tuple[str, int | None]] = set()  # (assistant, turn)
        self.broken: list[Violation] = []
        self.faulty = False
        self.is_driven = seed % 2 == 0
        self.replay_share = REPLAY_SHARE if self.is_driven else 0.0
        super().__init__(seed, 1, None, folder)
        self.process = FaultyProcess(self, 1)

    # --- the game ------------------------------------------------------------------------------

    def play(self, seconds: float) -> list[Violation]:
        """Play for so long, come to rest, and return what broke a promise."""
        connection.ensure_connection()
        with quiet_logs(), connection.execute_wrapper(self.refuse):
            self.process.start()
            self.faulty = True
            while self.process.clock.seconds() < seconds:
                self.act(self.rng.choices(list(FAULTY_STEPS), list(FAULTY_STEPS.values()))[0], self)
                self.act(self.advance, 0.0)
            self.faulty = False
            self.come_to_rest()
            self.find_deaf()
            self.come_to_rest()
        return self.judge()

    def act(self, step: Callable[..., Any], *args: Any) -> None:
        """Take a step; its caller is told if the database refuses."""
        try:
            step(*args)
        except (StoreUnavailable, Error) as error:
            self.tell(f"nobody took {error!r}")

    def chance(self, share: float) -> bool:
        """Return True now and then while faults happen."""
        return self.faulty and self.rng.random() < share

    def jump(self) -> None:
        """Set the machine's clock: now and then, in driven games always."""
        if self.chance(1.0 if self.is_driven else JUMP_SHARE):
            self.offset_s = self.rng.choice((0, self.offset_s + self.rng.choice(JUMPS_S)))
            self.count["jumps"] += 1

    def refuse(self, execute: Any, sql: str, *rest: Any) -> Any:
        """Let a statement fail: any while the database is down, else a writing one at times."""
        error = None
        if self.faulty and self.process.clock.seconds() < self.down_until:
            error = self.outage
        elif not sql.startswith(READS) and self.chance(REFUSED_SHARE):
            error = self.rng.choice(ERRORS)
        if error is None or sql.startswith("ROLLBACK"):
            return execute(sql, *rest)
        self.count[f"{error.__name__} at {' '.join(sql.split()[:3])}"] += 1
        raise error("the database refused")

    # --- further steps -------------------------------------------------------------------------

    def go_down(self) -> None:
        """Let the database be away for some seconds."""
        self.outage = self.rng.choice(ERRORS)
        self.down_until = self.process.clock.seconds() + self.rng.choice(OUTAGES_S)

    def steer_for_a_moment(self) -> None:
        """Let an admin puppet a character and leave it at once."""
        self.break_into(self.a_mind(lambda mind: mind.ticking))

    def break_into(self, mind: Mind) -> None:
        """End the lease of a mind's open turn."""
        self.lost_leases.add((mind.dbref, mind.script.mind.turns.current))
        self.count["turns broken into"] += 1
        mind.lose_lease()

    def break_commit(self, mind: Mind, shares: Sequence[float]) -> None:
        """Break into a turn behind a commit now and then, mostly while somebody speaks on."""
        turn = self.begun[mind.dbref]
        if not self.chance(shares[any(event.attempts for event in turn.events)]):
            return
        if turn.events and self.chance(SPEAKS_ON_SHARE):
            self.process.clock.callLater(0, self.act, self.speak_on, mind, turn.events[0].heard)
        self.break_into(mind)  # the next turn begins after the words

    def speak_on(self, mind: Mind, heard: IncomingEvent) -> None:
        """Let somebody say more, to the same people."""
        text = self.next_words(heard.private)
        self.tell(f"{heard.speaker_name} adds {text} for {mind.name}")
        mind.hear(replace(heard, text=text))

    def restart(self) -> None:
        """Drop the process, killed or stopped in good order, and start the next.

        Words that could not be stored until then are gone; a stop in good order tells of them.
        """
        for mind in self.process.minds.values():
            mind.queue.close(StoreUnavailable("the server goes down."))
        if self.rng.random() < 0.5:
            self.process.quiesce()
        self.process.alive = self.process.accepting = False
        self.time = self.process.clock.seconds()
        self.process = FaultyProcess(self, self.process.epoch + 1)
        self.count["restarts"] += 1
        self.process.start()

    # --- what is noted and judged --------------------------------------------------------------

    def note_deed(self, mind: Mind, call_id: str, deed: Callable[..., Any]) -> None:
        """Journal a deed; one of a turn that was broken into breaks P2."""
        if (mind.dbref, self.begun[mind.dbref].id) in self.lost_leases:
            words = "a deed was done after an admin broke into its turn"
            self.broken.append(Violation("P2", mind.dbref, words))
        super().note_deed(mind, call_id, deed)

    def note_heard(self, assistant: str, heard: IncomingEvent) -> None:
        """Note words that must be stored, or told of as lost."""
        self.unheard[assistant, heard.text] += 1

    def note_put(self, assistant: str, event_id: int, heard: IncomingEvent) -> None:
        """Note that words are stored."""
        self.unheard[assistant, heard.text] -= 1
        super().note_put(assistant, event_id, heard)

    def note_lost(self, assistant: str, heard: IncomingEvent) -> None:
        """Note that a speaker is told of lost words."""
        self.unheard[assistant, heard.text] -= 1
        self.count["lines told of as lost"] += 1

    def find_deaf(self) -> None:
        """Speak to every assistant once more: whoever does not answer is deaf or hangs."""
        speaker = next(iter(self.players))
        for dbref, mind in self.process.minds.items():
            self.calm = "say"
            text, last = self.next_words(False), Event.objects.order_by("-id").first()
            heard = IncomingEvent(
                "say", speaker, self.players[speaker], text, frozenset({speaker}), False
            )
            mind.hear(replace(heard, addressed=True))
            self.advance(60.0)
            rows = Event.objects.filter(assistant_id=SCRIPT_IDS[dbref], text=text, state__in=ENDS)
            if not rows.filter(id__gt=last.id if last else 0).exists() or mind.ticking:
                self.broken.append(Violation("P1", dbref, "is deaf or hangs"))

    def judge(self) -> list[Violation]:
        """Return all that broke a promise."""
        silent = [
            Violation("P1", who, f"{text!r} was neither stored nor told of as lost")
            for (who, text), left in self.unheard.items()
            if left > 0
        ]
        facts = child_rows.read_journal(self.folder / "journal")
        failed = [Violation("P1", "", words) for words in facts["trouble"]]
        rows = in_order(child_rows.gather(facts), self.moments)
        return [*self.broken, *silent, *failed, *violations(rows)]


def in_order(evidence: Evidence, moments: Mapping[float, float]) -> Evidence:
    """Return the evidence with the order of its rows in place of times, which jump."""

    def ordered(row: Any) -> Any:
        times = {
            name: moments.get(getattr(row, name), getattr(row, name))
            for name in ("moment", "began", "ended")
            if name in {field.name for field in fields(row)}
        }
        return replace(row, **times)

    for name in ("turns", "acts", "messages", "deeds"):
        setattr(evidence, name, [ordered(row) for row in getattr(evidence, name)])
    return evidence


FAULTY_STEPS: dict[Callable[[FaultyGame], None], int] = {
    **{step: weight for step, weight in STEPS.items() if step is not Play.steer},
    FaultyGame.go_down: 2,
    FaultyGame.steer_for_a_moment: 4,
    FaultyGame.restart: 1,
}
