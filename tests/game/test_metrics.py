"""The figures for Prometheus, read by Prometheus' own parser."""

import json
import re
import time
from threading import Thread

import pytest
from django.test import Client

from evennia_ai.errors import ProviderRejected
from evennia_ai.messages import LLMReply, Usage
from evennia_ai.services.metrics import TOKEN_VARIABLE, make_metrics
from tests.e2e.harness import ROOT
from tests.scripted import call

pytest.importorskip("prometheus_client", reason="the extra 'metrics' is not installed")
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_open
from prometheus_client.parser import text_string_to_metric_families as read_plain

TOKEN = "t0ken-of-sixteen-chars"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"
DASHBOARD = ROOT / "docs" / "grafana-dashboard.json"


@pytest.fixture
def watched(service, settings, tavern, mira, ann, game):
    """Return the service with metrics, as if the setting had been on at its start."""
    from evennia_ai.services.observed_turns import make_turns

    settings.ALLOWED_HOSTS = ["*"]
    environ = {TOKEN_VARIABLE: TOKEN}
    service.metrics = make_metrics(environ, service, at_once, True)
    service.make_turns = lambda script: make_turns((service.metrics,), script)
    mira.assistant.ndb.turns = None
    return service


def at_once(work):
    work()


def scrape(token=TOKEN, **headers):
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return Client().get("/ai/metrics", headers=headers)


def samples(reply):
    """Return each sample's value by name and labels."""
    families = read_plain(reply.content.decode())
    return {
        (one.name, *sorted(one.labels.items())): one.value
        for family in families
        for one in family.samples
    }


def named(name, **labels):
    return (name, *sorted(labels.items()))


def test_what_assistants_did_is_counted(watched, game, ann):
    usage = Usage(900, 40, 600)
    game.model.add(
        lambda _: LLMReply("", (call("say", text="Welcome."),), "tool_calls", usage=usage),
        ProviderRejected("no such model"),
    )
    ann.do("say Mira, hello")
    game.run(2)
    ann.do("say Mira, who are you?")
    game.run(30)
    reply = scrape()
    assert reply.status_code == 200
    found = samples(reply)
    turns = {key: value for key, value in found.items() if key[0] == "evennia_ai_turns_total"}
    assert turns == {
        named("evennia_ai_turns_total", context="tick_event", outcome="answered"): 1,
        named("evennia_ai_turns_total", context="tick_event", outcome="excused"): 1,
    }
    calls = "evennia_ai_model_calls_total"
    assert found[named(calls, profile="default", error="none")] == 1
    assert found[named(calls, profile="default", error="rejected")] == 1
    tokens = {kind: found[named("evennia_ai_tokens_total", profile="default", kind=kind)]
              for kind in ("input", "cached", "output")}  # fmt: skip
    assert tokens == {"input": 900, "cached": 600, "output": 40}
    assert found[named("evennia_ai_tool_calls_total", tool="say", state="done")] == 2
    assert found[named("evennia_ai_model_call_duration_seconds_count", profile="default")] == 2
    assert found[named("evennia_ai_turn_duration_seconds_count", context="tick_event")] == 2


def test_what_is_so_now_is_shown(watched, game, tavern, service):
    from evennia_ai.game.sleep_state import fall_asleep

    fall_asleep(game.assistant("Ben", tavern).assistant, "order")
    found = samples(scrape())
    modes = {mode: found[named("evennia_ai_assistants", mode=mode)]
             for mode in ("awake", "asleep", "stopped")}  # fmt: skip
    assert modes == {"awake": 1, "asleep": 1, "stopped": 0}
    assert found[named("evennia_ai_events_waiting")] == 0
    assert found[named("evennia_ai_calls_waiting")] == 0
    assert found[named("evennia_ai_stopped")] == 0
    assert len([key for key in found if key[0] == "evennia_ai_info"]) == 1
    service.switch_off("a test")
    found = samples(scrape())
    assert found[named("evennia_ai_stopped")] == 1
    assert found[named("evennia_ai_assistants", mode="stopped")] == 2
    assert found[named("evennia_ai_assistants", mode="awake")] == 0


def test_a_busy_and_a_paused_endpoint_are_shown(watched, game, ann):
    from twisted.internet.defer import Deferred

    pending = Deferred()
    game.model.add(pending)
    ann.do("say Mira, hello")
    game.run()
    lane = {"profile": "default", "model": "offline"}
    found = samples(scrape())
    assert found[named("evennia_ai_calls_in_flight", **lane)] == 1
    assert found[named("evennia_ai_breaker_open", **lane)] == 0


def test_a_compaction_counts_by_its_ladder_step(watched, mira):
    send = watched.compacting
    send(mira.assistant, "sleep", {"success": True, "rung": "digest"})
    send(mira.assistant, "manual", {"skipped": True, "reason": "no history"})
    send(mira.assistant, "overflow", {"success": False, "error": "x"})
    found = {
        key: value for key, value in samples(scrape()).items() if "compactions_total" in key[0]
    }
    assert found == {
        named("evennia_ai_compactions_total", reason="sleep", step="digest"): 1,
        named("evennia_ai_compactions_total", reason="overflow", step="failed"): 1,
    }


def test_a_tool_that_a_model_made_up_is_no_label(watched, game, ann):
    game.model.add(call("zap_everybody", power=9), call("say", text="Hm."))
    ann.do("say Mira, hello")
    game.run(2)
    page = scrape().content.decode()
    assert "zap_everybody" not in page
    assert 'tool="unknown"' in page


def test_no_label_names_a_character_or_a_player(watched, game, ann):
    game.model.add(call("say", text="Welcome."))
    ann.do("say Mira, hello")
    game.run(2)
    assert not re.search(r"Mira|Ann|#\d", scrape().content.decode())


def test_an_exemplar_names_the_turn(watched, game, ann, mira):
    game.model.add(call("say", text="Welcome."))
    ann.do("say Mira, hello")
    game.run(2)
    reply = scrape(Accept=OPEN_METRICS)
    assert reply["Content-Type"].startswith("application/openmetrics-text")
    from evennia_ai.models import Turn

    exemplars = {
        (one.name, one.exemplar.labels["turn"])
        for family in read_open(reply.content.decode())
        for one in family.samples
        if one.exemplar
    }
    number = str(Turn.objects.get().id)
    assert exemplars == {
        ("evennia_ai_turn_duration_seconds_bucket", number),
        ("evennia_ai_model_call_duration_seconds_bucket", number),
    }


# --- who may read -----------------------------------------------------------------------------


def test_only_the_token_opens_the_page(watched):
    for token in ("", "wrong", TOKEN[:-1], f"{TOKEN}x", "t\u00f6ken"):
        refused = scrape(token)
        assert refused.status_code == 401
        assert b"evennia_ai_turns" not in refused.content


def test_without_the_setting_there_is_no_page(service, settings):
    settings.ALLOWED_HOSTS = ["*"]
    assert service.metrics is None
    assert scrape().status_code == 404


@pytest.mark.parametrize(
    ("value", "environ", "told"),
    [
        (True, {}, "Set the environment variable EVENNIA_AI_METRICS_TOKEN"),
        (True, {TOKEN_VARIABLE: "short"}, "at least 16 characters"),
        ("on", {}, "it must be True or False, not 'on'."),
    ],
)
def test_a_wrong_setting_is_a_complaint_of_aistatus(value, environ, told, settings, db):
    from evennia_ai.services.assistant_service import AssistantService

    settings.AI_ASSISTANT = {"METRICS": value}
    service = AssistantService(environ=environ)
    assert service.metrics is None
    assert any(told in complaint for complaint in service.complaints)


# --- what a scrape costs ----------------------------------------------------------------------


def test_a_web_thread_gets_the_figures_of_the_reactor(watched):
    asked, pages = [], []
    watched.metrics._call_from_thread = asked.append
    thread = Thread(target=lambda: pages.append(watched.metrics._on_reactor(lambda: 7)))
    thread.start()
    until = time.monotonic() + 5
    while not asked and time.monotonic() < until:
        thread.join(0.01)
    asked.pop()()
    thread.join(5)
    assert pages == [7]


def test_a_scrape_reads_no_large_table_and_stores_no_session(watched, django_assert_num_queries):
    with django_assert_num_queries(4):
        scrape()


def test_the_dashboard_shows_only_metrics_that_exist(watched, mira, game, ann):
    game.model.add(LLMReply("", (call("say", text="Welcome."),), "tool_calls", usage=Usage(9, 1)))
    ann.do("say Mira, hello")
    game.run(2)
    watched.compacting(mira.assistant, "sleep", {"success": True, "rung": "digest"})
    existing = {key[0] for key in samples(scrape())}
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    used = set(re.findall(r"\b(?:evennia_ai|process)_\w+", " ".join(asked)))
    assert len(used) >= 12
    assert used - existing == set()
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
