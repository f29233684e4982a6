"""Players talk to an assistant over telnet, through a reload and a crash."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.harness import ADMIN, GameServer
from tests.e2e.telnet import TelnetPlayer
from tests.provider import FaultyProvider

MESSAGES = "SELECT id, role, content FROM evennia_ai_message ORDER BY id"


@pytest.fixture(scope="module")
def shared_stub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultyProvider]:
    """Return the stub provider that all tests of this module share."""
    with FaultyProvider(tmp_path_factory.mktemp("stub") / "requests.jsonl") as running:
        yield running


@pytest.fixture
def stub(shared_stub: FaultyProvider) -> FaultyProvider:
    """Return the shared stub without rules and with an empty log."""
    shared_stub.clear()
    return shared_stub


@pytest.fixture(scope="module", params=["offline", "stub"])
def game(
    request: pytest.FixtureRequest, game_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GameServer]:
    """Return a running server with the stand-in, or with the stub provider."""
    mind = {}
    if request.param == "stub":
        mind = thinking_with(request.getfixturevalue("shared_stub"))
    folder = tmp_path_factory.mktemp(request.param) / "game"
    server = GameServer.copy_of(game_template, folder, assistant=mind)
    try:
        server.start()
        yield server
    finally:
        server.discard()


offline = pytest.mark.parametrize("game", ["offline"], indirect=True)
with_the_stub = pytest.mark.parametrize("game", ["stub"], indirect=True)


def thinking_with(stub: FaultyProvider, **settings: object) -> dict[str, object]:
    """Return AI_ASSISTANT for a game that uses the stub."""
    profile = {
        "client": "openai",
        "base_url": stub.base_url,
        "model": "stub-1",
        "max_in_flight": 64,
    }
    return {"profile": "stub", "PROFILES": {"stub": profile}, **settings}


def hello(player: TelnetPlayer, words: str = "hello Mira") -> None:
    """Say a line and wait for an answer in the room."""
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
        asked = ["Mira, what about your beer?", "Mira, who are you?"]
        ann.send(f"say {asked[0]}")
        ben.send(f"say {asked[1]}")
        # What Mira says first may be her greeting.
        game.wait_for_sql(
            "SELECT text, state FROM evennia_ai_event"
            f" WHERE kind = 'say' AND text IN {tuple(asked)} ORDER BY text",
            [(words, "answered") for words in asked],
        )


@pytest.mark.quick
@with_the_stub
def test_talk_goes_on_after_a_reload_with_the_history_intact(game: GameServer) -> None:
    with game.player("Ann") as ann:
        hello(ann)
        before = game.sql(MESSAGES)
        game.reload(by_launcher=True)
        hello(ann, "are you still there, Mira?")
        after = game.sql(MESSAGES)
        assert [tuple(r) for r in after[: len(before)]] == [tuple(r) for r in before]
        assert len(after) > len(before)


@offline
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


@with_the_stub
def test_a_whispered_secret_is_in_no_request_for_others(
    game: GameServer, stub: FaultyProvider
) -> None:
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
    told = ["xyzzy-4711" in str(request["body"]) for request in stub.requests()]
    # Mira may remark on an arrival first, and may be asked for her words to Ann again.
    since = told[told.index(True) :]
    assert since.count(False) >= 3
    assert not any(since[since.index(False) :])


@with_the_stub
def test_a_call_that_hangs_through_a_kill_is_answered_afterwards(
    game: GameServer, stub: FaultyProvider
) -> None:
    stub.queue({"text": "never seen", "latency": 60.0})
    with game.player("Ann") as ann:
        ann.send("say hello through a kill, Mira")
        ann.expect("You say")
        assert game.wait_until(stub.requests, 20.0)
        game.kill_server()
        game.start()
        ann.enter()
        # It may come before Ann is back in character, if her session survived.
        assert game.wait_until(lambda: "I heard: hello through a kill" in ann.clean, 30.0)
    assert ("interrupted",) in [
        tuple(row) for row in game.sql("SELECT outcome FROM evennia_ai_turn")
    ]


WRONG_KEY = "sk-wrong-key-0815"
TROUBLES = {"Nell": r"NO_KEY", "Kit": "key", "Gus": r"127\.0\.0\.1:9"}
MAKE_TROUBLED = """
from evennia.objects.models import ObjectDB
from evennia.utils.create import create_object
for name in {names!r}:
    character = create_object(
        "evennia_ai.assistant_character.AssistantCharacter",
        key=name,
        location=ObjectDB.objects.get(id=2),
        attributes=[("ai_persona", "You are " + name + ".")],
    )
    character.assistant.db.profile = name.lower()
"""


@pytest.fixture(scope="module")
def troubled_game(
    game_template: Path, shared_stub: FaultyProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GameServer]:
    """Return a game with models that have no key, a wrong key, and a wrong address."""
    profile = {"client": "openai", "base_url": shared_stub.base_url}
    profiles = {
        "nell": profile | {"model": "stub-1", "api_key_env": "NO_KEY"},
        "kit": profile | {"model": "stub-2", "api_key_env": "WRONG_KEY"},
        "gus": profile | {"model": "stub-3", "base_url": "http://127.0.0.1:9/v1"},
    }
    game = GameServer.copy_of(
        game_template,
        tmp_path_factory.mktemp("troubled") / "game",
        assistant={"PROFILES": profiles},
        env={"WRONG_KEY": WRONG_KEY},
    )
    try:
        game.python(MAKE_TROUBLED.format(names=tuple(TROUBLES)))
        game.start()
        yield game
    finally:
        game.discard()


@pytest.mark.parametrize("name", TROUBLES)
def test_a_bad_key_or_address_is_told_to_the_admin_and_not_to_the_player(
    troubled_game: GameServer, stub: FaultyProvider, name: str
) -> None:
    stub.control(require_key="sk-right")
    with troubled_game.player("Ann") as ann, troubled_game.player(ADMIN) as admin:
        ann.send(f"say hello {name}")
        ann.expect(f'{name} says, "')
        admin.send("aistatus")
        admin.expect(f"(?i){name}:.*{TROUBLES[name]}")
        assert "Traceback" not in ann.clean + admin.clean + troubled_game.log()
        assert WRONG_KEY[-4:] not in ann.clean + admin.clean + troubled_game.log()
