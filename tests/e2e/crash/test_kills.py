"""kill -9 at each commit point and at random moments of a real server: nothing that was said is
lost, and nothing is done twice.

A failing campaign names its seed, which `EVENNIA_AI_CRASH_SEED` plays again, as far as a real
server repeats itself.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.e2e.crash.campaign import Campaign, schedule
from tests.e2e.crash.crash_game import CrashGame
from tests.e2e.crash.evidence import check_screens, collect
from tests.e2e.crash.model import MarkedModel
from tests.e2e.test_talk import thinking_with
from tests.invariants import MessageRow, Violation, check_append_only, violations

MakeGame = Callable[[], CrashGame]

KILLS = 24
CAMPAIGNS_IN_SOAK = 6
KILLS_A_CAMPAIGN = 50
LATENCY_S = 0.1
LITTLE_PATIENCE_S = 5.0
PATIENCE_S = 30.0
QUIET = {"autonomous_calls_per_hour": 0, "TEXTS": {"first_meeting": ""}}


@pytest.fixture
def make_game(game_template: Path, tmp_path: Path) -> Iterator[MakeGame]:
    """Return a function that opens a game whose model answers each mark once."""
    games: list[CrashGame] = []
    with MarkedModel(tmp_path / "requests.jsonl", LATENCY_S) as model:

        def make() -> CrashGame:
            folder = tmp_path / f"game{len(games)}"
            settings = thinking_with(model, **QUIET)
            game = CrashGame.copy_of(game_template, folder, assistant=settings)
            games.append(game)
            game.open()
            return game

        yield make
        for game in games:
            game.close()


def a_seed() -> int:
    """What this run leaves to chance."""
    return int(os.environ.get("EVENNIA_AI_CRASH_SEED") or random.SystemRandom().randrange(10**6))


def run(
    game: CrashGame, seed: int, moments: Iterable[str], patience_s: float = PATIENCE_S
) -> list[Violation]:
    """Kill a game at these moments; return what it broke."""
    with Campaign(game, seed) as campaign:
        found: list[Violation] = []
        log: list[MessageRow] = []
        for moment in moments:
            campaign.kill(moment)
            before, log = log, collect(game).messages
            found += check_append_only(before, log)
        campaign.drain(patience_s)
        evidence = collect(game)
        return found + violations(evidence) + check_screens(campaign.players, evidence)


def judged(found: list[Violation], seed: int) -> str:
    """What was found, for a failing test's message."""
    return "\n".join([f"seed {seed}:", *map(str, found)])


def test_killed_at_each_commit_point_and_at_random_it_loses_and_repeats_nothing(
    make_game: MakeGame,
) -> None:
    seed = a_seed()
    found = run(make_game(), seed, schedule(KILLS, seed))
    assert not found, judged(found, seed)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("number", range(CAMPAIGNS_IN_SOAK))
def test_hundreds_of_kills_lose_and_repeat_nothing(make_game: MakeGame, number: int) -> None:
    seed = a_seed() + number
    print(f"seed {seed}")
    found = run(make_game(), seed, schedule(KILLS_A_CAMPAIGN, seed))
    assert not found, judged(found, seed)


@pytest.mark.soak
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("bug", "moments", "promise"),
    [
        ("the inbox drops lines", [""] * 4, "P1"),
        ("nothing is recovered", ["after turn begun"] * 2, "P1"),
        ("recovery forgets what was done", ["before call recorded"] * 6, "P2"),
    ],
)
def test_a_planted_bug_is_found(
    make_game: MakeGame, bug: str, moments: list[str], promise: str
) -> None:
    game = make_game()
    game.plant(bug)
    found = run(game, a_seed(), moments, LITTLE_PATIENCE_S)
    assert promise in {violation.promise for violation in found}
