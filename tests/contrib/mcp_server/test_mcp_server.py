"""``/ai/mcp``: what staff reads by commands, an agent with their account reads too; no more."""

import base64
import json

import pytest
from django.test import Client

from tests.same_thread import SameThread
from tests.scripted import call

pytest.importorskip("mcp", reason="the extra mcp is not installed")
pytestmark = pytest.mark.game

WORD, PASSWORD = "zanzibar", "heifer-22"
READING = {
    "list_characters", "read_character", "read_history", "why", "read_memory", "search_memory",
    "read_lore",
}  # fmt: skip


@pytest.fixture(autouse=True)
def address(service, monkeypatch, settings):
    from evennia_ai.contrib.mcp_server import view

    settings.ALLOWED_HOSTS = ["*"]
    settings.ROOT_URLCONF = "evennia_ai.contrib.mcp_server.view"
    monkeypatch.setattr(view, "game", SameThread(service.clock))


class Agent:
    """Sends what a client of the protocol sends, with an account's name and password."""

    def __init__(self, name, password=PASSWORD):
        login = base64.b64encode(f"{name}:{password}".encode()).decode()
        self._login = {"HTTP_AUTHORIZATION": f"Basic {login}"}

    def post(self, method, accept="application/json, text/event-stream", **params):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {**self._login, "HTTP_ACCEPT": accept}
        return Client().post("/mcp", json.dumps(body), content_type="application/json", **headers)

    def asked(self, method, **params):
        reply = self.post(method, **params)
        assert reply.status_code == 200, reply.content
        return json.loads(reply.content)["result"]

    def tools(self):
        return {tool["name"] for tool in self.asked("tools/list")["tools"]}

    def use(self, name, **arguments):
        """Return what a tool said, and whether that was an error."""
        result = self.asked("tools/call", name=name, arguments=arguments)
        return result["content"][0]["text"], result.get("isError", False)


@pytest.fixture
def agent(game, tavern):
    def agent(permission):
        player = game.player(f"Web{permission}", tavern, permissions=[permission])
        player.account.set_password(PASSWORD)
        player.account.save()
        player.account.db._playable_characters = [player.character]
        player.account.unpuppet_object(player.session)  # nobody plays it now
        return Agent(player.account.username)

    return agent


@pytest.fixture
def talked(game, mira, ann):
    game.model.add(
        call("say", text="A good evening to you."),
        call("whisper", target="Ann", text=f"I keep {WORD}."),
    )
    ann.do("say Mira, good evening")
    game.run(2)
    ann.do(f"whisper Mira = Keep my word: {WORD}")
    game.run(2)
    return mira


def test_strangers_and_players_get_nothing(game, tavern, talked, agent):
    assert Agent("Nobody").post("tools/list").status_code == 401
    assert Client().post("/mcp", "{}", content_type="application/json").status_code == 401
    refused = agent("Player").post("tools/list")
    assert refused.status_code == 403 and b"Only the staff" in refused.content
    assert Client().get("/mcp").status_code in (401, 405)


def test_a_builder_reads_no_whisper_and_an_admin_does(talked, agent):
    builder, admin = agent("Builder"), agent("Admin")
    assert builder.tools() == READING
    for name in ("read_history", "why", "search_memory"):
        words = {"words": WORD} if name == "search_memory" else {}
        assert WORD not in builder.use(name, character="Mira", **words)[0], name
    said, failed = admin.use("read_history", character="Mira")
    assert WORD in said and "good evening" in said and not failed and "|" not in said
    assert "Mira" in admin.use("list_characters")[0]
    assert WORD in admin.use("why", character="Mira")[0]
    assert "Fix" not in admin.use("read_character", character="Mira")[0]


def test_a_wrong_call_is_told_in_a_sentence(talked, agent):
    admin = agent("Admin")
    for name, arguments, told in (
        ("read_history", {"character": "Nobody"}, "no character called 'Nobody'"),
        ("read_history", {"character": "Mira = 1"}, "character: String should match"),
        ("read_history", {"character": "/export all"}, "character: String should match"),
        ("read_memory", {"character": "Mira", "page": 0}, "page: Input should be greater"),
        ("write_lore", {"title": "x", "text": "y"}, "no tool 'write_lore' for you"),
        ("fly", {}, "no tool 'fly' for you"),
    ):
        assert told in admin.use(name, **arguments)[0], name
    assert admin.post("tools/list", accept="text/html").status_code == 406


def test_lore_and_personas_are_written_if_the_game_allows_it(settings, talked, agent):
    settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "MCP_WRITES": True}
    admin, builder = agent("Admin"), agent("Builder")
    assert builder.tools() == {*READING, "write_lore", "set_persona"}
    told, _ = admin.use("write_lore", title="The well", text="It is dry.", scopes="faction:guard")
    assert "Written" in told
    assert "It is dry." in builder.use("read_lore", title="The well")[0]
    before = talked.attributes.get("ai_persona")
    assert "may not change Mira" in builder.use("set_persona", character="Mira", text="x")[0]
    assert talked.attributes.get("ai_persona") == before
    admin.use("set_persona", character="Mira", text="You are Mira, a pilot.")
    assert "a pilot" in admin.use("read_character", character="Mira")[0]


def test_without_the_sdk_the_extension_is_off_and_aistatus_says_so(service, monkeypatch):
    from evennia_ai.contrib import mcp_server
    from evennia_ai.game.settings import SettingReader

    monkeypatch.setattr(mcp_server, "find_spec", lambda _name: None)
    problems = list(service.problems)
    monkeypatch.setattr(service, "problems", problems)
    extension = mcp_server.McpServerExtension()
    assert not extension.set_up(service, SettingReader(extension.entries))
    assert "pip install" in problems[-1](None)[0][1] and not [*extension.urls(False)]
