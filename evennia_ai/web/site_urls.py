"""The addresses of the game's web site, then the staff pages and the REST of the logs.

`apps.py` puts this module in the place of the game's own.
"""

from importlib import import_module
from typing import Any

from django.conf import settings
from django.urls import include, path

from evennia_ai.game.settings import game_setting

site: Any = import_module(settings.AI_ASSISTANT_SITE_URLS)

# The game's own addresses come first, so that a page of its own at /ai/ stays.
urlpatterns = [*site.urlpatterns]
if game_setting("STAFF_PAGES", True):
    urlpatterns.append(path("ai/", include("evennia_ai.web.urls")))
if settings.REST_API_ENABLED:
    urlpatterns.append(path("ai/", include("evennia_ai.web.rest")))


def __getattr__(name: str) -> Any:
    """Return what else the game's module has, such as ``handler404``."""
    return getattr(site, name)
