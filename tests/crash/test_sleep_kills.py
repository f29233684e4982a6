"""Killed anywhere in its sleep, a character loses nothing and stores nothing twice.

This holds after its next sleep for the journal and its archive, profiles, goals, insights, and
long-term memory with its links.
"""

import json
import subprocess
import sys
from collections import Counter

import pytest

from tests.crash.fast import ROOT, Report, add_game

pytestmark = pytest.mark.campaign

KILLS = 50
KILLS_A_SOAK = 1_000
KILLS_FOR_A_PLANT = 150
PLANTS = (
    "observations are marked before values are made",
    "faded entries are gone before they are archived",
    "what is stored already is stored again",
)


def kill_sleepers(folder, kills, plant=""):
    command = [sys.executable, "-m", "tests.crash.sleep_child", str(folder), "--kills", str(kills)]
    command += ["--plant", plant] if plant else []
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    report = Report()
    for line in run.stdout.splitlines():
        if line.startswith("{"):  # Evennia prints that there are no tables yet
            add_game(report, json.loads(line))
    return report


@pytest.mark.parametrize("kills", [KILLS, pytest.param(KILLS_A_SOAK, marks=pytest.mark.soak)])
def test_kills_in_sleep_lose_nothing_and_do_nothing_twice(tmp_path, kills):
    report = kill_sleepers(tmp_path, kills)
    assert not report.broken, "\n\n".join(report.broken)
    assert sum(report.kills.values()) >= kills
    sides = Counter(moment.split(" ", 1)[1] for moment in report.kills.elements())
    assert set(sides) == {"statement", "commit", "a memory put", "memories deleted"}
    assert report.puts > kills


@pytest.mark.parametrize("plant", PLANTS)
def test_kills_in_sleep_find_a_planted_bug(tmp_path, plant):
    assert kill_sleepers(tmp_path, KILLS_FOR_A_PLANT, plant).violations
