"""A game with extensions of a test."""

import pytest

from evennia_ai.config import declared
from evennia_ai.services.assistant_service import AssistantService


def named(*classes):
    """Return the dotted paths of classes in modules of tests."""
    return [f"{item.__module__}.{item.__name__}" for item in classes]


@pytest.fixture
def asked_for(game, settings):
    """Yield a function that gives the game these extensions."""

    def use(*names, **entries):
        settings.AI_ASSISTANT = {**settings.AI_ASSISTANT, "EXTENSIONS": list(names), **entries}
        service = AssistantService(clock=game.clock, environ={})
        game.service.extensions, game.service.toolbox = service.extensions, service.toolbox
        game.service.gateway.extensions = service.extensions
        game.service.problems = service.problems
        return service

    registries = (declared.FIELDS, declared.HINTS, declared.OWNERS)
    before = [dict(registry) for registry in registries]
    yield use
    for registry, values in zip(registries, before, strict=True):
        registry.clear()
        registry.update(values)
