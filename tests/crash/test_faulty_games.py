"""The clock jumps at every await and the database refuses: nothing lost, twice, deaf or hung."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ERRORS = 7  # of Django's classes
A_SOAK_S = 3_600
PLANTS = {
    "only a busy database counts as unavailable": ("P1", "P5"),
    "an event that cannot be stored keeps the next one waiting": ("P1",),
    "earlier acts are found by time": ("P2",),
    "earlier acts are those of the newest line": ("P2",),
    "an act that raised counts as not done": ("P2",),
    "a puppet of a moment does not end the lease": ("P2",),
}


def play(folder, *arguments):
    """Play games in a process of their own; return the report."""
    command = [sys.executable, "-m", "tests.crash.faulty_child", str(folder), *map(str, arguments)]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


def told(report):
    """Return the violations of a report with the end of its trace."""
    return "\n".join([f"--seed {report['seed']}", *report["violations"], *report["trace"][-40:]])


def classes(count):
    """Return the classes of the errors that came."""
    return {name.split(" at ")[0] for name in count if " at " in name}


@pytest.mark.campaign
def test_ten_minutes_of_jumps_and_refusals_break_no_promise(tmp_path):
    report = play(tmp_path, "--seed", 5, "--games", 2, "--hours", 1 / 12)
    assert not report["violations"], told(report)
    # Which classes come is chance in so short a game; the soak asks for all of them.
    assert classes(report["count"])
    assert report["count"]["jumps"] > 300


@pytest.mark.soak
@pytest.mark.timeout(A_SOAK_S)
def test_two_hours_of_jumps_and_refusals_break_no_promise(tmp_path):
    report = play(tmp_path, "--seed", 100, "--games", 3, "--hours", 2)
    sys.stdout.write(json.dumps(report["count"], indent=1) + "\n")
    assert not report["violations"], told(report)
    assert len(classes(report["count"])) == ERRORS


@pytest.mark.soak
def test_such_games_find_each_planted_bug(tmp_path):
    reports = play(tmp_path, "--games", 40, "--hours", 0.1, "--plants")
    assert reports.keys() == PLANTS.keys()
    for plant, report in reports.items():
        assert any(found.startswith(PLANTS[plant]) for found in report["violations"]), plant
