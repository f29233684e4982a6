"""Other programs read a running game: REST from web threads, metrics from an exporter's thread."""

import asyncio
import base64
import importlib.util
import json
import shutil
import urllib.error
import urllib.request

import pytest

from tests.e2e.harness import ADMIN, PASSWORD, ROOT, free_ports

pytest.importorskip("evennia_ai.contrib.staff_pages")
pytest.importorskip("evennia_ai.contrib.telemetry")
HAS_MCP = all(map(importlib.util.find_spec, ("mcp", "evennia_ai.contrib.mcp_server")))
HOOK = ROOT / "docs" / "compose" / "telemetry.py"
SETTINGS = (
    "REST_API_ENABLED = True",
    'AT_SERVER_STARTSTOP_MODULE = ["world.hooks", "server.conf.telemetry"]',
)


def get(port, path, authorization=""):
    headers = {"Authorization": authorization} if authorization else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


@pytest.fixture
def exported(make_server):
    """Return a game that follows docs/operations.md, and the port of its metrics."""
    pytest.importorskip(
        "opentelemetry.exporter.prometheus",
        reason="opentelemetry-exporter-prometheus is not installed",
    )
    (port,) = free_ports(1)
    env = {"OTEL_EXPORTER_PROMETHEUS_PORT": str(port)}
    more = {"EXTENSIONS": ["mcp_server"]} if HAS_MCP else {}
    assistant = {"METRICS": True, **more}
    game = make_server(assistant=assistant, settings=SETTINGS, env=env, start=False)
    shutil.copy(HOOK, game.folder / "server" / "conf")
    game.start()
    return game, port


def test_a_talk_is_read_over_rest_and_counted_also_after_a_reload(exported):
    game, metrics = exported
    answered = "SELECT COUNT(*) FROM evennia_ai_turn WHERE outcome = 'answered'"
    with game.player("Ann") as ann:
        ann.send("say hello Mira, good evening")
        ann.expect("Mira says")
        game.wait_for_sql(answered, [(1,)])
        counted = 'context="tick_event",otel_scope_name="evennia_ai"'
        assert counted in get(metrics, "/metrics")[1]
        game.reload()
        ann.send("say Mira, are you still there?")
        ann.expect("Mira says")
        game.wait_for_sql(answered, [(2,)])
    page = get(metrics, "/metrics")[1]
    for name in ("evennia_ai_turns_total{", "evennia_ai_assistants{", "process_resident_memory"):
        assert name in page
    login = "Basic " + base64.b64encode(f"{ADMIN}:{PASSWORD}".encode()).decode()
    web = game.web_port
    assert get(web, "/ai/api/turns/")[0] in (401, 403)
    status, body = get(web, "/ai/api/turns/?character=Mira&outcome=answered", login)
    assert status == 200, body
    turn = json.loads(body)["results"][-1]
    said = json.loads(get(web, f"/ai/api/messages/?turn={turn['id']}", login)[1])["results"]
    assert any("good evening" in row["content"] for row in said)
    if HAS_MCP:
        assert "good evening" in asyncio.run(asked_by_an_agent(web, login, "read_history"))


async def asked_by_an_agent(port, login, tool):
    """Return what a tool says to the official client about Mira."""
    import httpx2
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    url = f"http://127.0.0.1:{port}/ai/mcp"
    async with (
        httpx2.AsyncClient(headers={"Authorization": login}, timeout=120) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        result = await client.call_tool(tool, {"character": "Mira"})
        return result.content[0].text
