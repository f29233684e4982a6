"""kill -9 at each commit point and at random moments: no speech is lost, no act is done twice.

A failing campaign prints its seed. `EVENNIA_AI_CRASH_SEED` replays it, as far as a real server
repeats itself.
"""

import os
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from evennia_ai.policy.tool_call_modes.form import FORMS, PLAIN, TOOLS
from tests.e2e.crash.campaign import Campaign, schedule
from tests.e2e.crash.compaction_campaign import NAMED, URGENT, CompactionCampaign
from tests.e2e.crash.compaction_campaign import schedule as schedule_compactions
from tests.e2e.crash.crash_game import CrashGame
from tests.e2e.crash.evidence import check_screens, collect
from tests.e2e.crash.model import HABITS, MarkedModel
from tests.e2e.test_talk import thinking_with
from tests.invariants import Evidence, Violation, check_append_only, check_records, violations

pytestmark = pytest.mark.campaign

MakeGame = Callable[..., CrashGame]

KILLS = 16
KILLS_IN_COMPACTIONS = len(NAMED + URGENT)
COMPACTION_KILLS_IN_SOAK = 40
KILLS_A_CAMPAIGN = 50
LATENCY_S = 0.1
LITTLE_PATIENCE_S = 5.0
PATIENCE_S = 30.0
HABIT_RATE = 0.15
# Kills between the sentences of an answer.
SPEAKING = tuple(
    f"{side} {point}"
    for point in ("intent stored", "act executed", "outcome stored")
    for side in ("before", "after")
)
# `make soak` kills each form fifty times, with and without streams.
OTHER_FORMS = ((PLAIN, False), (PLAIN, True))
QUIET = {"autonomous_calls_per_hour": 0, "TEXTS": {"first_meeting": ""}}


@pytest.fixture
def make_game(
    game_template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeGame]:
    """Return a function that opens a game whose model answers each mark once.

    The model is asked in a request form, with or without streams; it has habits of small models.
    """
    games: list[CrashGame] = []
    monkeypatch.setenv(HABITS, str(HABIT_RATE))
    with MarkedModel(tmp_path / "requests.jsonl", LATENCY_S) as model:

        def make(form: str = TOOLS, streams: bool = True) -> CrashGame:
            folder = tmp_path / f"game{len(games)}"
            settings = thinking_with(model, **QUIET)
            settings["PROFILES"]["stub"] |= {"form": form, "stream": streams}  # type: ignore[index]
            game = CrashGame.copy_of(game_template, folder, assistant=settings)
            games.append(game)
            game.open()
            return game

        yield make
        for game in games:
            game.close()


def a_seed() -> int:
    """Return the seed of this run."""
    return int(os.environ.get("EVENNIA_AI_CRASH_SEED") or random.SystemRandom().randrange(10**6))


def run(
    game: CrashGame,
    seed: int,
    moments: Iterable[str],
    patience_s: float = PATIENCE_S,
    kind: type[Campaign] = Campaign,
) -> list[Violation]:
    """Kill a game at these moments; return the violations."""
    with kind(game, seed) as campaign:
        found: list[Violation] = []
        seen = Evidence()
        for moment in moments:
            campaign.kill(moment)
            before, seen = seen, collect(game)
            found += check_append_only(before.messages, seen.messages)
            found += check_records(before.compactions, seen.compactions)
        campaign.drain(patience_s)
        evidence = collect(game)
        return found + violations(evidence) + check_screens(campaign.players, evidence)


def judged(found: list[Violation], seed: int) -> str:
    """Return the violations as a failing test's message."""
    return "\n".join([f"seed {seed}:", *map(str, found)])


def test_killed_at_each_commit_point_and_at_random_it_loses_and_repeats_nothing(
    make_game: MakeGame,
) -> None:
    seed = a_seed()
    found = run(make_game(), seed, schedule(KILLS, seed))
    assert not found, judged(found, seed)


@pytest.mark.parametrize(("form", "streams"), OTHER_FORMS)
def test_killed_while_it_speaks_in_another_form_it_loses_and_repeats_nothing(
    make_game: MakeGame, form: str, streams: bool
) -> None:
    seed = a_seed()
    found = run(make_game(form, streams), seed, SPEAKING)
    assert not found, judged(found, seed)


def test_killed_while_the_talk_is_summed_up_it_has_the_old_history_or_the_new(
    make_game: MakeGame,
) -> None:
    seed = a_seed()
    game = make_game()
    moments = schedule_compactions(KILLS_IN_COMPACTIONS, seed)
    found = run(game, seed, moments, kind=CompactionCampaign)
    assert not found, judged(found, seed)
    reasons = {row["reason"] for row in game.sql("SELECT reason FROM evennia_ai_compaction")}
    assert reasons >= {"manual", "emergency"}


@pytest.mark.soak
def test_forty_kills_while_the_talk_is_summed_up_break_no_promise(make_game: MakeGame) -> None:
    seed = a_seed()
    moments = schedule_compactions(COMPACTION_KILLS_IN_SOAK, seed)
    found = run(make_game(), seed, moments, kind=CompactionCampaign)
    assert not found, judged(found, seed)


@pytest.mark.soak
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("streams", [True, False])
def test_hundreds_of_kills_lose_and_repeat_nothing(
    make_game: MakeGame, form: str, streams: bool
) -> None:
    seed = a_seed()
    print(f"seed {seed}")
    found = run(make_game(form, streams), seed, schedule(KILLS_A_CAMPAIGN, seed))
    assert not found, judged(found, seed)


@pytest.mark.soak
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


@pytest.mark.soak
def test_a_compaction_that_drops_what_it_sums_up_is_found(make_game: MakeGame) -> None:
    game = make_game()
    game.plant("a compaction drops messages")
    moments = ["after compaction stored"] * 2
    found = run(game, a_seed(), moments, LITTLE_PATIENCE_S, CompactionCampaign)
    assert "P3" in {violation.promise for violation in found}
