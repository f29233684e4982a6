"""Spans by the conventions for generative AI: names, parents, times, and what they never hold."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from evennia_ai.errors import ConfigError
from evennia_ai.messages import ToolCallRequest, Usage
from evennia_ai.ports import ModelCallRecord
from evennia_ai.ports.observing import OpenTurn, ToolRun
from evennia_ai.services import tracing
from evennia_ai.services.tracing import Tracing, make_tracing

BEGIN = datetime(2026, 5, 1, 12, tzinfo=UTC)
WORD = "zanzibar"
USAGE = Usage(900, 40, 600)
CALL = ModelCallRecord("default", "gpt-x", "tick_event", 950, USAGE, 1_500, "tool_calls")


class Api:
    """The parts of ``opentelemetry.trace`` that are used; it keeps every span."""

    INVALID_SPAN = None

    class SpanKind:
        CLIENT, INTERNAL = "client", "internal"

    class StatusCode:
        ERROR = "error"

    def __init__(self):
        self.spans = []

    def get_tracer(self, name, version, schema_url):
        self.tracer = (name, schema_url)
        return self

    def set_span_in_context(self, span):
        return span

    def start_span(self, name, context, kind, attributes, start_time):
        self.spans.append(Span(name, context, kind, dict(attributes), start_time))
        return self.spans[-1]


class Span:
    def __init__(self, name, parent, kind, attributes, start):
        self.name, self.parent, self.kind = name, parent, kind
        self.attributes, self.start, self.end_at, self.status = attributes, start, None, None

    def set_attribute(self, name, value):
        self.attributes[name] = value

    def set_status(self, status):
        self.status = status

    def end(self, end_time):
        self.end_at = end_time


@pytest.fixture
def api():
    return Api()


def later(seconds):
    return BEGIN + timedelta(seconds=seconds)


def nanoseconds(seconds):
    return int(later(seconds).timestamp() * 1e9)


def turn(number=4711):
    return OpenTurn(number, "Mira", "tick_event", BEGIN)


def tool(**fields):
    call = ToolCallRequest("call_1", "say", json.dumps({"text": f"I heard {WORD}."}))
    return replace(ToolRun(call, 4711, later(2), "done"), **fields)


def trace(spans):
    one = turn()
    spans.turn_began(one)
    spans.model_called(4711, CALL, later(2))
    spans.tool_called(tool(), later(2.5))
    spans.turn_ended(one, "answered", later(3))


def test_a_turn_holds_its_model_call_and_its_tool_call(api):
    trace(Tracing(api))
    agent, chat, act = api.spans
    assert [span.name for span in api.spans] == [
        "invoke_agent Mira",
        "chat gpt-x",
        "execute_tool say",
    ]
    assert agent.parent is None
    assert chat.parent is act.parent is agent
    assert [span.kind for span in api.spans] == ["internal", "client", "internal"]
    times = [(span.start, span.end_at) for span in api.spans]
    assert times == [(nanoseconds(a), nanoseconds(b)) for a, b in ((0, 3), (0.5, 2), (2, 2.5))]
    assert {span.attributes["evennia_ai.turn"] for span in api.spans} == {4711}
    assert [span.status for span in api.spans] == [None] * 3


def test_the_attributes_are_those_of_the_conventions(api):
    trace(Tracing(api))
    agent, chat, act = (span.attributes for span in api.spans)
    assert agent["gen_ai.operation.name"] == "invoke_agent"
    assert agent["gen_ai.agent.name"] == "Mira"
    assert chat["gen_ai.operation.name"] == "chat"
    assert chat["gen_ai.provider.name"] == "openai"
    assert chat["gen_ai.request.model"] == "gpt-x"
    assert chat["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert chat["gen_ai.usage.input_tokens"] == 900
    assert chat["gen_ai.usage.output_tokens"] == 40
    assert chat["gen_ai.usage.cache_read.input_tokens"] == 600
    assert act["gen_ai.operation.name"] == "execute_tool"
    assert act["gen_ai.tool.name"] == "say"
    assert act["gen_ai.tool.call.id"] == "call_1"
    assert api.tracer == ("evennia_ai", "https://opentelemetry.io/schemas/1.41.0")


def test_every_attribute_of_the_conventions_exists():
    names = pytest.importorskip(
        "opentelemetry.semconv._incubating.attributes.gen_ai_attributes",
        reason="opentelemetry-sdk is not installed",
    )
    known = {value for value in vars(names).values() if isinstance(value, str)}
    api = Api()
    trace(Tracing(api))
    used = {name for span in api.spans for name in span.attributes if name.startswith("gen_ai.")}
    assert len(used) >= 11
    assert used <= known


def test_no_span_holds_a_word_that_was_said(api):
    trace(Tracing(api))
    assert WORD not in str([span.attributes for span in api.spans])


@pytest.mark.parametrize("outcome", ["excused", "expired", "interrupted"])
def test_a_turn_without_an_answer_is_an_error(api, outcome):
    spans = Tracing(api)
    spans.turn_began(turn())
    spans.turn_ended(turn(), outcome, later(9))
    (span,) = api.spans
    assert (span.status, span.attributes["error.type"]) == ("error", outcome)


def test_a_failed_call_and_a_failed_tool_are_errors(api):
    spans = Tracing(api)
    spans.model_called(None, replace(CALL, usage=None, error_kind="deadline"), later(2))
    spans.tool_called(tool(state="unknown"), later(3))
    assert [(one.status, one.attributes["error.type"]) for one in api.spans] == [
        ("error", "deadline"), ("error", "unknown"),
    ]  # fmt: skip
    assert "evennia_ai.turn" not in api.spans[0].attributes
    assert api.spans[0].parent is None


def test_the_span_of_a_turn_that_never_ends_is_ended_after_an_hour(api):
    spans = Tracing(api)
    lost, slow, new = turn(1), replace(turn(2), at=later(1)), replace(turn(3), at=later(3_601))
    for one in (lost, slow, new):
        spans.turn_began(one)
    assert [span.end_at for span in api.spans] == [nanoseconds(3_601), None, None]
    assert api.spans[0].attributes["evennia_ai.outcome"] == "interrupted"
    assert api.spans[0].status == "error"
    spans.model_called(1, CALL, later(3_602))
    assert api.spans[3].parent is None
    spans.turn_ended(lost, "answered", later(3_603))
    spans.turn_ended(slow, "answered", later(3_603))
    assert [span.end_at for span in api.spans[:2]] == [nanoseconds(3_601), nanoseconds(3_603)]


def test_turns_of_several_assistants_keep_apart(api):
    spans = Tracing(api)
    first, second = turn(1), turn(2)
    spans.turn_began(first)
    spans.turn_began(second)
    spans.model_called(2, CALL, later(2))
    spans.turn_ended(first, "answered", later(2))
    spans.model_called(1, CALL, later(3))
    assert api.spans[2].parent is api.spans[1]
    assert api.spans[3].parent is None


def test_without_the_setting_there_are_no_spans_and_a_wrong_one_is_explained():
    assert make_tracing(False) is None
    with pytest.raises(ConfigError, match="it must be True or False, not 'on'"):
        make_tracing("on")


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(tracing, "EXTRA", replace(tracing.EXTRA, module="no_such_package.trace"))
    with pytest.raises(ConfigError, match=r"pip install '\.\[tracing\]'"):
        make_tracing(True)


def test_the_sdk_gets_a_tree_of_spans():
    reason = "opentelemetry-sdk is not installed"
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason=reason)
    export = pytest.importorskip("opentelemetry.sdk.trace.export", reason=reason)
    memory = pytest.importorskip(
        "opentelemetry.sdk.trace.export.in_memory_span_exporter", reason=reason
    )
    from opentelemetry import trace as api

    exporter, provider = memory.InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    spans = make_tracing(True)
    spans._tracer = provider.get_tracer("evennia_ai")
    outer = provider.get_tracer("game").start_as_current_span("a command of a player")
    with outer:
        trace(spans)
    chat, act, agent, command = exporter.get_finished_spans()
    assert agent.parent is None
    assert chat.parent.span_id == act.parent.span_id == agent.context.span_id
    assert chat.context.trace_id == act.context.trace_id == agent.context.trace_id
    assert agent.context.trace_id != command.context.trace_id
    assert chat.kind is api.SpanKind.CLIENT
    assert (agent.start_time, agent.end_time) == (nanoseconds(0), nanoseconds(3))
