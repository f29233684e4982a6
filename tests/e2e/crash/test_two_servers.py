"""Two servers on one PostgreSQL database, killed in turn: nothing is lost, nothing done twice.

`EVENNIA_AI_CRASH_SEED` replays a failing campaign, as far as real servers repeat themselves.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from evennia_ai.policy.liveness import BEAT_S, DEAD_S
from evennia_ai.store.turns import INTERRUPTED
from server import running
from tests.e2e.crash.campaign import OPEN, Campaign, schedule
from tests.e2e.crash.crash_game import CrashGame
from tests.e2e.crash.evidence import check_screens, collect
from tests.e2e.crash.model import MarkedModel
from tests.e2e.crash.test_kills import QUIET, a_seed, judged
from tests.e2e.harness import PLAYERS, GameServer
from tests.e2e.test_talk import thinking_with
from tests.invariants import Evidence, TurnRow, Violation, check_append_only, violations
from tests.invariants.turns import check_one_turn_at_a_time
from tests.postgresql import URL, running_server

pytestmark = pytest.mark.campaign

KILLS = 10
KILLS_IN_SOAK = 300
DEATHS_A_SOAK = 12
LATENCY_S = 0.1
DRAIN_S = 60.0
SPARE_MARKS = 1_000_000
TAKEN_OVER = "SELECT epoch FROM evennia_ai_serverprocess"


@dataclass
class Pair:
    """Two games on one database, each with a campaign and players of its own."""

    campaigns: list[Campaign]
    seed: int
    found: list[Violation] = field(default_factory=list)
    seen: Evidence = field(default_factory=Evidence)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    @property
    def games(self) -> list[CrashGame]:
        return [campaign.game for campaign in self.campaigns]

    def kill(self, moment: str) -> None:
        """Kill one of the servers while the players of both talk, and start it again."""
        killed, other = self._random.sample(self.campaigns, 2)
        other.talk()
        killed.kill(moment)
        self._judge()

    def let_one_take_over(self) -> None:
        """Kill one of the servers for so long that the other one takes over its work."""
        killed, other = self._random.sample(self.campaigns, 2)
        killed.talk()
        other.talk()
        time.sleep(self._random.uniform(0, 0.8))
        killed.game.kill_server()
        assert running.wait_until(
            lambda: len(other.game.sql(TAKEN_OVER)) == 1, DEAD_S + 4 * BEAT_S
        ), "the other server did not take over"
        other.talk()
        killed.start()
        self._judge()

    def _judge(self) -> None:
        before, self.seen = self.seen, collect(*self.games)
        self.found += check_append_only(before.messages, self.seen.messages)

    def end(self) -> list[Violation]:
        """Let both games come to rest; return all violations."""
        game = self.games[0]
        for campaign in self.campaigns:
            campaign.drain(DRAIN_S)
        running.wait_until(lambda: not game.sql(OPEN), DRAIN_S)
        evidence = collect(*self.games)
        together = replace(evidence, turns=list(map(in_any_process, evidence.turns)))
        self.found += check_one_turn_at_a_time(together)
        players = [player for campaign in self.campaigns for player in campaign.players]
        return self.found + violations(evidence) + check_screens(players, evidence)


def in_any_process(turn: TurnRow) -> TurnRow:
    """Return a turn that no other may overlap, whichever process runs it.

    When an interrupted one ended is not known; its end is stored by whoever recovers it.
    """
    ended = turn.began if turn.outcome == INTERRUPTED else turn.ended
    return replace(turn, epoch=0, ended=ended)


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """Return two running servers on one database, and their players.

    Evennia finds the sessions of a character by their numbers, also those of the other server. So
    the numbers of the second server begin where those of the first one end.
    """
    seed = a_seed()
    print(f"seed {seed}")
    with ExitStack() as stack:
        env = {URL: stack.enter_context(running_server())}
        template = GameServer.first_start(tmp_path / "template", env=env).folder
        model = stack.enter_context(MarkedModel(tmp_path / "requests.jsonl", LATENCY_S))
        settings = {**thinking_with(model, **QUIET), "SHARED_DATABASE": True}
        campaigns = []
        for number, names in enumerate((PLAYERS[:1], PLAYERS[1:])):
            folder = tmp_path / f"game{number}"
            game = CrashGame.copy_of(template, folder, assistant=settings, env=env)
            stack.callback(game.close)
            game.open()
            for _ in range(number):
                game.connect().close()
            first_mark = 1 + number * SPARE_MARKS
            campaign = Campaign(game, seed + number, names=names, first_mark=first_mark)
            campaigns.append(stack.enter_context(campaign))
        yield Pair(campaigns, seed)


@pytest.mark.timeout(400)
def test_two_servers_that_are_killed_in_turn_lose_and_repeat_nothing(pair: Pair) -> None:
    for moment in schedule(KILLS, pair.seed):
        pair.kill(moment)
    pair.let_one_take_over()
    found = pair.end()
    assert not found, judged(found, pair.seed)


@pytest.mark.soak
@pytest.mark.timeout(3_600)
def test_three_hundred_kills_of_two_servers_lose_and_repeat_nothing(pair: Pair) -> None:
    for number, moment in enumerate(schedule(KILLS_IN_SOAK, pair.seed)):
        pair.kill(moment)
        if number % (KILLS_IN_SOAK // DEATHS_A_SOAK) == 0:
            pair.let_one_take_over()
    found = pair.end()
    assert not found, judged(found, pair.seed)
