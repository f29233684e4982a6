"""Spans and metrics by the API of OpenTelemetry; the game chooses the SDK and the exporters.

They are read from the log: what ended since the last look is told at the end of a turn and of a
compaction, and before an exporter reads the gauges. Spans follow the semantic conventions for
generative AI of version 1.41: a turn is ``invoke_agent``, and in it each model call is ``chat`` and
each tool call ``execute_tool``. No span holds a word that was said: its turn's number leads to
them, for whoever may read them. No metric has a character or a player: the game's settings bound
the number of series.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial
from sys import maxsize
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

from django.db.models import F, Max, Q
from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.metrics import Observation
from twisted.internet.defer import maybeDeferred

from evennia_ai import __version__, models
from evennia_ai.messages import OFFLINE
from evennia_ai.signals import compaction_finished, turn_finished
from evennia_ai.store.names import plain_name
from evennia_ai.store.reports import Row, count_by_mode, queue_lengths, with_parts
from evennia_ai.store.turns import INTERRUPTED

SCOPE = ("evennia_ai", __version__)
SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
TURN = "evennia_ai.turn"  # the turn's number, as in the log, the tables and the request header
FAILED_TURNS, FAILED_CALLS = ("excused", "expired", INTERRUPTED), ("failed", "unknown")
BUCKETS_S = (0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300)
REACTOR_S, FRESH_S = 2.0, 1.0
COUNTERS = {
    "turns": "Turns that ended.",
    "model_calls": "Model calls; error is none for a reply.",
    "tokens": "Tokens that endpoints reported; cached ones are input, too.",
    "tool_calls": "Tool calls.",
    "compactions": "Compactions; step is that of the ladder.",
}
GAUGES = {
    "calls.waiting": "Model calls in the queue.",
    "calls.delayed": "Model calls that wait, for a place or before a retry.",
    "calls.in_flight": "Model calls that endpoints have.",
    "breaker.open": "1 while a circuit breaker lets no call pass.",
    "events.waiting": "Events without an answer.",
    "assistants": "Assistants by what they do.",
    "stopped": "1 while an admin has stopped all assistants.",
}
OF_CALL = {
    "gen_ai.request.model": "model",
    "gen_ai.usage.input_tokens": "prompt_tokens",
    "gen_ai.usage.output_tokens": "completion_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cached_tokens",
    "evennia_ai.profile": "profile",
    "evennia_ai.purpose": "purpose",
    TURN: "turn_id",
}
TOKENS = {"input": "prompt_tokens", "cached": "cached_tokens", "output": "completion_tokens"}
NO_PARENT = trace.set_span_in_context(trace.INVALID_SPAN)  # not what the game happens to trace
Figures = Mapping[str, Iterable[Observation]]


class Telemetry:
    """Tells what ended in the log, on the reactor's thread, and what is so now.

    ``tools`` has the names of all tools: a name that a model made up becomes no label.
    """

    def __init__(self, tracer: trace.Tracer, meter: metrics.Meter, tools: Container[str]) -> None:
        self._tracer, self._tools = tracer, tools
        self._open: set[int] = set()  # turns that had not ended at the last look
        self._last_turn = self._last_call = maxsize  # until `start`, nothing is new
        self._count = {
            name: meter.create_counter(f"evennia_ai.{name}", description=text)
            for name, text in COUNTERS.items()
        }
        spread = partial(
            meter.create_histogram, unit="s", explicit_bucket_boundaries_advisory=BUCKETS_S
        )
        self._turn_s = spread("evennia_ai.turn.duration", description="Time of a turn.")
        text = "Time until a reply or an error, with the queue and retries."
        self._call_s = spread("evennia_ai.model_call.duration", description=text)

    def start(self) -> None:
        self._last_turn, self._last_call = (
            model.objects.aggregate(newest=Max("id"))["newest"] or 0
            for model in (models.Turn, models.ModelCall)
        )
        turn_finished.connect(self.tell_ended)
        compaction_finished.connect(self._compacted)

    def tell_ended(self, **kwargs: Any) -> None:
        """Tell the turns, with their calls, and the calls outside of turns that are new."""
        new = models.Turn.objects.filter(Q(id__gt=self._last_turn) | Q(id__in=self._open))
        named = new.order_by("id").annotate(name=F("assistant__db_obj__db_key"))
        turns = list(named.values("id", "at", "ended_at", "context", "outcome", "name"))
        calls = models.ModelCall.objects.filter(turn=None, id__gt=self._last_call)
        alone = list(calls.order_by("id").values())
        ended = with_parts([turn for turn in turns if turn["ended_at"]])
        self._last_turn = max([self._last_turn, *(turn["id"] for turn in turns)])
        self._last_call = max([self._last_call, *(call["id"] for call in alone)])
        self._open = {turn["id"] for turn in turns if not turn["ended_at"]}
        for turn in ended:
            self._tell_turn(turn)
        for call in alone:
            self._tell_call(call, NO_PARENT)

    def _tell_turn(self, turn: Row) -> None:
        name, context, outcome = turn["name"], turn["context"], turn["outcome"]
        times = (turn["at"], turn["ended_at"])
        error = outcome if outcome in FAILED_TURNS else ""
        attributes = {
            "evennia_ai.context": context,
            "evennia_ai.outcome": outcome,
            TURN: turn["id"],
        }
        attributes["gen_ai.agent.name"] = plain_name(name)
        within = self._span("invoke_agent", name, times, error, attributes)
        for call in turn["model_calls"]:
            self._tell_call(call, within)
        for act in turn["tool_calls"]:
            self._tell_act(act, turn["ended_at"], within)
        self._count["turns"].add(1, {"context": context, "outcome": outcome})
        took_s = max(0.0, (times[1] - times[0]).total_seconds())
        self._turn_s.record(took_s, {"context": context}, within)

    def _tell_call(self, call: Row, within: Context) -> None:
        began = call["at"] - timedelta(milliseconds=call["duration_ms"])  # stored at its end
        attributes = {
            name: call[column] for name, column in OF_CALL.items() if call[column] is not None
        }
        attributes["gen_ai.provider.name"] = "evennia_ai" if call["model"] == OFFLINE else "openai"
        if call["finish_reason"]:
            attributes["gen_ai.response.finish_reasons"] = (call["finish_reason"],)
        error, kept = call["error_kind"], {"profile": call["profile"]}
        self._span("chat", call["model"], (began, call["at"]), error, attributes, within)
        self._count["model_calls"].add(1, {**kept, "error": error or "none"})
        self._call_s.record(call["duration_ms"] / 1_000, kept, within)
        for kind, column in TOKENS.items():
            self._count["tokens"].add(call[column] or 0, {**kept, "kind": kind})

    def _tell_act(self, act: Row, turn_ended_at: datetime, within: Context) -> None:
        name, state = act["name"], act["state"]
        attributes = {"gen_ai.tool.name": name, "gen_ai.tool.call.id": act["call_id"]}
        attributes |= {
            "gen_ai.tool.type": "function",
            "evennia_ai.outcome": state,
            TURN: act["turn_id"],
        }
        times = (act["at"], act["ended_at"] or turn_ended_at)
        error = state if state in FAILED_CALLS else ""
        self._span("execute_tool", name, times, error, attributes, within)
        known = name if name in self._tools else "unknown"
        self._count["tool_calls"].add(1, {"tool": known, "state": state})

    def _compacted(self, reason: str, result: Mapping[str, Any], **kwargs: Any) -> None:
        if not result.get("skipped"):
            attributes = {"reason": reason, "step": result.get("rung") or "failed"}
            self._count["compactions"].add(1, attributes)
        self.tell_ended()

    def _span(
        self,
        operation: str,
        subject: str,
        times: tuple[datetime, datetime],
        error: str,
        attributes: dict[str, Any],
        within: Context = NO_PARENT,
    ) -> Context:
        began, ended = (int(at.timestamp() * 1e9) for at in times)
        kind = trace.SpanKind.CLIENT if operation == "chat" else trace.SpanKind.INTERNAL
        span_attributes = {"gen_ai.operation.name": operation, **attributes}
        title = f"{operation} {subject}"
        span = self._tracer.start_span(title, within, kind, span_attributes, start_time=began)
        if error:
            span.set_attribute("error.type", error)
            span.set_status(trace.StatusCode.ERROR)
        span.end(ended)
        return trace.set_span_in_context(span)


class Gauges:
    """What is so now, read when an exporter asks for it in a thread of its own.

    ``read()`` is called in the reactor's thread, once for all gauges; ``call_from_thread(f)``
    calls ``f`` there.
    """

    def __init__(
        self,
        meter: metrics.Meter,
        read: Callable[[], Figures],
        call_from_thread: Callable[[Callable[[], object]], object],
    ) -> None:
        self._read, self._call_from_thread = read, call_from_thread
        self._figures: Figures = {}
        self._fresh_until = 0.0
        for name, text in GAUGES.items():
            callbacks = [partial(self._observe, name)]
            meter.create_observable_gauge(f"evennia_ai.{name}", callbacks, description=text)

    def _observe(self, name: str, options: object) -> Iterable[Observation]:
        if monotonic() > self._fresh_until:
            self._figures = {}
            try:
                self._figures = self._on_reactor()
            finally:
                self._fresh_until = monotonic() + FRESH_S
        return self._figures.get(name, ())

    def _on_reactor(self) -> Figures:
        """Return the figures from the reactor's thread, the main one; raises TimeoutError."""
        # Twisted's `blockingCallFromThread` would wait for ever for a server that stops.
        if current_thread() is main_thread():
            return self._read()
        answer: Future[Figures] = Future()
        self._call_from_thread(
            lambda: maybeDeferred(self._read).addCallbacks(
                answer.set_result, lambda failure: answer.set_exception(failure.value)
            )
        )
        return answer.result(REACTOR_S)


def figures_now(gateway: Any, stopped: bool) -> Figures:
    lanes = gateway.lanes
    in_flight: defaultdict[Any, int] = defaultdict(int)
    paused: defaultdict[Any, int] = defaultdict(int)
    for lane in lanes:
        key = (lane.profile.name, lane.profile.model)
        in_flight[key] += len(lane.in_flight)
        paused[key] |= lane.paused_s > 0
    modes = {(mode,): number for mode, number in count_by_mode(stopped).items()}
    return {
        "calls.waiting": [Observation(lanes.waiting)],
        "calls.delayed": by(
            Counter((item.model, item.why) for item in lanes.queue()), "model", "reason"
        ),
        "calls.in_flight": by(in_flight, "profile", "model"),
        "breaker.open": by(paused, "profile", "model"),
        "events.waiting": [Observation(sum(queue_lengths().values()))],
        "assistants": by(modes, "mode"),
        "stopped": [Observation(int(stopped))],
    }


def by(values: Mapping[Any, int], *labels: str) -> list[Observation]:
    """Return an observation for each value, with its key as attributes."""
    return [Observation(n, dict(zip(labels, key, strict=True))) for key, n in values.items()]


def make_telemetry(
    service: Any, call_from_thread: Callable[..., object], tracing: bool, measuring: bool
) -> Telemetry:
    """Return what tells OpenTelemetry of a server; ``service`` is its `AssistantService`."""
    tracer = trace.get_tracer(*SCOPE, schema_url=SCHEMA) if tracing else trace.NoOpTracer()
    meter = metrics.get_meter(*SCOPE, schema_url=SCHEMA) if measuring else metrics.NoOpMeter("")
    telemetry = Telemetry(tracer, meter, service.toolbox.tools)

    def read() -> Figures:
        telemetry.tell_ended()
        return figures_now(service.gateway, bool(service.switched_off))

    Gauges(meter, read, call_from_thread)
    return telemetry
