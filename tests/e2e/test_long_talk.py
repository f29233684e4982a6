"""A long talk on a real server, in a small window: no overflow, no loss, no secret told.

A failing talk prints its seed. `EVENNIA_AI_TALK_SEED` replays it, as far as a real server repeats
itself.
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import GameServer
from tests.e2e.long_talk.course import TICK_RATE_SLEEP_S, WINDOW, LongTalk
from tests.e2e.long_talk.evidence import (
    check_confidence,
    check_nothing_is_lost,
    check_persona,
    check_progress,
    check_screens,
    check_stored,
    check_window,
    pair_up,
    tellers,
)
from tests.e2e.long_talk.model import SEED, TellingModel
from tests.e2e.test_talk import thinking_with

tokenizer = pytest.importorskip("evennia_ai.contrib.openai_tokens.tokenizer")

pytestmark = pytest.mark.campaign

UTTERANCES = 200
UTTERANCES_IN_SOAK = 2_000
MOST_SHOWN = 20
SETTINGS = {
    "max_context_tokens": WINDOW,
    "autonomous_calls_per_hour": 0,
    "sleep_after_quiet": 0.0,
    "tick_rate_sleep": TICK_RATE_SLEEP_S,
    "TEXTS": {"first_meeting": ""},
}


@pytest.fixture
def seed() -> int:
    """Return the seed of this run."""
    return int(os.environ.get("EVENNIA_AI_TALK_SEED") or random.SystemRandom().randrange(10**6))


@pytest.fixture
def model(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[TellingModel]:
    """Return a model that repeats everything it knows and summarises badly."""
    tokenizer.load()
    monkeypatch.setenv(SEED, str(seed))
    with TellingModel(tmp_path / "requests.jsonl") as running:
        yield running


def talk(game: GameServer, model: TellingModel, seed: int, utterances: int) -> Counter[str]:
    """Talk and check the evidence; return the number of compactions by reason."""
    with LongTalk(game, seed) as course:
        course.go_on(utterances)
        asked = pair_up(game, model.requests)
        found = [
            *check_window(asked),
            *check_progress(game),
            *check_persona(asked),
            *check_confidence(asked),
            *check_stored(game),
            *check_screens(course.players),
            *check_nothing_is_lost(game, course.said),
            *course.changed,
        ]
        assert not found, "\n".join([f"seed {seed}, {len(found)} found:", *found[:MOST_SHOWN]])
        assert tellers(asked) == {player.name.lower() for player in course.players}
        return course.compactions


def judge(counts: Counter[str], seed: int) -> None:
    """Check that compactions happened both in sleep and in an emergency."""
    print(f"seed {seed}: {dict(counts)}")
    assert counts["sleep"] and counts["emergency"], f"seed {seed}: {dict(counts)}"


def test_two_hundred_utterances_overflow_nothing_lose_nothing_and_betray_nobody(
    make_server: Callable[..., GameServer], model: TellingModel, seed: int
) -> None:
    game = make_server(assistant=thinking_with(model, **SETTINGS))
    judge(talk(game, model, seed, UTTERANCES), seed)


@pytest.mark.soak
def test_two_thousand_utterances_overflow_nothing_lose_nothing_and_betray_nobody(
    make_server: Callable[..., GameServer], model: TellingModel, seed: int
) -> None:
    game = make_server(assistant=thinking_with(model, **SETTINGS))
    judge(talk(game, model, seed, UTTERANCES_IN_SOAK), seed)
