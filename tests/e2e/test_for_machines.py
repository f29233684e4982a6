"""Other programs read a running game: REST and metrics from real web threads."""

import base64
import json
import urllib.error
import urllib.request

import pytest

from tests.e2e.harness import ADMIN, PASSWORD

TOKEN = "t0ken-of-sixteen-chars"


def get(server, path, authorization=""):
    headers = {"Authorization": authorization} if authorization else {}
    request = urllib.request.Request(f"http://127.0.0.1:{server.web_port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


@pytest.fixture
def game(make_server):
    return make_server(
        assistant={"METRICS": True},
        settings=["REST_API_ENABLED = True"],
        env={"EVENNIA_AI_METRICS_TOKEN": TOKEN},
    )


def test_a_talk_is_read_over_rest_and_counted(game):
    pytest.importorskip("prometheus_client", reason="the extra 'metrics' is not installed")
    with game.player("Ann") as ann:
        ann.send("say hello Mira, good evening")
        ann.expect("Mira says")
    game.wait_for_sql("SELECT COUNT(*) FROM evennia_ai_turn WHERE outcome = 'answered'", [(1,)])
    login = "Basic " + base64.b64encode(f"{ADMIN}:{PASSWORD}".encode()).decode()
    assert get(game, "/ai/api/turns/")[0] in (401, 403)
    status, body = get(game, "/ai/api/turns/?character=Mira&outcome=answered", login)
    assert status == 200, body
    (turn,) = json.loads(body)["results"]
    said = json.loads(get(game, f"/ai/api/messages/?turn={turn['id']}", login)[1])["results"]
    assert any("good evening" in row["content"] for row in said)
    assert get(game, "/ai/api/schema/", login)[0] == 200
    assert get(game, "/ai/metrics")[0] == 401
    status, page = get(game, "/ai/metrics", f"Bearer {TOKEN}")
    assert status == 200, page
    assert 'evennia_ai_turns_total{context="tick_event",outcome="answered"} 1.0' in page
    assert 'evennia_ai_assistants{mode="awake"}' in page
