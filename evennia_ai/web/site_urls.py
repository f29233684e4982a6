"""The addresses of the game's web site and, after them, the staff pages (see `apps.py`)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from django.conf import settings
from django.urls import include, path

site: Any = import_module(settings.AI_ASSISTANT_SITE_URLS)

# The game's own addresses come first, so that a page of its own at /ai/ stays.
urlpatterns = [*site.urlpatterns, path("ai/", include("evennia_ai.web.urls"))]


def __getattr__(name: str) -> Any:
    """Return what else the game's module has, such as ``handler404``."""
    return getattr(site, name)
