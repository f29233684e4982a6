"""Run many killed games in `tests.crash.child` and collect their reports."""

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
    """The sum of many games.

    ``kills`` counts the kills by moment, ``puts`` the promised utterances, and ``deeds`` what
    players noticed. ``broken`` has a text for each game with a violation."""

    games: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    puts: int = 0
    deeds: int = 0
    violations: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def run_kills(
    folder: Path, kills: int, families: Sequence[str] = (), plant: str = "", first: int = 0
) -> Report:
    """Kill ``kills`` processes, at moments of some families or of any.

    Args:
        folder: Empty; the databases go there.
        kills: how many processes must die.
        families: see `fast_points.FAMILIES`.
        plant: A bug of `child_plants.PLANTS`; the first game that shows it is the last.
        first: The number of the first game.

    Raises CalledProcessError if the harness itself fails.
    """
    command = [sys.executable, "-m", "tests.crash.child", str(folder), "--kills", str(kills)]
    command += ["--first", str(first)]
    command += ["--families", *families] if families else []
    command += ["--plant", plant] if plant else []
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    report = Report()
    for line in run.stdout.splitlines():
        add_game(report, json.loads(line))
    return report


def add_game(report: Report, game: dict) -> None:
    """Add the report of one game."""
    report.games += 1
    report.kills.update(game["kills"])
    report.puts += game["puts"]
    report.deeds += game["deeds"]
    report.violations += game["violations"]
    if game["violations"]:
        lines = [f"game {game['game']}", *game["violations"], *game["trace"][-TRACE_LINES:]]
        report.broken.append("\n".join(lines))
