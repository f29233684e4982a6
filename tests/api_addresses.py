"""The demo's addresses, with all of the extensions', as a game with a REST API gets them."""

from django.test import override_settings
from django.urls import include, path

from evennia_ai.game.extensions import ask_classes
from evennia_ai.web.site_urls import urlpatterns as demo

with override_settings(REST_API_ENABLED=True):
    added = ask_classes(lambda item: [path("ai/", include(name)) for name in item.urls(False)])

urlpatterns = [*added, *demo]
