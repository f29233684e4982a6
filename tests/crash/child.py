"""Kill games: import Django once and fork a process, a "life", for each kill.

python -m tests.crash.child FOLDER --kills 200
python -m tests.crash.child FOLDER --first 17 --kills 1    one game again, with its trace

It prints one JSON object for each game: its number, the moments of its kills, the violations, and
the trace if there are any.
"""

import argparse
import gc
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

KILLS_A_GAME = 8
MOST_LIVES = 14
FINISHED, FAILED = 0, 1


def main() -> int:
    """Play games until there are enough kills, or until a violation if asked to stop there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the number of the first game")
    parser.add_argument("--families", nargs="*", default=(), help="kill at these moments only")
    parser.add_argument("--plant", default="", help="a bug to plant, see child_plants")
    options = parser.parse_args()
    set_up(options.folder / "template.db3")

    from tests.crash.child_plants import PLANTS

    plant = PLANTS[options.plant].planted() if options.plant else nullcontext()
    struck, game = 0, options.first
    with plant:
        while struck < options.kills:
            result = play(options.folder, game, options.families)
            struck += sum(result["kills"].values())
            game += 1
            sys.stdout.write(json.dumps(result) + "\n")
            sys.stdout.flush()
            if options.plant and result["violations"]:
                break
    return 0


def set_up(template: Path) -> None:
    """Load Django and everything a life needs, and make the database that games start with."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.crash.child_settings"
    os.environ["CRASH_DATABASE"] = str(template)
    import django

    django.setup()
    from tests.crash.child_database import make_template

    make_template(template)
    gc.collect()
    gc.freeze()


def play(folder: Path, game: int, families: Sequence[str]) -> dict[str, Any]:
    """Play one game: some lives that are killed and one that comes to rest; return the report."""
    from tests.crash import child_rows
    from tests.crash.child_database import open_database
    from tests.crash.child_views import check_start
    from tests.crash.fast_points import choose_kill
    from tests.invariants import check_append_only, check_records, violations

    place = folder / f"game-{game}"
    place.mkdir()
    database = place / "game.db3"
    shutil.copy(folder / "template.db3", database)
    rng = Random(f"kills of game {game}")
    broken: list[Any] = []
    seen: list[Any] = []
    seen_moves: list[Any] = []
    for number in range(1, MOST_LIVES + 1):
        facts = child_rows.read_journal(place / "journal") if number > 1 else {"killed": ()}
        is_last = len(facts["killed"]) >= KILLS_A_GAME or number == MOST_LIVES
        live(place, game, number, None if is_last else choose_kill(rng, families))
        with open_database(database):
            rows, moves = child_rows.message_rows(), child_rows.compaction_rows()
        facts = child_rows.read_journal(place / "journal")
        broken += check_start(facts, number, seen, seen_moves)
        broken += check_append_only(seen, rows) + check_records(seen_moves, moves)
        seen, seen_moves = rows, moves
        if is_last:
            break
    with open_database(database):
        broken += violations(child_rows.gather(facts))
    told = [*map(str, broken), *facts["trouble"]]
    result = {
        "game": game,
        "kills": child_rows.kills(facts),
        "puts": len(facts["put"]),
        "deeds": len(facts["deed"]),
        "violations": told,
        "trace": (place / "trace").read_text().splitlines() if told else [],
    }
    shutil.rmtree(place)
    return result


def live(place: Path, game: int, number: int, kill: Any) -> None:
    """Fork a life and wait for its end; kill it if the moment is random."""
    from tests.crash.child_life import Chronicle
    from tests.crash.fast_points import AT_RANDOM

    child = os.fork()
    if child == 0:
        os._exit(be_alive(place, game, number, kill))
    if kill is not None and kill.moment == AT_RANDOM:
        time.sleep(kill.delay_s)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    journal = Chronicle(place / "journal")
    if os.WIFSIGNALED(status) and kill is not None and kill.moment == AT_RANDOM:
        journal.write("killed", AT_RANDOM)
    elif os.WIFEXITED(status) and os.WEXITSTATUS(status) != FINISHED:
        journal.write("trouble", f"life {number} ended with an error, see above")


def be_alive(place: Path, game: int, number: int, kill: Any) -> int:
    """Live one life in the forked process; return its exit status."""
    from tests.crash.child_database import open_database
    from tests.crash.child_life import Life

    try:
        with open_database(place / "game.db3"):
            Life(game, number, kill, place).run(is_last=kill is None)
    except BaseException:  # noqa: BLE001  # nothing of the parent's may go on here
        traceback.print_exc()
        return FAILED
    return FINISHED


if __name__ == "__main__":
    sys.exit(main())
