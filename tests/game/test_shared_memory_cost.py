"""What shared memory costs: queries, waits and time on the reactor."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from twisted.internet.defer import Deferred

from evennia_ai.memory.remote_vectors import TIME_S
from tests.game import shared_memory_scene as scene
from tests.game.shared_memory_scene import BRIDGE, learn

pytestmark = pytest.mark.engine

guard, bruno, vera, sleep = scene.guard, scene.bruno, scene.vera, scene.sleep
knows = scene.knows


def test_where_nothing_changed_nothing_is_asked_before_a_search(game, bruno, vera, sleep, knows):
    learn(bruno)
    sleep(bruno)
    knows(vera)
    script, done = vera.assistant, []
    with CaptureQueriesContext(connection) as queries:
        script.mind.memories().prepare(script.services, []).addBoth(done.append)
    assert done == [None] and len(queries) == 0
    with CaptureQueriesContext(connection) as queries:
        script.mind.memories().search("weather in the hills", 5, None, script.services.now())
    assert len(queries) == 1  # whether what was found still stands


def test_an_endpoint_for_vectors_that_hangs_is_waited_for_once(game, guard, sleep):
    class Hanging:
        name, dimensions = "far", 3

        def embed_later(self, texts, query=False):
            return Deferred()

    bruno, vera = (guard(name, share="faction, world, room") for name in ("Bruno", "Vera"))
    learn(bruno)
    sleep(bruno)
    game.service.memory.embedder = Hanging()
    script, done = vera.assistant, []
    script.mind.memories().prepare(script.services, ["bridge"]).addBoth(done.append)
    for _ in range(10):
        game.run(0.01)
    assert done == []
    game.clock.advance(TIME_S)
    game.run(0.1)
    assert done == [None]
    found = script.mind.memories().search("the bridge", 3, None, game.service.now())
    assert [hit.record["content"] for hit in found] == [BRIDGE]
