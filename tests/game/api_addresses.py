"""The demo's addresses with those for machines, as a game gets them."""

from django.urls import include, path

from evennia_ai.web.site_urls import urlpatterns as demo

urlpatterns = [path("ai/", include("evennia_ai.web.rest")), *demo]
