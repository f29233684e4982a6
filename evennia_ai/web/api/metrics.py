"""The page that Prometheus reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse

PATH = "/ai/metrics"


def metrics_page(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return middleware that answers a scraper.

    It is no view, because Evennia stores a new session for each request without a cookie.
    """

    def answer(request: Any) -> Any:
        metrics = live_metrics() if request.path_info == PATH else None
        if metrics is None:
            return get_response(request)
        if not metrics.admits(request.headers.get("Authorization", "")):
            headers = {"WWW-Authenticate": "Bearer"}
            return HttpResponse(
                "Send 'Authorization: Bearer <token>'.", status=401, headers=headers
            )
        try:
            page, content_type = metrics.render(request.headers.get("Accept", ""))
        except TimeoutError:
            return HttpResponse("The server is too busy; try again.", status=503)
        return HttpResponse(page, content_type=content_type)

    return answer


def live_metrics() -> Any:
    """Return the metrics of this server, None if they are off."""
    from evennia_ai.assistant_script import AssistantScript

    services = AssistantScript.shared_services
    return services and services.metrics
