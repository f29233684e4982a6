"""Play games with faults in a process of their own, and print a report as JSON.

python -m tests.crash.faulty_child FOLDER --seed 3 --hours 2
"""

import argparse
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.crash.child import set_up


def main() -> int:
    """Play the game that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--games", type=int, default=1, help="stop at the first violation")
    parser.add_argument("--hours", type=float, default=2.0, help="of each game, simulated")
    parser.add_argument("--plants", action="store_true", help="report on each of faulty_plants")
    options = parser.parse_args()
    set_up(options.folder / "template.db3")

    from tests.crash.faulty_plants import PLANTS

    seeds, seconds = range(options.seed, options.seed + options.games), options.hours * 3_600
    if options.plants:
        report = {}
        for name, plant in PLANTS.items():
            with plant.planted():
                report[name] = play_all(options.folder, seeds, seconds)
    else:
        report = play_all(options.folder, seeds, seconds)
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


def play_all(folder: Path, seeds: Iterable[int], seconds: float) -> dict[str, Any]:
    """Play games up to the first violation; return their report."""
    count: Counter[str] = Counter()
    for seed in seeds:
        found, trace = play(folder, seed, seconds, count)
        if found:
            break
    return {"seed": seed, "count": count, "violations": found, "trace": trace if found else []}


def play(
    folder: Path, seed: int, seconds: float, count: Counter[str]
) -> tuple[list[str], list[str]]:
    """Play one game on a new database; return its violations and its trace."""
    from evennia_ai.models import Event, ToolCall, Turn
    from tests.crash.child_database import open_database
    from tests.crash.faulty_game import FaultyGame

    place = folder / f"game-{seed}"
    place.mkdir()
    shutil.copy(folder / "template.db3", place / "game.db3")
    with open_database(place / "game.db3"):
        game = FaultyGame(seed, place)
        found = game.play(seconds)
        count.update(game.count)
        count.update({"games": 1, "simulated seconds": int(game.process.clock.seconds())})
        for model in (Event, Turn, ToolCall):
            count[f"{model.__name__} rows"] += model.objects.count()
    trace = (place / "trace").read_text().splitlines()
    shutil.rmtree(place)
    return list(map(str, found)), trace


if __name__ == "__main__":
    sys.exit(main())
