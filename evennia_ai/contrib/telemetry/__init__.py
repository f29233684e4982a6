"""Metrics and traces by OpenTelemetry, if ``METRICS`` or ``TRACING`` asks for them."""

from importlib import import_module
from typing import Any

from twisted.internet import reactor

from evennia_ai.config.resolve import Extra
from evennia_ai.extension import EntryReader, Extension
from evennia_ai.signals import service_started

OPENTELEMETRY = Extra(
    "telemetry", "opentelemetry-api", "opentelemetry.metrics", "this setting has no effect"
)


class TelemetryExtension(Extension):
    """Tells OpenTelemetry what ended in the log, and what is so now."""

    name = "telemetry"
    entries = frozenset({"METRICS", "TRACING"})
    telemetry: Any

    def set_up(self, services: Any, settings: EntryReader) -> bool:
        tracing = settings.read("TRACING", OPENTELEMETRY.wanted, False)
        measuring = settings.read("METRICS", OPENTELEMETRY.wanted, False)
        if not (tracing or measuring):
            return False
        exporter = import_module(f"{__name__}.exporter")  # needs the extra
        main: Any = reactor
        self.telemetry = exporter.make_telemetry(services, main.callFromThread, tracing, measuring)
        service_started.connect(self._start)
        return True

    def _start(self, **kwargs: Any) -> None:
        self.telemetry.start()


EXTENSION = TelemetryExtension
