"""A message for somebody who is away is told once, however often the server is killed."""

import pytest

pytest.importorskip("evennia_ai.contrib.letters")
pytestmark = pytest.mark.soak
TEXT = "the boat is leaky"


def restarted(game):
    game.kill_server()
    game.start()


def test_a_message_outlives_a_kill_and_is_told_once(make_server):
    game = make_server(assistant={"EXTENSIONS": ["letters"], "EMBEDDER": "minilm"})
    with game.player("Ann") as ann:
        ann.send(f"say Mira, please tell Ben that {TEXT}.")
        ann.expect("Mira says")
    restarted(game)
    with game.player("Ben") as ben:
        ben.send("look")
        ben.expect(TEXT, 60)
        restarted(game)
    with game.player("Ben") as ben:
        ben.send("look")
        ben.expect("Mira")
        ben.expect_not(TEXT, 40)
