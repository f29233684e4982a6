"""What OpenTelemetry is told, read back by its SDK and by Prometheus' own parser."""

import json
import re
from functools import partial
from threading import Thread

import pytest

from evennia_ai.config.resolve import Extra
from evennia_ai.errors import ConfigError, ProviderRejected
from evennia_ai.messages import LLMReply, Usage
from evennia_ai.models import ModelCall, ToolCall, Turn
from tests.e2e.harness import ROOT
from tests.scripted import call

pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from evennia_ai.contrib.telemetry import exporter as telling

pytestmark = pytest.mark.game
DASHBOARD = ROOT / "docs" / "grafana-dashboard.json"
USAGE = Usage(900, 40, 600)
WORD = "zanzibar"


class Watch:
    """A game's SDK: the spans that it exported, and the points of its metrics."""

    def __init__(self, service, reader):
        self.exporter, self.reader = InMemorySpanExporter(), reader
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        meter = MeterProvider([reader], shutdown_on_exit=False).get_meter("evennia_ai")
        tracer = self.provider.get_tracer("evennia_ai")
        self.telemetry = telling.Telemetry(tracer, meter, service.toolbox.tools)
        self.telemetry.start()
        telling.Gauges(meter, partial(self.now, service), lambda work: work())

    def now(self, service):
        self.telemetry.tell_ended()
        return telling.figures_now(service.gateway, bool(service.switched_off))

    def spans(self):
        return self.exporter.get_finished_spans()

    def points(self):
        """Return value or count of each point by the metric's name and its attributes."""
        found = {}
        for resource in self.reader.get_metrics_data().resource_metrics:
            for metric in (one for scope in resource.scope_metrics for one in scope.metrics):
                for point in metric.data.data_points:
                    key = (
                        metric.name.removeprefix("evennia_ai."),
                        *sorted(point.attributes.items()),
                    )
                    found[key] = point.count if hasattr(point, "count") else point.value
        return found


@pytest.fixture
def watch(service, mira):
    return Watch(service, InMemoryMetricReader())


def answers(game, ann, *replies, line=f"say Mira, hello {WORD}", seconds=30):
    game.model.add(*replies)
    ann.do(line)
    game.run(seconds)


def reply(*calls, usage=USAGE):
    return LLMReply("", calls, "tool_calls", usage=usage)


def named(name, **attributes):
    return (name, *sorted(attributes.items()))


def nanoseconds(at):
    return int(at.timestamp() * 1e9)


def test_a_turn_is_a_trace_with_its_model_call_and_its_tool_call(watch, game, ann):
    with watch.provider.get_tracer("game").start_as_current_span("a command of a player") as own:
        answers(game, ann, reply(call("say", text=f"A {WORD}.")))
        agent, chat, act = watch.spans()
    turn, asked, acted = Turn.objects.get(), ModelCall.objects.get(), ToolCall.objects.get()
    assert [one.name for one in watch.spans()[:3]] == [
        "invoke_agent Mira", "chat offline", "execute_tool say",
    ]  # fmt: skip
    assert agent.parent is None and agent.context.trace_id != own.get_span_context().trace_id
    assert chat.parent.span_id == act.parent.span_id == agent.context.span_id
    assert (agent.start_time, agent.end_time) == (nanoseconds(turn.at), nanoseconds(turn.ended_at))
    assert chat.end_time == nanoseconds(asked.at)
    assert (chat.end_time - chat.start_time) // 1_000_000 == asked.duration_ms
    assert (act.start_time, act.end_time) == (nanoseconds(acted.at), nanoseconds(acted.ended_at))
    assert {one.attributes["evennia_ai.turn"] for one in (agent, chat, act)} == {turn.id}
    told = {name: value for one in (agent, chat, act) for name, value in one.attributes.items()}
    assert WORD not in str(told)
    assert told["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert (told["gen_ai.agent.name"], told["gen_ai.tool.name"]) == ("Mira", "say")
    usage = [told[f"gen_ai.usage.{kind}"] for kind in ("input_tokens", "output_tokens",
             "cache_read.input_tokens")]  # fmt: skip
    assert usage == [900, 40, 600]
    conventions = pytest.importorskip(
        "opentelemetry.semconv._incubating.attributes.gen_ai_attributes",
        reason="the SDK brings no conventions",
    )
    used = {name for name in told if name.startswith("gen_ai.")}
    assert len(used) >= 11 and used <= {
        one for one in vars(conventions).values() if str(one) == one
    }


def test_what_failed_is_an_error(watch, game, ann):
    answers(game, ann, ProviderRejected("no such model"))
    agent, chat, act = watch.spans()
    assert [one.attributes.get("error.type") for one in (agent, chat, act)] == [
        "excused", "rejected", None,
    ]  # fmt: skip
    assert [one.status.is_ok for one in (agent, chat, act)] == [False, False, True]


def test_what_assistants_did_is_counted(watch, game, ann):
    answers(game, ann, reply(call("say", text="Welcome.")), ProviderRejected("no such model"))
    answers(game, ann, line="say Mira, who are you?")
    found = watch.points()
    meter = MeterProvider(shutdown_on_exit=False).get_meter("evennia_ai")
    tracer = watch.provider.get_tracer("evennia_ai")
    told = len(watch.spans())
    telling.Telemetry(tracer, meter, ()).tell_ended()  # before its start: nothing is new
    assert len(watch.spans()) == told
    assert found[named("turns", context="tick_event", outcome="answered")] == 1
    assert found[named("turns", context="tick_event", outcome="excused")] == 1
    assert found[named("model_calls", profile="default", error="none")] == 1
    assert found[named("model_calls", profile="default", error="rejected")] == 1
    tokens = [found[named("tokens", profile="default", kind=kind)]
              for kind in ("input", "cached", "output")]  # fmt: skip
    assert tokens == [900, 600, 40]
    assert found[named("tool_calls", tool="say", state="done")] == 2
    assert found[named("model_call.duration", profile="default")] == 2
    assert found[named("turn.duration", context="tick_event")] == 2


def test_a_compaction_counts_by_its_ladder_step(watch, service, mira):
    service.compacting(mira.assistant, "sleep", {"success": True, "rung": "digest"})
    service.compacting(mira.assistant, "manual", {"skipped": True, "reason": "no history"})
    service.compacting(mira.assistant, "overflow", {"success": False, "error": "x"})
    found = {key: value for key, value in watch.points().items() if key[0] == "compactions"}
    assert found == {
        named("compactions", reason="sleep", step="digest"): 1,
        named("compactions", reason="overflow", step="failed"): 1,
    }


def test_no_label_is_a_made_up_tool_a_character_or_a_player(watch, game, ann):
    answers(game, ann, call("zap_everybody", power=9), call("say", text="Hm."))
    found = str(watch.points())
    assert "('tool', 'unknown')" in found
    assert not re.search(r"zap_everybody|Mira|Ann|#\d", found)


def test_an_exporters_thread_asks_the_reactor_once_for_all_gauges(watch, service):
    asked, found = [], []
    gauges = telling.Gauges(
        MeterProvider(shutdown_on_exit=False).get_meter("evennia_ai"),
        lambda: {"stopped": [7]},
        asked.append,
    )

    def export():
        found.extend(list(gauges._observe(name, None)) for name in ("stopped", "assistants"))

    thread = Thread(target=export)
    thread.start()
    while not asked:
        thread.join(0.01)
    asked.pop()()
    thread.join(5)
    assert (found, asked) == ([[7], []], [])


def test_without_the_settings_or_the_extra_nothing_is_told(settings, db):
    from evennia_ai.services.assistant_service import AssistantService

    def telemetry_of(service):
        return [item.telemetry for item in service.extensions if item.name == "telemetry"]

    assert telemetry_of(AssistantService()) == []
    settings.AI_ASSISTANT = {"METRICS": "on", "TRACING": True}
    service = AssistantService()
    (telemetry,) = telemetry_of(service)
    assert isinstance(telemetry, telling.Telemetry)
    assert "AI_ASSISTANT['METRICS']: it must be True or False, not 'on'." in service.complaints
    missing = Extra("telemetry", "opentelemetry-api", "no_such_package.metrics", "no effect")
    with pytest.raises(ConfigError, match=r"pip install '\.\[telemetry\]'"):
        missing.wanted(True)


def test_the_dashboard_shows_only_metrics_that_exist(service, mira, game, ann):
    prometheus = pytest.importorskip(
        "opentelemetry.exporter.prometheus",
        reason="opentelemetry-exporter-prometheus is not installed",
    )
    from prometheus_client import REGISTRY, generate_latest
    from prometheus_client.parser import text_string_to_metric_families

    watch = Watch(service, prometheus.PrometheusMetricReader())
    answers(game, ann, reply(call("say", text="Welcome.")))
    service.compacting(mira.assistant, "sleep", {"success": True, "rung": "digest"})
    families = list(text_string_to_metric_families(generate_latest(REGISTRY).decode()))
    watch.reader.shutdown()
    existing = {one.name for family in families for one in family.samples}
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    used = set(re.findall(r"\b(?:evennia_ai|process)_\w+", " ".join(asked)))
    assert len(used) >= 12
    assert used - existing == set()
