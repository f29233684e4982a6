"""Play a short game by the code that lies in the current folder, and dump its database.

`tests.upgrade.make` runs this with a checkout of an old version as the current folder: the server,
the players and the stub provider are that version's own. It uses only what each version since
``bfb933b9`` has.

Usage: python -P play.py <folder of the game> <file of the result>
"""

import json
import lzma
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from tests.e2e.harness import ADMIN, GameServer
from tests.e2e.telnet import TelnetPlayer, Unexpected
from tests.provider import FaultyProvider

SETTINGS = {
    "max_context_tokens": 12_000,
    "mask_threshold": 0.1,
    "compact_sleep_threshold": 0.15,
    "compact_target": 0.1,
    "compact_preserve_window": 2,
    "autonomous_calls_per_hour": 0,
}
# What Ann says and Mira answers, so that there is something to compact.
TALES = (
    ("the ferry leaves at noon with forty crowns of wool", "Wool sells well in Vessa these days."),
    ("my uncle carved an oar out of blackthorn", "Blackthorn? He must have had strong hands."),
    ("the lamplighter fell into the millpond on Tuesday", "I hope somebody pulled him out again."),
    ("a heron nests above the customs house", "Then the clerk will have feathers in his ink."),
    ("the baker puts rye into the white bread", "That is why it lies so heavy in the stomach."),
    ("two sailors gambled away a brass compass", "A fool and his compass part on any shore."),
    ("the chapel bell is cracked since the frost", "It sounds like a spoon on a kettle now."),
    ("Widow Tarn pays three pence for each eel", "Three pence! Last spring it was one."),
    ("the north road is closed by a rockfall", "No carts from the hills this week, then."),
    ("a juggler from Ilmen asks for a stage", "He may have the corner by the hearth."),
)
SECRET = "between us: I buried eleven silver spoons under the old willow"
UNANSWERED = "Mira, will the ferry sail tomorrow?"
# What the stub lets Mira do when Ann says a line.
ACTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("I am Ann Harrow, a cooper by trade.", "update_entity_observation",
     {"entity": "Ann", "observation": "Ann says: a cooper by trade."}),
    ("I owe Ben nine crowns, and I pay on Friday.", "add_journal_entry",
     {"content": "Ann owes Ben nine crowns and will pay on Friday."}),
    ("please remember: my boat is called Petrel.", "pin_fact",
     {"content": "Ann's boat is called Petrel."}),
    ("will you find out who waters the ale?", "set_goal",
     {"goal": "Find out who waters the ale.", "why": "Ann asked for it."}),
)  # fmt: skip
# An older version answers some of them with "there is no such setting".
BY_STAFF = (
    "aisetup/set Brannoc/tick_rate = 7",
    "aisetup/set Brannoc/whisper_policy = trusting",
    "aisetup/set Brannoc/discretion = trusting",
    "aisetup/set Brannoc/persona.voice = gruff, in short sentences",
    "aisetup/persona guard = You are a guard of the quarter. You are tired and do not gossip.",
    "aisetup/new Bruno = You are Bruno, who keeps the north gate. You let in whoever is polite.",
    "aisetup/new Hob = @guard",
    "ailore/set The tower = Hanno the mason built the tower in forty days.",
    "aimemory/add Brannoc = The cellar key hangs behind the bar.",
    "aimemory/add Mira = The harbour master is called Osk.",
    "aimemory/pin Mira = j1",
    "aigoals/add Brannoc = Polish the brass before the feast. : 8",
    "ainote Mira = Keep to the harbour this week.",
    "aistop Bruno",
)
PASS_IS_OVER = "SELECT outcome FROM evennia_ai_sleeppass WHERE outcome = 'done' LIMIT 1"
RECORDS = """
import json
from evennia.objects.models import ObjectDB
stores = ("journal", "ai_profiles", "ai_goals", "ai_archive")
def records_of(character, name):
    store = getattr(character, name, None)
    return list(store.all()) if hasattr(store, "all") else []
found = {
    character.dbref: {name: kept for name in stores if (kept := records_of(character, name))}
    for character in ObjectDB.objects.all()
    if hasattr(character, "journal")
}
print("RECORDS" + json.dumps(found, default=str))
"""


def thinking_with(stub: FaultyProvider) -> dict[str, Any]:
    """Return AI_ASSISTANT for a game that uses the stub."""
    profile = {"client": "openai", "base_url": stub.base_url, "model": "stub-1"}
    return {"profile": "stub", "PROFILES": {"stub": profile}, **SETTINGS}


def talk(player: TelnetPlayer, words: str, answer: str = "") -> None:
    """Say a line and wait for Mira's answer, which without another one repeats it."""
    player.mark()
    player.send(f"say {words}")
    player.expect(re.escape(answer or f"I heard: {words}"), 30)


def play(game: GameServer, stub: FaultyProvider) -> None:
    """Let three people talk with characters, set some up, sleep, and end in an unanswered line."""
    with game.player("Ann") as ann, game.player("Ben") as ben, game.player(ADMIN) as admin:
        for command in BY_STAFF:
            admin.mark()
            admin.send(command)
            with suppress(Unexpected):
                admin.expect("\n", 3)
        talk(ann, "hello Mira")
        for line, tool, arguments in ACTS:
            stub.queue({"tool_calls": [{"name": tool, "arguments": arguments}]})
            talk(ann, f"Mira, {line}")
        talk(ben, "Mira, I am Ben, and I mend nets.")
        ann.mark()
        ann.send(f"whisper Mira = {SECRET}")
        ann.expect("Mira whispers: ")
        ann.send("aireport Mira = She repeats what I say.")
        for tale, answer in TALES:
            stub.queue({"tool_calls": [{"name": "say", "arguments": {"text": answer}}]})
            talk(ann, f"Mira, {tale}.", answer)
        admin.mark()
        admin.send("aicompact Mira")
        game.wait_for_sql("SELECT count(*) > 0 FROM evennia_ai_compaction", [(1,)], 30)
        admin.send("aisleep Mira")
        ann.expect("Mira yawns and falls asleep", 30)
        game.wait_for_sql(PASS_IS_OVER, [("done",)], 90)
        ann.mark()
        ann.send("say Mira, good morning")
        ann.expect("Mira says, ", 60)
        stub.control(latency=60.0)
        ann.send(f"say {UNANSWERED}")
        unanswered = f"SELECT state FROM evennia_ai_event WHERE text LIKE '%{UNANSWERED}%'"
        game.wait_for_sql(f"{unanswered} AND state = 'claimed'", [("claimed",)])
        game.kill_server()
    game.stop()


def dump(database: Path) -> Iterator[str]:
    """Yield the statements that make a database again."""
    with closing(sqlite3.connect(database)) as connection:
        yield from connection.iterdump()


def main(folder: Path, result: Path) -> None:
    with FaultyProvider(folder.with_name("requests.jsonl")) as stub:
        game = GameServer.first_start(folder, assistant=thinking_with(stub))
        try:
            game.start()
            play(game, stub)
        finally:
            game.discard()
        records = game.python(RECORDS).rpartition("RECORDS")[2]
    text = "\n".join(["-- " + json.dumps(json.loads(records)), *dump(game.database), ""])
    result.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
