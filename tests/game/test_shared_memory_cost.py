"""What shared memory costs: queries, waits and time on the reactor."""

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from twisted.internet.defer import Deferred, fail

from evennia_ai.errors import StoreUnavailable
from evennia_ai.memory.remote_vectors import TIME_S
from evennia_ai.models import SharedEntry
from evennia_ai.policy.records.shared_memory import MOST_TOLD
from evennia_ai.store.shared_entries import MOST_HEARD, SharedEntryStore
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
    with CaptureQueriesContext(
        connection,
    ) as queries:
        script.memories.prepare(script.services, []).addBoth(done.append)
    assert done == [None] and len(queries) == 0
    with CaptureQueriesContext(connection) as queries:
        script.memories.search("weather in the hills", 5, None, script.services.now())
    assert len(queries) == 1  # whether what was found still stands


def test_a_reader_who_waits_for_another_has_it_too(game, bruno, vera, guard, sleep):
    for number in range(60):
        learn(bruno, f"Cart {number} went through.")
    sleep(bruno)
    others = [vera.assistant, guard("Tim").assistant]
    done = []
    for script in others:
        memories = script.memories
        ready = memories.prepare(script.services, [])
        ready.addCallback(lambda _, known: done.append(len(known.records())), memories)
    while len(done) < 2:
        game.run(0.01)
    assert done == [MOST_TOLD, MOST_TOLD]


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
    script.memories.prepare(script.services, ["bridge"]).addBoth(done.append)
    for _ in range(10):
        game.run(0.01)
    assert done == []
    game.clock.advance(TIME_S)
    game.run(0.1)
    assert done == [None]
    found = script.memories.search("the bridge", 3, None, game.service.now())
    assert [hit.record["content"] for hit in found] == [BRIDGE]


def test_where_one_part_of_memory_cannot_be_read_it_is_said(game, bruno, vera, sleep, monkeypatch):
    learn(bruno)
    sleep(bruno)
    monkeypatch.setattr(
        SharedEntryStore, "load", lambda shelf, put: fail(StoreUnavailable("not now"))
    )
    done = []
    vera.assistant.memories.prepare(game.service).addBoth(done.append)
    game.run(0.1)
    assert done[0].check(StoreUnavailable)


def test_200_guards_with_500_entries_each_hold_the_reactor_for_10_ms_and_hardly_ever_longer(
    game, bruno, vera, sleep, monkeypatch
):
    many_rows(game, bruno)
    spent = timed_slices(game, monkeypatch)
    knowing = vera.assistant
    done = []
    assert knowing.memories is not None  # loads what turns texts into vectors
    began = time.thread_time()
    knowing.memories.prepare(knowing.services, ["the gate"]).addBoth(done.append)
    spent.append(time.thread_time() - began)
    while not done:
        game.run(0.01)
    assert done == [None] and len(knowing.memories.records()) == MOST_HEARD
    began = time.thread_time()
    assert knowing.memories.search("who passed the gate?", 6, None, game.service.now())
    spent.append(time.thread_time() - began)
    learned = [{"id": f"x{n}", "content": f"I saw rider {n} ford the river."} for n in range(500)]
    vera.journal.add_all([{**fields, "importance": 6} for fields in learned])
    assert sleep(vera)["told"] == MOST_TOLD
    spent.sort()
    assert spent[-(len(spent) // 20)] <= 0.010 and spent[-1] <= 0.050, spent[-10:]


def many_rows(game, teller):
    """What 199 others told, as many entries as each may."""
    now = game.service.now()
    fields = {
        "assistant_id": teller.assistant.id, "at": now, "scope": "faction:guards",
        "learnt_at": now, "available_from": now, "trust": 0.4,
    }  # fmt: skip
    rows = [
        SharedEntry(
            **fields,
            teller=f"#{100_000 + guard}",
            entry=f"{guard}-{number}",
            text=f"Guard {guard} saw cart {number} of farmer {guard * number % 97} pass the gate.",
            importance=5 + number % 5,
        )
        for guard in range(199)
        for number in range(MOST_TOLD)
    ]
    SharedEntry.objects.bulk_create(rows)


def timed_slices(game, monkeypatch):
    """How long each piece of work took that was done in its turn, in seconds."""
    spent, put = [], game.service.slices.put

    def timed(work, *args):
        began = time.thread_time()
        work(*args)
        spent.append(time.thread_time() - began)

    monkeypatch.setattr(game.service.slices, "put", lambda work, *args: put(timed, work, *args))
    return spent
