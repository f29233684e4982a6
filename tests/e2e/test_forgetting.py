"""A player types ``forgetme``: within a minute no byte of the game folder holds their words."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.e2e.harness import ADMIN, GameServer
from tests.encoded import forms
from tests.provider import FaultyProvider

NAMES = "brikado zelquis vorthamo lerrazon quiskaba thamolex kadovine zelborin morvanil dranquel"
SAID = [f"the {name} goblet sleeps under a crooked pier" for name in NAMES.split()]
BENS = ("my aunt sells pickled lemons", "the ferry leaves at dawn")
A_MINUTE_S = 60.0
LINES_OF_BEN = "SELECT content FROM evennia_ai_message WHERE speaker_name = 'Ben' ORDER BY id"


def thinking_with(stub: FaultyProvider) -> dict[str, object]:
    """Return AI_ASSISTANT for a game that uses the stub."""
    profile = {
        "client": "openai",
        "base_url": stub.base_url,
        "model": "stub-1",
        "max_in_flight": 64,
    }
    return {"profile": "stub", "PROFILES": {"stub": profile}}


def contents_of(path: Path) -> bytes:
    """Return the bytes of a file, uncompressed as well if it is compressed."""
    raw = path.read_bytes()
    try:
        return raw + gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError, zlib.error):
        return raw


def found_in(folder: Path, wanted: Iterable[str] = NAMES.split()) -> set[tuple[str, str]]:
    """Return the words in a game folder, each with the file that holds it."""
    words = {word: tuple(forms(word)) for word in wanted}
    places = set()
    for path in folder.rglob("*"):
        if path.is_file():
            raw = contents_of(path)
            places |= {
                (path.name, word)
                for word, shapes in words.items()
                if any(shape in raw for shape in shapes)
            }
    return places


def test_after_forgetme_no_byte_of_the_game_folder_holds_their_words(
    make_server: Callable[..., GameServer], stub: FaultyProvider
) -> None:
    refused = json.dumps({"error": {"message": f"bad: {SAID[-1]}"}})
    stub.rules({NAMES.rsplit(maxsplit=1)[-1]: {"raw": refused, "status": 400}})
    game = make_server(assistant=thinking_with(stub))
    older = game.folder / "server" / "logs" / "server.log.2026_01_04"
    older.write_text(f"2026-01-04 10:00:00 [!!] Mira: no answer: {SAID[0]}\n")
    with game.player("Ann") as ann, game.player("Ben") as ben, game.player(ADMIN) as admin:
        for number, phrase in enumerate(SAID):
            ann.mark()
            whispered = number % 3 == 1
            ann.send(f"whisper Mira = {phrase}" if whispered else f"say Mira, {phrase}")
            ann.expect("Mira (says|whispers)")
        for line in BENS:
            ben.mark()
            ben.send(f"say Mira, {line}")
            ben.expect("Mira says")
        admin.send("aicompact Mira")
        admin.expect("ompact")
        admin.send("aisleep Mira")
        game.wait_for_sql("SELECT outcome FROM evennia_ai_sleeppass", [("done",)], 60)
        assert {word for _file, word in found_in(game.folder)} == set(NAMES.split())
        assert older.name in {file for file, _word in found_in(game.folder)}
        before = game.sql(LINES_OF_BEN)

        ann.mark()
        ann.send("forgetme")
        ann.expect(r"Mira: .*words heard: 1")
        ann.expect(r"yes/\[no\]")
        ann.send("yes")
        ann.expect("It is forgotten", 30)
        assert game.wait_until(lambda: not found_in(game.folder), A_MINUTE_S), found_in(game.folder)
        assert [tuple(row) for row in game.sql(LINES_OF_BEN)] == [tuple(row) for row in before]

        ben.mark()
        ben.send("say Mira, are you still there?")
        ben.expect("Mira (says|yawns|mumbles|wakes)")
        ann.mark()
        ann.send("aboutme")
        ann.expect("No character knows anything of you|your talk has cost")
        assert not found_in(game.folder)
