"""Games with crashes, reloads, late replies and a failing database break no promise.

`python -m tests.simulation --seed N` replays a seed and prints its trace.
"""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from evennia_ai.policy.tool_call_modes.form import FORMS
from tests.simulation.schedule import Simulation

ROOT = Path(__file__).resolve().parents[2]
GAMES = 160
GAMES_A_SOAK = 50_000
A_SOAK_S = 3_600
DIGEST = "from tests.simulation.schedule import Simulation as S\n{body}"
SIX = "for n in range(6): s = S(n); s.run(); print(s.digest())"


class Played:
    """Games that were played: their violations, and the first of them to be looked at."""

    def __init__(self, seeds):
        self.games = []
        self.violations = []
        for seed in seeds:
            game = Simulation(seed)
            replay = f"python -m tests.simulation --seed {seed}"
            self.violations += [f"{replay}: {violation}" for violation in game.run()]
            if len(self.games) < GAMES:
                self.games.append(game)


@pytest.fixture(scope="module")
def played():
    return Played(range(GAMES))


def digests(hash_seed):
    """Return the hashes of six games, played in a process with this hash seed."""
    run = subprocess.run(
        [sys.executable, "-c", DIGEST.format(body=SIX)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.split()


@pytest.mark.campaign
def test_hundreds_of_games_break_no_promise(played):
    assert played.violations == []


@pytest.mark.soak
@pytest.mark.timeout(A_SOAK_S)
def test_fifty_thousand_games_break_no_promise():
    assert Played(range(GAMES, GAMES + GAMES_A_SOAK)).violations == []


def test_a_seed_always_gives_the_same_game():
    first, second = digests("1"), digests("2")
    assert first == second
    assert len(set(first)) == len(first)


@pytest.mark.campaign
def test_the_games_are_worth_playing(played):
    """Check that all faults and outcomes occur, since only these are tested."""
    games = played.games
    told = "\n".join(line for game in games for line in game.trace)
    signs = ("KILLED before", "KILLED after", "is refused", "reload", "whispers", "DOES give")
    for sign in (*signs, "falls asleep", "wakes up", "is undone"):
        assert sign in told
    assert {(game.form, game.streams) for game in games} == set(product(FORMS, (True, False)))
    for sign in ("a stream breaks off", "moves in mid-stream", "arrives after the end"):
        assert sign in told
    outcomes = {turn.outcome for g in games for s in g.stores.values() for turn in s.turns}
    assert outcomes >= {"answered", "noted", "excused", "interrupted", "unheard", "expired"}
    moves = [move for g in games for s in g.stores.values() for move in s.conversation.moves]
    reasons = {move.record.reason for move in moves if move.record}
    assert reasons >= {"emergency", "overflow", "manual", "sleep"}
    assert any(move.record is None for move in moves)
    assert any(move.undone for move in moves)
    books = [book for g in games for book in g.notebooks.values()]
    entries = [e for book in books for part in book.values() for e in part.records.values()]
    assert {entry["audience"] is None for entry in entries} == {True, False}
    states = {row.state for g in games for s in g.stores.values() for row in s.inbox.rows}
    assert states == {"answered", "noted", "excused", "expired"}
