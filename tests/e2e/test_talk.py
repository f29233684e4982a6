"""Players talk to an assistant over telnet, through reload and crash, with either mind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evennia_ai.testing.stub_process import StubProvider
from server import running
from tests.e2e.harness import ADMIN, GameServer
from tests.e2e.telnet import TelnetPlayer

MakeServer = Callable[..., GameServer]
MESSAGES = "SELECT id, role, content FROM evennia_ai_message ORDER BY id"
OPEN_EVENTS = "SELECT text, state FROM evennia_ai_event WHERE state IN ('waiting', 'claimed')"


@pytest.fixture
def stub(tmp_path: Path) -> Iterator[StubProvider]:
    """A stub provider with a log of its own."""
    with StubProvider(tmp_path / "requests.jsonl") as running:
        yield running


@pytest.fixture(scope="module", params=["offline", "stub"])
def game(
    request: pytest.FixtureRequest, game_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GameServer]:
    """A running server whose assistants think offline, or with a stub provider."""
    folder = tmp_path_factory.mktemp(request.param)
    with StubProvider(folder / "requests.jsonl") as stub:
        assistant = thinking_with(stub) if request.param == "stub" else {}
        server = GameServer.copy_of(game_template, folder / "game", assistant=assistant)
        try:
            server.start()
            yield server
        finally:
            server.stop()


def thinking_with(stub: StubProvider, **settings: object) -> dict[str, object]:
    """AI_ASSISTANT for a game that asks the stub."""
    profile = {"client": "openai", "base_url": stub.base_url, "model": "stub-1"}
    return {"profile": "stub", "PROFILES": {"stub": profile}, **settings}


def hello(player: TelnetPlayer, words: str = "hello Mira") -> None:
    """Say something and be answered in the room."""
    player.send(f"say {words}")
    player.expect(re.escape(f'You say, "{words}"'))
    player.expect('Mira says, "[^"]+')


def test_say_whisper_and_emote_are_answered_where_they_belong(game: GameServer) -> None:
    with game.player("Ann") as ann, game.player("Ben") as ben:
        ann.send("say hello Mira")
        ann.expect('Mira says, "')
        ben.expect('Mira says, "')

        ben.mark()
        ann.send("whisper Mira = my secret is 4711")
        ann.expect('Mira whispers: "')
        ben.expect_not("4711|whispers", 1.0)

        ann.send("emote waves at Mira.")
        ben.expect(r"Ann waves at Mira\.")
        ann.expect('Mira (says, "|[a-z])')


def test_two_players_at_once_are_both_answered(game: GameServer) -> None:
    with game.player("Ann") as ann, game.player("Ben") as ben:
        ann.send("say Mira, what about your beer?")
        ben.send("say Mira, who are you?")
        ann.expect('Mira says, "')
        game.wait_for_sql(OPEN_EVENTS, [])
        states = game.sql("SELECT text, state FROM evennia_ai_event WHERE kind = 'say'")
        assert {tuple(row) for row in states} >= {
            ("Mira, what about your beer?", "answered"),
            ("Mira, who are you?", "answered"),
        }


def test_talk_goes_on_after_a_reload_with_the_history_intact(game: GameServer) -> None:
    with game.player("Ann") as ann:
        hello(ann)
        before = game.sql(MESSAGES)
        game.reload()
        hello(ann, "are you still there, Mira?")
        after = game.sql(MESSAGES)
        assert [tuple(r) for r in after[: len(before)]] == [tuple(r) for r in before]
        assert len(after) > len(before)


def test_talk_goes_on_after_kill_9_with_the_history_intact(game: GameServer) -> None:
    with game.player("Ann") as ann:
        hello(ann)
        before = game.sql(MESSAGES)
        game.kill_server()
        game.start()
        ann.enter()
        ann.mark()
        hello(ann, "are you still there, Mira?")
        after = game.sql(MESSAGES)
        assert [tuple(r) for r in after[: len(before)]] == [tuple(r) for r in before]


def test_a_whispered_secret_is_in_no_request_for_others(
    make_server: MakeServer, stub: StubProvider
) -> None:
    game = make_server(assistant=thinking_with(stub))
    with game.player("Ann") as ann, game.player("Ben") as ben:
        ann.send("whisper Mira = the code is xyzzy-4711")
        ann.expect('Mira whispers: "')
        ben.send("whisper Mira = what did Ann tell you?")
        ben.expect('Mira whispers: "')
        ben.send("say Mira, what is the code?")
        ben.expect('Mira says, "')
        ann.expect('Mira says, "')
        ann.mark()
        ann.send("say Mira, do you know it?")
        ann.expect('Mira says, "')
    bodies = [str(request["body"]) for request in stub.requests()]
    assert len(bodies) == 4
    assert [("xyzzy-4711" in body) for body in bodies] == [True, False, False, False]


def test_a_call_that_hangs_through_a_kill_is_answered_afterwards(
    make_server: MakeServer, stub: StubProvider
) -> None:
    game = make_server(assistant=thinking_with(stub))
    stub.queue({"text": "never seen", "latency": 60.0})
    with game.player("Ann") as ann:
        ann.send("say hello Mira")
        ann.expect("You say")
        assert running.wait_until(stub.requests, 20.0)
        game.kill_server()
        game.start()
        ann.enter()
        # It may come before Ann is back in character, if her session survived.
        assert running.wait_until(lambda: 'I heard: hello Mira"' in ann.clean, 30.0)
    assert game.sql("SELECT outcome FROM evennia_ai_turn ORDER BY id")[0][0] == "interrupted"


@pytest.mark.parametrize("env", [{}, {"STUB_KEY": "sk-wrong-key-0815"}])
def test_a_missing_or_wrong_key_is_told_to_the_admin_and_not_to_the_player(
    make_server: MakeServer, stub: StubProvider, env: dict[str, str]
) -> None:
    settings = thinking_with(stub)
    settings["PROFILES"]["stub"]["api_key_env"] = "STUB_KEY"  # type: ignore[index]
    stub.control(require_key="sk-right")
    game = make_server(assistant=settings, env=env)
    with game.player("Ann") as ann, game.player(ADMIN) as admin:
        ann.send("say hello Mira")
        ann.expect('Mira says, "Forgive me, my thoughts wandered.')
        admin.send("aistatus")
        admin.expect("Mira: .*key" if env else "Mira: .*STUB_KEY")
        assert "Traceback" not in ann.clean + admin.clean
        assert "0815" not in admin.clean + game.log()


def test_an_unreachable_endpoint_is_told_to_the_admin_and_not_to_the_player(
    make_server: MakeServer,
) -> None:
    profile = {"client": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m"}
    game = make_server(assistant={"profile": "gone", "PROFILES": {"gone": profile}})
    with game.player("Ann") as ann, game.player(ADMIN) as admin:
        ann.send("say hello Mira")
        ann.expect('Mira says, "Forgive me, my thoughts wandered.')
        admin.send("aistatus")
        admin.expect(r"Mira: .*127\.0\.0\.1:9")
        assert "Traceback" not in ann.clean + admin.clean + game.log()
