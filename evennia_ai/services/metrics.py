"""Figures for Prometheus: ``AI_ASSISTANT["METRICS"]`` and the extra ``metrics``.

Counters grow while assistants work; a scrape reads the rest from memory and from a few counts. No
label has a character or a player: the game's settings bound the number of series.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from datetime import datetime
from hmac import compare_digest
from threading import current_thread, main_thread
from typing import Any

from evennia_ai import __version__
from evennia_ai.config.resolve import read_switch
from evennia_ai.errors import ConfigError
from evennia_ai.memory.extras import Extra
from evennia_ai.ports import ModelCallRecord
from evennia_ai.ports.observing import OpenTurn, ToolRun
from evennia_ai.signals import compaction_finished
from evennia_ai.store.reports import count_by_mode, count_waiting_events

EXTRA = Extra(
    "metrics", "prometheus-client", "prometheus_client", "AI_ASSISTANT['METRICS'] has no effect"
)
TOKEN_VARIABLE = "EVENNIA_AI_METRICS_TOKEN"  # noqa: S105  # its name, not its value
LEAST_TOKEN_CHARS = 16
REACTOR_S = 2.0
TURN_BUCKETS = (0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300)
UNKNOWN_TOOL = "unknown"


class Metrics:
    """The registry of all metrics, and an `Observer` that fills it.

    ``library`` is the module ``prometheus_client``; ``token`` is what a scraper must show;
    ``service`` is the `AssistantService`, which builds this object before it has all its parts;
    ``call_from_thread(f)`` runs ``f`` in the reactor's thread.
    """

    def __init__(
        self, library: Any, token: str, service: Any, call_from_thread: Callable[..., object]
    ) -> None:
        self._library = library
        self._token, self._service, self._call_from_thread = token, service, call_from_thread
        self._registry = self._library.CollectorRegistry()
        self._library.ProcessCollector(registry=self._registry)
        count, spread = self._library.Counter, self._library.Histogram
        self._turns = self._add(count, "turns", "Turns that ended.", "context", "outcome")
        self._turn_s = self._add(
            spread, "turn_duration_seconds", "Time of a turn, with its model calls.", "context"
        )
        self._calls = self._add(
            count, "model_calls", "Model calls; error is none for a reply.", "profile", "error"
        )
        self._call_s = self._add(
            spread, "model_call_duration_seconds", "Time until a reply or an error, with the queue "
            "and retries.", "profile",
        )  # fmt: skip
        self._tokens = self._add(
            count, "tokens", "Tokens that endpoints reported; cached ones are input, too.",
            "profile", "kind",
        )  # fmt: skip
        self._tool_calls = self._add(count, "tool_calls", "Tool calls.", "tool", "state")
        self._compactions = self._add(
            count, "compactions", "Compactions; step is that of the ladder.", "reason", "step"
        )
        self._registry.register(self)
        compaction_finished.connect(self._compacted)

    def _add(self, kind: Any, name: str, text: str, *labels: str) -> Any:
        buckets = {"buckets": TURN_BUCKETS} if kind is self._library.Histogram else {}
        return kind(f"evennia_ai_{name}", text, labels, registry=self._registry, **buckets)

    # --- what assistants did ---------------------------------------------------------------------

    def turn_began(self, turn: OpenTurn) -> None:
        """Count nothing: a turn counts at its end."""

    def turn_ended(self, turn: OpenTurn, outcome: str, at: datetime) -> None:
        """Count a turn; the exemplar of its time names it."""
        self._turns.labels(turn.context, outcome).inc()
        took_s = max(0.0, (at - turn.at).total_seconds())
        self._turn_s.labels(turn.context).observe(took_s, {"turn": str(turn.id)})

    def model_called(self, turn_id: int | None, call: ModelCallRecord, at: datetime) -> None:
        """Count a model call and its tokens."""
        self._calls.labels(call.profile, call.error_kind or "none").inc()
        exemplar = {"turn": str(turn_id)} if turn_id else None
        self._call_s.labels(call.profile).observe(call.duration_ms / 1_000, exemplar)
        if call.usage is not None:
            usage = call.usage
            self._tokens.labels(call.profile, "input").inc(usage.prompt_tokens)
            self._tokens.labels(call.profile, "cached").inc(usage.cached_tokens or 0)
            self._tokens.labels(call.profile, "output").inc(usage.completion_tokens)

    def tool_called(self, run: ToolRun, at: datetime) -> None:
        """Count a tool call; a name that a model made up is no label."""
        known = run.call.name in self._service.toolbox.tools
        self._tool_calls.labels(run.call.name if known else UNKNOWN_TOOL, run.state).inc()

    def _compacted(self, reason: str, result: Mapping[str, Any], **kwargs: Any) -> None:
        if not result.get("skipped"):
            self._compactions.labels(reason, result.get("rung") or "failed").inc()

    # --- what is so now --------------------------------------------------------------------------

    def collect(self) -> Iterator[Any]:
        """Yield the gauges; in a web thread, where the tables are read."""
        service, gateway = self._service, self._service.gateway
        health, queue, off = self._on_reactor(
            lambda: (gateway.health(), gateway.queue(), bool(service.switched_off))
        )
        queued = sum(one.turn > 0 for one in queue)
        yield self._gauge("calls_waiting", "Model calls in the queue.", {(): queued})
        waits = Counter((one.model, one.why) for one in queue)
        text = "Model calls that wait, for a place or before a retry."
        yield self._gauge("calls_delayed", text, waits, "model", "reason")
        yield self._gauge(
            "events_waiting", "Events without an answer.", {(): count_waiting_events()}
        )
        yield self._gauge("stopped", "1 while an admin has stopped all assistants.", {(): off})
        yield self._gauge("info", "The version of the package.", {(__version__,): 1}, "version")
        modes = {(mode,): number for mode, number in count_by_mode(off).items()}
        yield self._gauge("assistants", "Assistants by what they do.", modes, "mode")
        in_flight: dict[tuple[str, ...], float] = {}
        paused: dict[tuple[str, ...], float] = {}
        for lane in health:
            key = (lane.profile, lane.model)
            in_flight[key] = in_flight.get(key, 0) + lane.in_flight
            paused[key] = max(paused.get(key, 0), lane.paused_s > 0)
        labels = ("profile", "model")
        yield self._gauge("calls_in_flight", "Model calls that endpoints have.", in_flight, *labels)
        text = "1 while a circuit breaker lets no call pass."
        yield self._gauge("breaker_open", text, paused, *labels)

    def _gauge(self, name: str, text: str, values: Mapping[Any, float], *labels: str) -> Any:
        core = importlib.import_module("prometheus_client.core")
        gauge = core.GaugeMetricFamily(f"evennia_ai_{name}", text, labels=labels)
        for key, value in values.items():
            gauge.add_metric(key, value)
        return gauge

    def _on_reactor(self, work: Callable[[], Any]) -> Any:
        """Return ``work()`` from the reactor's thread, the main one; raises TimeoutError."""
        # Twisted's `blockingCallFromThread` would wait for ever for a server that stops.
        if current_thread() is main_thread():
            return work()
        answer: Future[Any] = Future()
        self._call_from_thread(lambda: answer.set_result(work()))
        return answer.result(REACTOR_S)

    # --- for the endpoint ------------------------------------------------------------------------

    def admits(self, authorization: str) -> bool:
        """Return True for the header of a scraper that has the token."""
        return compare_digest(authorization.encode(), f"Bearer {self._token}".encode())

    def render(self, accept: str) -> tuple[bytes, str]:
        """Return the page and its content type in a format that a scraper accepts.

        Only OpenMetrics shows exemplars. Raises TimeoutError if the server is too busy.
        """
        exposition = importlib.import_module("prometheus_client.exposition")
        write, content_type = exposition.choose_encoder(accept)
        return write(self._registry), content_type


def read_token(environ: Mapping[str, str]) -> str:
    """Return the token of the environment; raises ConfigError."""
    token = environ.get(TOKEN_VARIABLE, "").strip()
    if len(token) < LEAST_TOKEN_CHARS:
        raise ConfigError(
            f"Set the environment variable {TOKEN_VARIABLE} to a token of at least "
            f"{LEAST_TOKEN_CHARS} characters, and give the same to Prometheus."
        )
    return token


def make_metrics(
    environ: Mapping[str, str], service: Any, call_from_thread: Callable[..., object], value: Any
) -> Metrics | None:
    """Return the metrics that a game's setting asks for, None for none; raises ConfigError."""
    if not read_switch(value):
        return None
    return Metrics(EXTRA.load(), read_token(environ), service, call_from_thread)
