"""A day of play, compressed: what is promised holds throughout, whatever fails.

A failing day prints its seed, which `EVENNIA_AI_DAY_SEED` plays again, as far as a real server
repeats itself. `EVENNIA_AI_DAY_PACE` above 1 makes a day slower, for machines that are busy.
"""

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.day.course import Day
from tests.e2e.day.evidence import Judge
from tests.e2e.day.model import DayModel
from tests.e2e.day.plan import WAYS, Size, cast_for, plan_day
from tests.e2e.day.world import ASSISTANT, DayGame
from tests.e2e.harness import GameServer
from tests.e2e.test_talk import thinking_with
from tests.invariants import Violation
from tests.postgresql import URL, running_server

pytestmark = pytest.mark.campaign

SHORT = Size(rooms=4, lonely=1, minds=4, players=5, play_s=24.0, lines_per_s=2.5, faults=1, looks=1)
SHORT_SEED = 4711
MINUTES = int(os.environ.get("EVENNIA_AI_DAY_MINUTES") or 30)
LONG = Size(
    rooms=38,
    lonely=2,
    minds=5,
    players=50,
    play_s=60.0 * MINUTES,
    lines_per_s=1.5,
    faults=max(1, MINUTES // 3),
    looks=max(1, MINUTES // 3),
)
MOST_SHOWN = 40


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Return the seed of this day: long days differ, and a short one is always the same."""
    is_long = request.node.get_closest_marker("soak") is not None
    drawn = random.SystemRandom().randrange(10**6) if is_long else SHORT_SEED
    seed = int(os.environ.get("EVENNIA_AI_DAY_SEED") or drawn)
    print(f"EVENNIA_AI_DAY_SEED={seed}")
    return seed


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Return what is closed after a day."""
    with ExitStack() as stack:
        yield stack


def play(
    template: Path, folder: Path, size: Size, seed: int, bug: str = "", **options: Any
) -> list[Violation]:
    """Play a day in a copy of a game, with a planted bug if there is one; return what is wrong."""
    pace = float(os.environ.get("EVENNIA_AI_DAY_PACE") or 1)
    with ExitStack() as stack:
        model = stack.enter_context(DayModel(folder / "requests.jsonl"))
        settings = thinking_with(model, **{**ASSISTANT, "MEMORY": {"enabled": size is not SHORT}})
        game = DayGame.copy_of(template, folder / "game", assistant=settings, **options)
        stack.callback(game.discard)
        cast = cast_for(size, seed)
        game.build(cast, WAYS, bug)
        game.start()
        judge = Judge()
        day = stack.enter_context(Day(game, cast, model, pace, judge.look))
        day.play(plan_day(size, seed, URL in game.env))
        day.rest()
        found = judge.judge(day)
        for player in day.players.values():
            (folder / f"{player.name}.txt").write_text(player.transcript)
    print(
        "\n".join([f"EVENNIA_AI_DAY_SEED={seed}", *day.done, str(judge.counts), *map(str, found)])
    )
    return found


def judged(found: list[Violation], seed: int) -> str:
    """Return a failing day's message."""
    shown = map(str, found[:MOST_SHOWN])
    return "\n".join([f"EVENNIA_AI_DAY_SEED={seed} plays it again; {len(found)} found:", *shown])


def test_a_short_day_with_each_fault_breaks_no_promise(
    game_template: Path, tmp_path: Path, seed: int
) -> None:
    found = play(game_template, tmp_path, SHORT, seed)
    assert not found, judged(found, seed)


@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_a_day_on_sqlite_breaks_no_promise(game_template: Path, tmp_path: Path, seed: int) -> None:
    found = play(game_template, tmp_path, LONG, seed)
    assert not found, judged(found, seed)


@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_a_day_on_postgresql_breaks_no_promise(tmp_path: Path, seed: int, stack: ExitStack) -> None:
    env = {URL: stack.enter_context(running_server())}
    template = GameServer.first_start(tmp_path / "template", env=env).folder
    found = play(template, tmp_path, LONG, seed, env=env)
    assert not found, judged(found, seed)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("bug", "promise"), [("the inbox drops lines", "P1"), ("recovery forgets what was done", "P2")]
)
def test_a_planted_bug_is_found(
    game_template: Path, tmp_path: Path, seed: int, bug: str, promise: str
) -> None:
    found = play(game_template, tmp_path, SHORT, seed, bug)
    assert promise in {violation.promise for violation in found}
