"""Killed at any commit point, the engine loses no utterance and does nothing twice."""

import pytest

from tests.crash.fast import run_kills
from tests.crash.fast_points import AFTER, AT_RANDOM, BEFORE, FAMILIES, family_of
from tests.short_form import short_form

pytestmark = pytest.mark.campaign

KILLS = 60
KILLS_A_SOAK = 2_000
KILLS_OF_A_KIND = 200
KILLS_FOR_A_PLANT = 300
# Few games tell of these: the search begins at one that did.
FIRST_GAMES = {
    "an outcome and its messages are stored apart": 12,
    "what was answered waits again": 3,
    "masks are not stored": 1,
    "what is logged is not in view": 1,
}
PLANTS = {
    "an outcome and its messages are stored apart": ("P3", ("acts", "transaction")),
    "a turn begins in pieces": ("P1", ("database",)),
    "what was answered waits again": ("P2", ("acts", "world")),
    "intents are not stored": ("P2", ("world",)),
    "masks are not stored": ("P3", ("mask",)),
    "what is logged is not in view": ("P3", ("compaction",)),
}
COMPACTION = ("compaction", "archive", "mask", "undo", "journal")


def test_sixty_kills_lose_no_utterance_and_do_nothing_twice(tmp_path):
    report = run_kills(tmp_path, KILLS)
    assert not report.broken, "\n\n".join(report.broken)
    assert sum(report.kills.values()) >= KILLS
    assert {family_of(moment) for moment in report.kills} == {*FAMILIES, AT_RANDOM}
    assert report.puts > KILLS < report.deeds


def test_sixty_kills_around_compactions_leave_the_old_history_or_the_new(tmp_path):
    report = run_kills(tmp_path, KILLS, COMPACTION)
    assert not report.broken, "\n\n".join(report.broken)
    assert sum(report.kills.values()) >= KILLS
    assert {family_of(moment) for moment in report.kills} == set(COMPACTION)
    stored = ("log.compact", "commit of log.compact", "log.undo", "commit of log.undo")
    assert set(report.kills) > {f"{side} {point}" for point in stored for side in (BEFORE, AFTER)}


@pytest.mark.soak
def test_two_thousand_kills_lose_no_utterance_and_do_nothing_twice(tmp_path):
    report = run_kills(tmp_path, KILLS_A_SOAK)
    assert not report.broken, "\n\n".join(report.broken)


@pytest.mark.soak
@pytest.mark.parametrize("family", FAMILIES)
def test_two_hundred_kills_at_one_kind_of_moment_break_no_promise(tmp_path, family):
    report = run_kills(tmp_path, KILLS_OF_A_KIND, [family])
    assert not report.broken, "\n\n".join(report.broken)
    assert sum(report.kills.values()) >= KILLS_OF_A_KIND


@pytest.mark.parametrize("plant", short_form(PLANTS, 2, pytest.mark.soak))
def test_kills_find_a_planted_bug(tmp_path, plant):
    promise, families = PLANTS[plant]
    report = run_kills(tmp_path, KILLS_FOR_A_PLANT, families, plant, FIRST_GAMES.get(plant, 0))
    assert any(violation.startswith(promise) for violation in report.violations)
