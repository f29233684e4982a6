"""kill -9 during sleep, on a real server with the real mem0.

After the next sleep each note has one memory with the same text, and each memory has its note.
"""

import json
import random
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import pytest

from server import running
from tests.e2e.crash.crash_game import CrashGame
from tests.e2e.harness import ADMIN
from tests.e2e.telnet import TelnetPlayer

pytestmark = pytest.mark.campaign
pytest.importorskip("evennia_ai.contrib.mem0.mem0_store", reason="the extension mem0 is left out")

POINTS = ("memories stored", "links written")
NAMED = tuple(f"{side} {point}" for point in POINTS for side in ("before", "after"))
KILLS, KILLS_IN_SOAK = 5, 20
NOTES, PEOPLE = 200, 30
LONGEST_SLEEP_S = 0.6
PATIENCE_S = 20.0
PASSES_TO_REST = 2
DONE = "SELECT count(*) FROM evennia_ai_sleeppass WHERE outcome = 'done'"
SEED = """
from evennia.objects.models import ObjectDB
mira = ObjectDB.objects.get(db_key="Mira")
for number in range({notes}):
    mira.journal.add(f"Cask {{number}} was promised to the ferryman.")
for number in range({people}):
    mira.ai_profiles.observe(f"#{{900 + number}}", f"She owes Guild {{number + 1}} silver.")
"""
LEFT = """
import json
from pathlib import Path
from django.conf import settings
from evennia.objects.models import ObjectDB
from evennia_ai.memory import embedders
from evennia_ai.contrib.mem0.mem0_store import StoreSettings
from evennia_ai.contrib.mem0.mem0_store import Mem0Store
from evennia_ai.contrib.mem0.long_term_memory import FOLDER
from evennia_ai.policy.records.journal_entry import agent_of, digest_of, memory_of
from evennia_ai.store.server_settings import game_name
mira = ObjectDB.objects.get(db_key="Mira")
store = Mem0Store(StoreSettings(Path(settings.GAME_DIR) / FOLDER, {}), embedders.default)
store.game = game_name()
entries = mira.journal.all()
records = mira.ai_profiles.all()
print("LEFT" + json.dumps({
    "contents": [entry["content"] for entry in entries],
    "named": [[memory_of(entry), entry["id"], digest_of(entry)] for entry in entries],
    "rows": [[row.id, row.entry, row.digest] for row in store.rows(agent_of(mira.id))],
    "new": mira.ai_profiles.count_new(),
    "noticed": [r["entity"] for r in records if r["kind"] == "observation"],
}))
store.close()
"""


@pytest.fixture
def game(game_template: Path, tmp_path: Path) -> Iterator[CrashGame]:
    """Return a game whose Mira has much to consolidate and uses the stand-in."""
    quiet = {"autonomous_calls_per_hour": 0, "TEXTS": {"first_meeting": ""}}
    game = CrashGame.copy_of(game_template, tmp_path / "game", assistant=quiet)
    game.python(SEED.format(notes=NOTES, people=PEOPLE))
    game.open()
    yield game
    game.close()


def start(game: CrashGame, admin: TelnetPlayer | None) -> None:
    """Start the server until it stays up, and log the admin in."""
    game.start_server()
    while not game.await_server():
        game.start_server()
    if admin:
        admin.mark()
        admin.send(f"ic {ADMIN}")
        admin.expect(f"You become {ADMIN}", PATIENCE_S)


def note(admin: TelnetPlayer, number: int) -> None:
    """Add a note; it is promised once the admin is told its number."""
    admin.mark()
    admin.send(f"aimemory/add Mira = Barrel {number} is the ferryman's too.")
    admin.expect(r"j\d+", PATIENCE_S)


def send_to_bed(admin: TelnetPlayer) -> None:
    """Put Mira to sleep, also if she sleeps."""
    admin.send("aiwake Mira")
    admin.send("aisleep Mira")


def kill_asleep(game: CrashGame, admin: TelnetPlayer, moment: str, wait_s: float) -> None:
    """Kill the server at a named moment of sleep, or ``wait_s`` after its begin."""
    if moment:
        game.order_file.write_text(moment)
    send_to_bed(admin)
    if not moment:
        running.wait_until(game.is_dead, wait_s)
        game.kill_server()
    elif not game.wait_until(game.is_dead, PATIENCE_S):  # nothing of the kind is left to do
        game.order_file.unlink(missing_ok=True)
        game.kill_server()


def play(game: CrashGame, moments: list[str], seed: int) -> dict[str, list]:
    """Kill the server at these moments, let Mira sleep, and return what is stored."""
    chance = random.Random(seed)
    start(game, None)
    with game.player(ADMIN) as admin:
        for number, moment in enumerate(moments):
            note(admin, number)
            kill_asleep(game, admin, moment, chance.uniform(0, LONGEST_SLEEP_S))
            start(game, admin)
        for _ in range(PASSES_TO_REST):
            before = game.sql(DONE)[0][0]
            send_to_bed(admin)
            assert game.wait_until(lambda n=before: game.sql(DONE)[0][0] > n, PATIENCE_S)
    game.kill_server()
    left: dict[str, list] = json.loads(game.python(LEFT).split("LEFT", 1)[1])
    return left


def check(left: dict[str, list], barrels: int) -> None:
    """Check that nothing is lost and nothing is stored twice."""
    wanted = {f"Cask {number} was promised to the ferryman." for number in range(NOTES)}
    wanted |= {f"Barrel {number} is the ferryman's too." for number in range(barrels)}
    assert wanted <= set(left["contents"])
    assert len(set(left["contents"])) == len(left["contents"])
    assert sorted(left["named"]) == sorted(left["rows"])
    # Without a model nothing is made of what was noticed.
    assert left["new"] == PEOPLE
    assert sorted(left["noticed"]) == sorted(f"#{900 + number}" for number in range(PEOPLE))


def test_killed_in_its_sleep_each_note_has_one_memory_in_the_end(game: CrashGame) -> None:
    moments = [*NAMED, ""][:KILLS]
    check(play(game, moments, seed=1), KILLS)


@pytest.mark.soak
def test_twenty_kills_in_its_sleep_lose_and_repeat_nothing(game: CrashGame) -> None:
    moments = list(islice(cycle([*NAMED, ""]), KILLS_IN_SOAK))
    check(play(game, moments, seed=2), KILLS_IN_SOAK)
