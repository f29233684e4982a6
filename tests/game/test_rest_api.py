"""The REST API: the same rows as the commands, for whom the same table of permissions lets in."""

import base64
import json
from datetime import timedelta

import pytest
from django.test import Client

from evennia_ai.models import Compaction, Message, ModelCall, SleepPass, ToolCall, Turn
from tests.scripted import call

WORD = "zanzibar"
RESOURCES = (
    "characters", "turns", "messages", "model-calls", "tool-calls", "compactions", "sleep-passes",
)  # fmt: skip


@pytest.fixture(autouse=True)
def addresses(settings):
    settings.ROOT_URLCONF = "tests.game.api_addresses"
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
        assistant_id=script.id, at=now, ended_at=now, epoch=1, reason="order", outcome="done",
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


@pytest.mark.parametrize("path", [*RESOURCES, "schema"])
def test_strangers_and_players_are_refused(talked, reader, path):
    assert get(Client(), path)[0] in (401, 403)
    status, body = get(reader(), path)
    assert status == 403
    assert body == {"detail": "Only Builders may read that."}


def test_a_script_logs_in_with_name_and_password(talked, reader):
    reader("Builder")
    login = base64.b64encode(b"WebBuilder:xxxxxxxxxxxx").decode()
    reply = Client().get("/ai/api/turns/", headers={"Authorization": f"Basic {login}"})
    assert reply.status_code == 200


@pytest.mark.parametrize("path", [*RESOURCES, "schema"])
def test_without_the_switch_of_evennia_there_is_no_api(talked, reader, settings, path):
    settings.REST_API_ENABLED = False
    status, body = get(reader("Admin"), path)
    assert status == 404
    assert "REST_API_ENABLED" in body["detail"]


@pytest.mark.parametrize("path", RESOURCES)
def test_a_builder_reads_no_private_word_and_no_error(talked, reader, path):
    rows = found(reader("Builder"), path)
    assert rows
    assert WORD not in json.dumps(rows)


def test_a_marker_stands_for_each_hidden_word(talked, ann, reader):
    builder = reader("Builder")
    whispers = [row for row in found(builder, "messages") if row["private"]]
    assert len(whispers) == 3
    for row in whispers:
        assert row["content"] == "[whisper, Admins read it]"
        assert row["audience"] is row["tool_calls"] is None
        assert row["speaker"] == row["speaker_name"] == ""
    whisper = found(builder, "tool-calls")[0]
    assert (whisper["name"], whisper["private"]) == ("whisper", True)
    assert whisper["arguments"] == whisper["result"] == "[words, Admins read it]"
    assert found(builder, "model-calls")[0]["error"] == "[error, Admins read it]"
    public, private = found(builder, "compactions")[0]["summary"]
    assert public == {"audience": ["public"], "text": "They met."}
    assert private == {"audience": None, "text": "[summary, Admins read it]"}
    assert found(builder, "turns")[0]["audience"] is None


@pytest.mark.parametrize("path", RESOURCES[2:])
def test_an_admin_reads_every_word(talked, reader, path):
    assert WORD in json.dumps(found(reader("Admin"), path))


def test_public_words_are_shown_to_builders(talked, reader):
    words = [row["content"] for row in found(reader("Builder"), "messages")]
    assert any("good evening" in word for word in words)
    said = found(reader("Admin"), "tool-calls")[1]
    assert json.loads(said["arguments"])["text"] == "A good evening to you."
    assert said["private"] is False


def test_reading_private_items_is_logged_without_the_words(talked, reader, monkeypatch):
    from evennia.utils import logger

    builder, admin, lines = reader("Builder"), reader("Admin"), []
    monkeypatch.setattr(logger, "log_sec", lines.append)
    found(builder, "messages")
    found(admin, "turns")
    assert lines == []
    found(admin, "messages", character="Mira")
    (line,) = lines
    assert line.startswith("GET /ai/api/messages/?character=Mira: WebAdmin(account ")
    assert line.endswith(" read 3 private items")


def test_the_game_can_change_who_may_read(talked, reader, service):
    service.who_may_read = {**service.who_may_read, "private_words": "Builder"}
    assert WORD in json.dumps(found(reader("Builder"), "messages"))


def test_hidden_characters_do_not_leave_the_log(talked, reader):
    Message.objects.filter(role="user").update(content="Good \x1b[31mday\u202e\nto you")
    assert found(reader("Admin"), "messages")[-1]["content"] == "Good day\nto you"


# --- what is found ----------------------------------------------------------------------------


def test_rows_are_found_by_character_turn_time_and_outcome(game, talked, tavern, reader):
    admin, script = reader("Admin"), talked.assistant
    other = game.assistant("Ben", tavern)
    old = script.services.now() - timedelta(days=9)
    Turn.objects.create(
        assistant_id=other.assistant.id, at=old, ended_at=old, epoch=1, context="tick_event",
        outcome="excused",
    )  # fmt: skip
    first = found(admin, "turns", character="Mira")[-1]
    assert first["character"] == talked.dbref
    assert first["outcome"] == "answered"
    for name in ("mira", talked.dbref, str(talked.id)):
        assert len(found(admin, "turns", character=name)) == 2
    assert [row["character"] for row in found(admin, "turns", outcome="excused")] == [other.dbref]
    since = (old + timedelta(days=1)).isoformat()
    assert len(found(admin, "turns", since=since)) == 2
    assert len(found(admin, "turns", until=since)) == 1
    number = first["id"]
    for path, table in (
        ("messages", Message),
        ("model-calls", ModelCall),
        ("tool-calls", ToolCall),
    ):
        rows = found(admin, path, turn=number)
        assert [row["id"] for row in rows] == sorted(
            table.objects.filter(turn_id=number).values_list("id", flat=True), reverse=True
        )
        assert {row["turn"] for row in rows} == {number}
    assert [row["error_kind"] for row in found(admin, "model-calls", outcome="rejected")] == [
        "rejected"
    ]
    assert len(found(admin, "model-calls", outcome="ok")) == 2
    assert found(admin, "model-calls", outcome="deadline") == []
    assert found(admin, "turns", outcome="open") == []


def test_pages_hold_while_rows_are_added(talked, reader):
    admin = reader("Admin")
    _, page = get(admin, "messages", page_size=2)
    newest = Message.objects.last()
    newest.id = None
    newest.save()
    ids = [row["id"] for row in page["results"]]
    while page["next"]:
        page = json.loads(admin.get(page["next"]).content)
        ids += [row["id"] for row in page["results"]]
    assert ids == sorted(Message.objects.exclude(id=newest.id).values_list("id", flat=True))[::-1]


def test_characters_have_their_state_and_figures(game, talked, tavern, reader):
    from evennia_ai.game.sleep_state import fall_asleep

    ben, cid = game.assistant("Ben", tavern), game.assistant("Cid", tavern)
    cid.assistant.stop_thinking()
    fall_asleep(ben.assistant, "order")
    rows = {row["name"]: row for row in found(reader("Builder"), "characters")}
    assert {name: row["mode"] for name, row in rows.items()} == {
        "Mira": "awake", "Ben": "asleep", "Cid": "stopped",
    }  # fmt: skip
    mira = rows["Mira"]
    assert mira["character"] == talked.dbref
    assert mira["id"] == talked.assistant.id
    assert mira["calls_today"] == 2
    assert mira["tokens_today"] > 0
    assert mira["last_prompt_tokens"] >= 0
    assert mira["events_waiting"] == 0


@pytest.mark.parametrize(
    ("path", "query", "told"),
    [
        ("turns", {"charcter": "Mira"}, "There is no such parameter. Use character,"),
        ("messages", {"outcome": "done"}, "There is no such parameter. Use character,"),
        ("turns", {"outcome": "won"}, '"won" is not a valid choice.'),
        ("turns", {"turn": "last"}, "A valid integer is required."),
        ("turns", {"since": "yesterday"}, "Use one of these formats"),
        ("turns", {"page_size": 1000}, "less than or equal to 200"),
        ("turns", {"page_size": "x"}, "A valid integer is required."),
        ("turns", {"cursor": "x"}, "Follow the address in next or previous."),
        ("turns", {"character": ""}, "may not be blank"),
    ],
)
def test_a_wrong_parameter_is_a_bad_request_that_says_what_is_right(
    talked, reader, path, query, told
):
    status, body = get(reader("Admin"), path, **query)
    assert status == 400
    assert told in " ".join(body[next(iter(query))])


def test_nothing_can_be_changed(talked, reader):
    admin = reader("Admin")
    for method in (admin.post, admin.put, admin.patch, admin.delete):
        assert method("/ai/api/turns/", {}).status_code in (403, 405)


def test_the_pages_come_in_few_queries(talked, reader, django_assert_max_num_queries):
    admin = reader("Admin")
    for path in RESOURCES:
        with django_assert_max_num_queries(14):
            found(admin, path)


# --- the schema -------------------------------------------------------------------------------


def test_the_schema_is_valid_and_names_every_parameter_and_field(talked, reader):
    admin = reader("Admin")
    status, schema = get(admin, "schema")
    assert status == 200
    assert set(schema["paths"]) == {f"/ai/api/{path}/" for path in RESOURCES}
    operations = {path: item["get"] for path, item in schema["paths"].items()}
    assert len({operation["operationId"] for operation in operations.values()}) == len(RESOURCES)
    asked = {one["name"] for one in operations["/ai/api/turns/"]["parameters"]}
    assert asked == {
        "character", "turn", "since", "until", "outcome", "cursor", "page_size",
    }  # fmt: skip
    for path in RESOURCES:
        reference = operations[f"/ai/api/{path}/"]["responses"]["200"]["content"][
            "application/json"
        ]["schema"]["properties"]["results"]["items"]["$ref"]
        fields = schema["components"]["schemas"][reference.rpartition("/")[2]]["properties"]
        assert set(found(admin, path)[0]) == set(fields)
    validator = pytest.importorskip(
        "openapi_spec_validator", reason="openapi-spec-validator is not installed"
    )
    validator.validate(schema)
