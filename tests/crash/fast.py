"""Kills many small games and judges what is left; the killing is done by `tests.crash.child`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TRACE_LINES = 60


@dataclass
class Report:
    """What came of it. ``kills`` counts by moment; ``puts`` are utterances that were promised and
    ``deeds`` what players noticed; ``broken`` has a text for each game that broke a promise."""

    games: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    puts: int = 0
    deeds: int = 0
    violations: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def run_kills(
    folder: Path, kills: int, families: Sequence[str] = (), plant: str = "", timeout_s: float = 280
) -> Report:
    """Kill so many times, at moments of some families or of any.

    Args:
        folder: an empty one, for the databases.
        kills: how many processes must die.
        families: see `fast_points.FAMILIES`.
        plant: a bug, see `child_plants.PLANTS`; then it ends with the first game that shows it.
        timeout_s: after so many seconds it is given up.

    Raises CalledProcessError where the harness itself fails.
    """
    command = [sys.executable, "-m", "tests.crash.child", str(folder), "--kills", str(kills)]
    command += ["--families", *families] if families else []
    command += ["--plant", plant] if plant else []
    run = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True, timeout=timeout_s
    )
    report = Report()
    for line in run.stdout.splitlines():
        add_game(report, json.loads(line))
    return report


def add_game(report: Report, game: dict) -> None:
    """Add what came of one game."""
    report.games += 1
    report.kills.update(game["kills"])
    report.puts += game["puts"]
    report.deeds += game["deeds"]
    report.violations += game["violations"]
    if game["violations"]:
        lines = [f"game {game['game']}", *game["violations"], *game["trace"][-TRACE_LINES:]]
        report.broken.append("\n".join(lines))
