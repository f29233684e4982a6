"""Shows the metrics of this game to Prometheus. Evennia calls the hook at each start and reload."""

import os

from opentelemetry import metrics
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import start_http_server


def at_server_init():
    """Serve the metrics at the address that the environment names."""
    host = os.environ.get("OTEL_EXPORTER_PROMETHEUS_HOST", "127.0.0.1")
    start_http_server(int(os.environ.get("OTEL_EXPORTER_PROMETHEUS_PORT", "9464")), host)
    provider = MeterProvider([PrometheusMetricReader()], shutdown_on_exit=False)
    metrics.set_meter_provider(provider)
