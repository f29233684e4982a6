"""The pages of the extensions, for a game that includes them at an address of its own."""

from django.urls import include, path

from evennia_ai.game.extensions import ask_classes

urlpatterns = ask_classes(
    lambda item: [path("", include(name)) for name in item.urls(by_game=True)]
)
