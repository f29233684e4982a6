"""The REST API: the same rows as the commands, for whom the same table of permissions lets in."""

import base64
import json
from datetime import timedelta

import pytest
from django.test import Client

from evennia_ai.models import Compaction, Message, ModelCall, SleepPass, ToolCall, Turn
from tests.scripted import call

pytestmark = pytest.mark.game

WORD = "zanzibar"
RESOURCES = (
    "turns", "messages", "model-calls", "tool-calls", "compactions", "sleep-passes",
)  # fmt: skip


@pytest.fixture(autouse=True)
def addresses(settings):
    settings.ROOT_URLCONF = "tests.api_addresses"
    settings.ALLOWED_HOSTS = ["*"]
    settings.REST_API_ENABLED = True


@pytest.fixture
def reader(game, tavern):
    """Return a function that returns the web client of a new account with a permission."""

    def reader(permission=""):
        name = f"Web{permission}"
        player = game.player(name, tavern, permissions=[permission] if permission else [])
        client = Client()
        client.force_login(player.account)
        return client

    return reader


@pytest.fixture
def talked(game, mira, ann):
    """Let Ann say something, whisper something, and fill every table."""
    script = mira.assistant
    game.model.add(
        call("say", text="A good evening to you."),
        call("whisper", target="Ann", text=f"I keep {WORD}."),
    )
    ann.do("say Mira, good evening")
    game.run(2)
    ann.do(f"whisper Mira = Keep my word: {WORD}")
    game.run(2)
    now = script.services.now()
    ModelCall.objects.create(
        assistant_id=script.id, at=now, turn=Turn.objects.last(), purpose="tick",
        profile="default", error_kind="rejected", error=f"the endpoint said {WORD}",
    )  # fmt: skip
    Compaction.objects.create(
        assistant_id=script.id, at=now, reason="sleep", from_seq=1, upto_seq=1, compacted_count=1,
        original_token_count=9, summary_token_count=3,
        summary={"public": "They met.", ann.dbref: f"Ann's word is {WORD}."},
    )  # fmt: skip
    SleepPass.objects.create(
        assistant_id=script.id, at=now, ended_at=now, reason="order", outcome="done",
        results={}, errors={"context_compaction": f"the endpoint said {WORD}"},
    )  # fmt: skip
    return mira


def get(client, path, **query):
    reply = client.get(f"/ai/api/{path}/", query)
    return reply.status_code, json.loads(reply.content)


def found(client, path, **query):
    status, body = get(client, path, **query)
    assert status == 200, body
    return body["results"]


# --- who may read -----------------------------------------------------------------------------


def test_strangers_and_players_are_refused_everywhere(talked, reader):
    player = reader()
    for path in RESOURCES:
        assert get(Client(), path)[0] in (401, 403)
        assert get(player, path) == (403, {"detail": "Only Builders may read that."})
    turn = Turn.objects.first().id
    assert get(Client(), f"turns/{turn}")[0] in (401, 403)
    assert get(player, f"turns/{turn}")[0] == 403


def test_a_script_logs_in_with_name_and_password(talked, reader):
    reader("Builder")
    login = base64.b64encode(b"WebBuilder:xxxxxxxxxxxx").decode()
    reply = Client().get("/ai/api/turns/", headers={"Authorization": f"Basic {login}"})
    assert reply.status_code == 200


def test_a_game_without_running_assistants_says_so(talked, reader, monkeypatch):
    from evennia_ai.assistant_script import AssistantScript

    admin = reader("Admin")
    monkeypatch.setattr(AssistantScript, "shared_services", None)
    assert get(admin, "turns") == (503, {"detail": "The assistants of this game do not run."})


def test_a_builder_reads_no_private_word_and_no_error(
    talked, reader, service, django_assert_max_num_queries
):
    builder, admin = reader("Builder"), reader("Admin")
    for path in RESOURCES:
        with django_assert_max_num_queries(14):
            rows = found(builder, path)
        single = [get(builder, f"{path}/{row['id']}") for row in rows]
        assert rows and WORD not in json.dumps([rows, single])
        assert all(status == 200 for status, _ in single)
    for path in RESOURCES[1:]:
        assert WORD in json.dumps(found(admin, path))
    service.who_may_read = {**service.who_may_read, "private_words": "Builder"}
    assert WORD in json.dumps(found(builder, "messages"))


def test_a_marker_stands_for_each_hidden_word(talked, ann, reader):
    builder = reader("Builder")
    lines = found(builder, "messages")
    whispers = [row for row in lines if row["private"]]
    assert len(whispers) == 3 and any("good evening" in row["content"] for row in lines)
    for row in whispers:
        assert row["content"] == "[whisper, only admins may read it]"
        assert row["audience"] is row["tool_calls"] is None
        assert row["speaker"] == row["speaker_name"] == ""
    whisper, said = found(builder, "tool-calls")
    assert (json.loads(said["arguments"])["text"], said["private"]) == (
        "A good evening to you.", False,
    )  # fmt: skip
    assert (whisper["name"], whisper["private"]) == ("whisper", True)
    assert whisper["arguments"] == whisper["result"] == "[words, only admins may read it]"
    assert found(builder, "model-calls")[0]["error"] == "[error, only admins may read it]"
    public, private = found(builder, "compactions")[0]["summary"]
    assert public == {"audience": ["public"], "text": "They met."}
    assert private == {"audience": None, "text": "[summary, only admins may read it]"}
    assert found(builder, "turns")[0]["audience"] is None


def test_a_call_of_a_public_turn_is_private_if_its_prompt_was(game, talked, ann, reader):
    game.model.add(call("say", text=f"You told me of {WORD}."))
    ann.do("say Mira, what did I tell you?")
    game.run(2)
    said = found(reader("Builder"), "tool-calls")[0]
    assert (said["name"], said["private"]) == ("say", True)
    assert said["arguments"] == "[words, only admins may read it]"


def test_reading_private_items_is_logged_without_the_words(talked, reader, monkeypatch):
    from evennia.utils import logger

    builder, admin, lines = reader("Builder"), reader("Admin"), []
    monkeypatch.setattr(logger, "log_sec", lines.append)
    found(builder, "messages")
    found(admin, "turns")
    assert lines == []
    rows = found(admin, "messages", character="Mira")
    get(admin, f"messages/{rows[0]['id']}")
    listed, single = lines
    assert listed.startswith("GET /ai/api/messages/?character=Mira: WebAdmin(account ")
    assert listed.endswith(" read 3 private items") and single.endswith(" read 1 private items")


# --- what is found ----------------------------------------------------------------------------


def test_rows_are_found_by_character_turn_time_and_outcome(game, talked, tavern, reader):
    admin, script = reader("Admin"), talked.assistant
    other = game.assistant("Ben", tavern)
    old = script.services.now() - timedelta(days=9)
    Turn.objects.create(
        assistant_id=other.assistant.id, at=old, ended_at=old, context="tick_event",
        outcome="excused",
    )  # fmt: skip
    first = found(admin, "turns", character="Mira")[-1]
    assert (first["character"], first["outcome"]) == (talked.dbref, "answered")
    for name in ("mira", talked.dbref, str(talked.id)):
        assert len(found(admin, "turns", character=name)) == 2
    assert [row["character"] for row in found(admin, "turns", outcome="excused")] == [other.dbref]
    since = (old + timedelta(days=1)).isoformat()
    assert len(found(admin, "turns", since=since)) == 2
    assert len(found(admin, "turns", until=since)) == 1
    number = first["id"]
    assert [row["id"] for row in found(admin, "turns", turn=number)] == [number]
    tables = {"messages": Message, "model-calls": ModelCall, "tool-calls": ToolCall}
    for path, table in tables.items():
        rows = found(admin, path, turn=number)
        stored = table.objects.filter(turn_id=number).order_by("-id")
        assert [row["id"] for row in rows] == list(stored.values_list("id", flat=True))
        assert {row["turn"] for row in rows} == {number}
    rejected = found(admin, "model-calls", outcome="rejected")
    assert [row["error_kind"] for row in rejected] == ["rejected"]
    assert len(found(admin, "model-calls", outcome="ok")) == 2
    assert found(admin, "model-calls", outcome="deadline") == []
    assert found(admin, "turns", outcome="open") == []
    assert len(found(admin, "compactions", turn=number, outcome="x")) == 1  # without meaning there


@pytest.mark.parametrize(
    ("path", "query", "told"),
    [
        ("turns", {"outcome": "won"}, "won is not one of answered, "),
        ("turns", {"turn": "last"}, "Enter a whole number."),
        ("turns", {"since": "yesterday"}, "Enter a valid date/time."),
    ],
)
def test_a_wrong_value_is_a_bad_request_that_says_what_is_right(talked, reader, path, query, told):
    status, body = get(reader("Admin"), path, **query)
    assert status == 400
    assert told in " ".join(body[next(iter(query))])


def test_nothing_can_be_changed(talked, reader):
    admin = reader("Admin")
    for path in ("/ai/api/turns/", f"/ai/api/turns/{Turn.objects.first().id}/"):
        for method in (admin.post, admin.put, admin.patch, admin.delete):
            assert method(path, {}).status_code in (403, 405)
