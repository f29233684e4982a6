"""Kill sleeping characters: import Django once and fork a process, a "life", for each kill.

python -m tests.crash.sleep_child FOLDER --kills 200

It prints one JSON object for each game, as `tests.crash.child` does.
"""

import argparse
import json
import os
import shutil
import sys
import traceback
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tests.crash.child import FAILED, FINISHED, set_up
from tests.crash.fast_points import AFTER, BEFORE, Kill

KILLS_A_GAME = 5
MOST_LIVES = 12
# Moments of a pass, and up to the how many-th is chosen.
MOMENTS = {"statement": 16, "commit": 12, "a memory put": 9, "memories deleted": 1}
PASSES_TO_REST = 3


def main() -> int:
    """Play games until there are enough kills."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--plant", default="", help="a bug to plant, see PLANTS")
    options = parser.parse_args()
    set_up(options.folder / "template.db3")
    make_sleeper(options.folder / "template.db3")
    if options.plant:
        PLANTS[options.plant]()
    struck = game = 0
    while struck < options.kills:
        result = play(options.folder, game)
        struck += sum(result["kills"].values())
        game += 1
        print(json.dumps(result), flush=True)
        if result["violations"]:
            break
    return 0


def make_sleeper(template: Path) -> None:
    """Insert a row for the sleeping character."""
    from evennia.objects.models import ObjectDB

    from tests.crash.child_database import insert_bare, open_database
    from tests.crash.sleep_life import SLEEPER

    with open_database(template):
        insert_bare(ObjectDB, int(SLEEPER[1:]))


def play(folder: Path, game: int) -> dict[str, Any]:
    """Play one game: lives that are killed in sleep, and one that sleeps to the end."""
    from tests.crash import child_rows
    from tests.crash.child_database import open_database
    from tests.crash.sleep_life import judge

    place = folder / f"game-{game}"
    place.mkdir()
    shutil.copy(folder / "template.db3", place / "game.db3")
    rng = Random(f"sleepers of game {game}")
    facts: dict[str, Any] = {"killed": ()}
    for number in range(1, MOST_LIVES + 1):
        is_last = len(facts["killed"]) >= KILLS_A_GAME or number == MOST_LIVES
        live(place, number, None if is_last else choose_kill(rng))
        facts = child_rows.read_journal(place / "journal")
        if is_last:
            break
    with open_database(place / "game.db3"):
        broken = [f"P1 {what}" for what in judge(facts, place)]
    shutil.rmtree(place)
    return {
        "game": game,
        "kills": Counter(facts["killed"]),
        "puts": len(facts["note"]),
        "deeds": len(facts["noticed"]),
        "violations": [*broken, *map(str, facts["trouble"])],
        "trace": [],
    }


def choose_kill(rng: Random) -> Kill:
    """Choose a random moment of a sleep pass."""
    moment = rng.choices(list(MOMENTS), [6, 3, 3, 1])[0]
    return Kill(f"{rng.choice((BEFORE, AFTER))} {moment}", rng.randint(1, MOMENTS[moment]))


def live(place: Path, number: int, kill: Kill | None) -> None:
    """Fork a life and wait for its end."""
    from tests.crash.child_life import Chronicle

    child = os.fork()
    if child == 0:
        os._exit(be_alive(place, number, kill))
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) != FINISHED:
        Chronicle(place / "journal").write(
            "trouble", f"life {number} ended with an error, see above"
        )


def be_alive(place: Path, number: int, kill: Kill | None) -> int:
    """Live one life in the forked process; return its exit status."""
    from tests.crash.child_database import open_database
    from tests.crash.sleep_life import SleepLife

    try:
        with open_database(place / "game.db3"):
            life = SleepLife(number, kill, place)
            life.note()
            life.executioner.watch_database()
            for _ in range(PASSES_TO_REST if kill is None else 1):
                life.sleep()
    except BaseException:  # noqa: BLE001  # nothing of the parent's may go on here
        traceback.print_exc()
        return FAILED
    return FINISHED


# --- bugs to be found -------------------------------------------------------------------------


def mark_before_making() -> None:
    """Observations are marked as used in a transaction before that of their values."""
    from evennia_ai.ports.profiles import EntityProfiles

    real = EntityProfiles.consolidate

    def consolidate(profiles: Any, ids: Any, findings: Any, **more: Any) -> int:
        known = [record for record in map(profiles.get, ids) if record]
        real(profiles, ids, ())
        for record in known:
            profiles.change({record["id"]: {**record, "consolidated": False}})
        return real(profiles, ids, findings, **more)

    EntityProfiles.consolidate = consolidate  # type: ignore[method-assign]


def gone_before_archived() -> None:
    """A pruned entry leaves the journal before it is in the archive."""
    from evennia_ai.ports.journal import JournalArchive

    real = JournalArchive.put_away

    def put_away(archive: Any, journal: Any, *ids: str) -> int:
        entries = {entry["id"]: entry for entry in map(journal.get, ids) if entry}
        journal.remove(*ids)
        kept = type("Kept", (), {"get": entries.get, "remove": lambda self, *_: len(entries)})()
        return int(real(archive, kept, *ids))

    JournalArchive.put_away = put_away  # type: ignore[method-assign]


def store_again() -> None:
    """Long-term memory stores entries again, without comparing it with the journal."""
    from evennia_ai.policy.records import journal_entry
    from evennia_ai.sleep import consolidation

    consolidation.match_memories = lambda entry, rows: (journal_entry.memory_of(entry), [])


PLANTS = {
    "what is stored already is stored again": store_again,
    "observations are marked before values are made": mark_before_making,
    "faded entries are gone before they are archived": gone_before_archived,
}

if __name__ == "__main__":
    sys.exit(main())
