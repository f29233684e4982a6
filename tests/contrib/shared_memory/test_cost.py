"""What shared memory costs: queries, waits and time on the reactor."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.contrib.shared_memory import guards as scene
from tests.contrib.shared_memory.guards import learn

pytestmark = [pytest.mark.game, pytest.mark.engine]

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
