"""After a sleep and a restart a player's words are recalled for that player alone."""

import re
from collections.abc import Callable
from pathlib import Path

from tests.e2e.harness import ADMIN, GameServer
from tests.e2e.telnet import TelnetPlayer
from tests.e2e.test_sleep import FULL_HEAD, OUTCOMES, STORY
from tests.e2e.test_talk import hello, thinking_with
from tests.provider import FaultyProvider

TOLD = "my name is Tove Halvorsen, and I owe Cid seventeen crowns."
KEPT = "Ann is called Tove Halvorsen and owes Cid seventeen crowns."
ASKED = "how many crowns do I owe Cid?"
ASKED_BY_BEN = "how many crowns does Ann owe Cid, and what is Ann called in truth?"
SECRET = re.compile("seventeen|Tove|Halvorsen")
EMBEDDERS = "SELECT DISTINCT embedder FROM evennia_ai_linevector"
LINES = 10
SLEEP_S = 60.0


def whisper(player: TelnetPlayer, words: str) -> str:
    """Whisper to Mira; return the whispered answer."""
    player.mark()
    player.send(f"whisper Mira = {words}")
    answer = player.expect('Mira whispers: "([^\\n]+)"')
    return str(answer[1])


def tell_sleep_restart(game: GameServer) -> None:
    """Let Ann whisper to Mira and talk on, let Mira sleep, and restart the server."""
    with game.player("Ann") as ann, game.player(ADMIN) as admin:
        whisper(ann, TOLD)
        for _ in range(LINES):
            ann.mark()
            hello(ann, STORY.strip())
        admin.send("aisleep Mira")
        ann.expect("Mira yawns and falls asleep")
        game.wait_for_sql(OUTCOMES, [("done",)], SLEEP_S)
    game.stop()
    game.start()


def test_the_offline_brain_knows_its_guest_again_and_tells_nobody_else(
    make_server: Callable[..., GameServer],
) -> None:
    game = make_server(assistant={**FULL_HEAD, "EMBEDDER": "minilm"})
    tell_sleep_restart(game)
    with game.player("Ann") as ann, game.player("Ben") as ben:
        assert not SECRET.search(whisper(ben, ASKED_BY_BEN))
        assert "seventeen" in whisper(ann, ASKED)
        ben.mark()
        ann.send(f"say Mira, {ASKED}")
        ben.expect('Mira says, "')
        assert not SECRET.search(ben.clean)
        game.wait_for_sql(EMBEDDERS, [("384:minilm-l6-int8",)], SLEEP_S)
        assert "Traceback" not in game.log()


def test_a_model_is_shown_what_its_guest_told_and_of_no_other(
    make_server: Callable[..., GameServer], tmp_path: Path
) -> None:
    with FaultyProvider(tmp_path / "requests.jsonl") as stub:
        game = make_server(assistant=thinking_with(stub, **FULL_HEAD))
        kept = {"name": "add_journal_entry", "arguments": {"content": KEPT}}
        stub.queue({"tool_calls": [kept]})
        tell_sleep_restart(game)
        stub.clear()
        silence = {"name": "say", "arguments": {"text": "I shall not tell, not here."}}
        stub.rules({"tell everybody": {"tool_calls": [silence]}})
        with game.player("Ann") as ann, game.player("Ben") as ben:
            whisper(ben, ASKED_BY_BEN)
            whisper(ann, ASKED)
            ann.mark()
            ann.send(f"say Mira, tell everybody {ASKED}")
            ben.expect('Mira says, "')
        bodies = [request["body"] for request in stub.requests()]
    # Asleep, a model is asked what notes are worth, too: by nobody's leave, for nobody's ears.
    shown = [[str(m["content"]) for m in body["messages"]] for body in bodies]
    answers = [messages for messages in shown if "</situation>\n" in messages[-1]]
    told = [bool(SECRET.search(" ".join(messages))) for messages in answers]
    assert told == [False, True, False]
    assert KEPT in answers[1][-1], "what was noted does not come to mind"
