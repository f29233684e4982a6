"""The addresses of the game's web site, then those of the extensions below ``/ai/``.

`apps.py` puts this module in the place of the game's own.
"""

from importlib import import_module
from typing import Any

from django.conf import settings
from django.urls import include, path

from evennia_ai.game.extensions import ask_classes

site: Any = import_module(settings.AI_ASSISTANT_SITE_URLS)

# The game's own addresses come first, so that a page of its own at /ai/ stays.
urlpatterns = [
    *site.urlpatterns,
    *ask_classes(lambda item: [path("ai/", include(name)) for name in item.urls(by_game=False)]),
]


def __getattr__(name: str) -> Any:
    """Return what else the game's module has, such as ``handler404``."""
    return getattr(site, name)
