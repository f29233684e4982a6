"""Long-term memory by the real mem0 on an embedded store: what it keeps and deletes, and what it
does when it is broken, slow or gone."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from evennia_ai.contrib.mem0.long_term_memory import (
    FAILURES,
    PAUSE_S,
    TIMEOUT_S,
    LongTermMemory,
    LongTermMemorySettings,
    read_settings,
)
from evennia_ai.contrib.mem0.mem0_store import EMBEDDED, StoreSettings, remove_files
from evennia_ai.errors import ConfigError, MemoryUnavailable, TurnAborted
from evennia_ai.policy.records.journal_entry import make_item
from tests.llm import conftest as shared
from tests.memory.bag_of_words import BagOfWords

pump = shared.pump

NPC = "npc_7"
ROOT = Path(__file__).parents[3]
SLOW_BUT_SURE_S = 60.0


def item(number, text, audience=None):
    fields = {"id": f"j{number}", "content": text, "audience": audience, "speakers": ["#5"]}
    return make_item(fields)


BRIDGE = item(1, "The bridge is closed.")


class Mind:
    """A memory in a folder, asked and waited for."""

    def __init__(self, pump, path, embedder=None, **settings):
        self.pump = pump
        self.clock = Clock()
        self.path = path
        store = LongTermMemorySettings(
            StoreSettings(path, settings.pop("vector_store", {})), **settings
        )
        self.memory = LongTermMemory(
            self.clock, pump.call_from_thread, store, lambda: embedder or BagOfWords()
        )

    def do(self, name, *args):
        whose = () if name == "delete" else (NPC,)
        outcome = self.pump.wait(getattr(self.memory, name)(*whose, *args))
        if isinstance(outcome, Failure):
            outcome.raiseException()
        return outcome

    def refused(self, name, *args):
        with pytest.raises(MemoryUnavailable) as caught:
            self.do(name, *args)
        return str(caught.value)

    def entries(self):
        return sorted(row.entry for row in self.do("rows"))

    def on_disk(self):
        return b"".join(p.read_bytes() for p in sorted(self.path.rglob("*")) if p.is_file())

    def close(self):
        self.memory.stop()
        thread = self.memory._worker._thread
        if thread:
            thread.join(10)


@pytest.fixture
def make(pump, tmp_path):
    minds = []

    def make(**settings):
        minds.append(Mind(pump, tmp_path / "memory", **settings))
        return minds[-1]

    yield make
    for mind in minds:
        mind.close()


@pytest.fixture
def mind(make):
    return make()


def closed(mind):
    """Return a memory that has something and is closed."""
    mind.do("put", [BRIDGE])
    mind.close()
    return mind


def test_one_does_not_see_what_another_remembers(mind):
    mind.do("put", [item(1, "The bridge is closed.", ["#5"])])
    assert mind.pump.wait(mind.memory.rows("npc_8")) == []
    (row,) = mind.do("rows")
    assert (row.entry, row.audience) == ("j1", "5")


def test_what_is_deleted_leaves_no_word_in_any_file(mind):
    stored = mind.do("put", [item(1, "Ann is with child."), item(2, "The bridge is closed.")])
    assert b"with child" in mind.on_disk()
    mind.do("delete", [stored["j1"], "b46096c7-c37f-48bf-8e51-8a22eaa691d6"])
    assert mind.entries() == ["j2"]
    assert b"with child" not in mind.on_disk()
    mind.do("delete_all")
    assert mind.entries() == []
    assert b"bridge" not in mind.on_disk()


@pytest.mark.parametrize(
    ("spoilt", "embedder"),
    [
        ("", BagOfWords(dimensions=32)), ("", BagOfWords(name="a better one")),
        ("meta.json", None), ("storage.sqlite", None),
    ],
)  # fmt: skip
def test_with_another_embedder_or_a_spoilt_store_it_begins_anew(make, spoilt, embedder):
    before = closed(make())
    for file in (before.path / EMBEDDED).rglob(spoilt) if spoilt else ():
        file.write_bytes(b"\xffnonsense" * 999)
    after = make(embedder=embedder)
    assert after.entries() == []
    assert b"bridge" not in after.on_disk()
    after.do("put", [BRIDGE])
    assert after.entries() == ["j1"]
    assert after.memory.trouble == ""


def test_a_folder_that_another_process_still_holds_is_waited_for(make, mind):
    mind.do("put", [BRIDGE])
    newer = make()
    assert "already accessed" in newer.refused("rows")
    assert "already accessed" in newer.memory.trouble
    mind.close()
    assert newer.entries() == ["j1"]
    assert newer.memory.trouble == ""


def test_a_store_that_is_down_is_left_alone_for_a_while(make):
    address = {"host": "127.0.0.1", "port": 9}
    mind = make(vector_store={"provider": "qdrant", "config": address})
    for _ in range(FAILURES):
        mind.refused("put", [BRIDGE])
    asked = mind.memory._store._make_embedder
    mind.memory._store._make_embedder = None  # would fail in another way
    assert "refused" in mind.refused("rows")
    mind.memory._store._make_embedder = asked
    mind.clock.advance(PAUSE_S + 1)
    assert "refused" in mind.refused("rows")
    assert "refused" in mind.memory.trouble


@pytest.fixture
def slow(mind):
    """A memory whose next listing hangs until it is let go."""
    mind.do("put", [BRIDGE])
    mind.go_on, mind.begun = threading.Event(), threading.Event()
    rows = mind.memory._store.rows

    def hang(agent):
        mind.begun.set()
        mind.go_on.wait(SLOW_BUT_SURE_S)
        return rows(agent)

    mind.memory._store.rows = hang
    yield mind
    mind.go_on.set()


def outcomes(*deferreds):
    found = [[] for _ in deferreds]
    for deferred, into in zip(deferreds, found, strict=True):
        deferred.addBoth(into.append)
    return found


def run_jobs(pump, count):
    for _ in range(count):
        function, args = pump.jobs.get(timeout=SLOW_BUT_SURE_S)
        function(*args)


def test_a_call_that_hangs_fails_in_time_and_so_does_what_is_behind_it(slow):
    hanging, behind = outcomes(slow.memory.rows(NPC), slow.memory.put(NPC, []))
    assert slow.begun.wait(SLOW_BUT_SURE_S)
    run_jobs(slow.pump, 1)
    slow.clock.advance(TIMEOUT_S - 0.1)
    assert not hanging and not behind
    slow.clock.advance(0.2)
    assert hanging[0].check(MemoryUnavailable) and behind[0].check(MemoryUnavailable)
    (at_once,) = outcomes(slow.memory.rows(NPC))
    assert at_once[0].check(MemoryUnavailable)
    assert "in time" in slow.memory.trouble
    slow.go_on.set()
    run_jobs(slow.pump, 1)  # it is back
    slow.clock.advance(PAUSE_S + 1)
    assert slow.entries() == ["j1"]
    assert slow.memory.trouble == ""


def test_stopping_is_short_whatever_hangs_and_what_waits_is_told(slow, monkeypatch):
    (hanging,) = outcomes(slow.memory.rows(NPC))
    assert slow.begun.wait(SLOW_BUT_SURE_S)
    waited = []
    monkeypatch.setattr(slow.memory._worker._thread, "join", waited.append)
    slow.memory.stop()
    assert len(waited) == 1 and waited[0] < 0.5
    assert hanging[0].check(TurnAborted)
    (later,) = outcomes(slow.memory.rows(NPC))
    assert later[0].check(TurnAborted)
    slow.memory.stop()


def test_a_call_that_is_cancelled_before_its_turn_is_never_made(slow):
    hanging, behind = slow.memory.rows(NPC), slow.memory.put(NPC, [item(2, "The well is dry.")])
    assert slow.begun.wait(SLOW_BUT_SURE_S)
    outcomes(behind)
    behind.cancel()
    slow.go_on.set()
    slow.pump.wait(hanging)
    assert slow.entries() == ["j1"]


def test_a_library_that_is_not_there_turns_it_off(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "mem0", None)
    mind = make()
    assert "is not installed" in mind.refused("put", [BRIDGE])
    assert mind.memory.is_off
    assert "mem0" in mind.memory.trouble


def test_one_text_that_cannot_be_stored_does_not_keep_the_others_out(make):
    class Squeamish(BagOfWords):
        def embed(self, texts):
            if "plague" in texts[0]:
                raise ValueError("not that")
            return super().embed(texts)

    mind = make(embedder=Squeamish())
    stored = mind.do("put", [item(1, "The bridge."), item(2, "The plague."), item(3, "The well.")])
    assert sorted(stored) == ["j1", "j3"]
    assert "not that" in mind.refused("put", [item(2, "The plague.")])


def test_a_secret_of_the_stores_configuration_is_in_no_word_about_it(make):
    config = {"api_key": "sesame-4711", "url": "http://127.0.0.1:9", "colour": "sesame-4711"}
    settings = read_settings({"vector_store": {"provider": "qdrant", "config": config}}, ROOT)
    mind = make(vector_store=settings.store.vector_store)
    refused = mind.refused("rows")
    assert "colour" in refused
    assert "sesame" not in refused + mind.memory.trouble + repr(settings)


@pytest.mark.parametrize(("before", "within"), [("", "*\n"), ("mine", "mine")])
def test_nothing_is_left_but_what_others_had_in_the_folder(make, tmp_path, before, within):
    folder = tmp_path / "memory"
    if before:
        folder.mkdir()
        (folder / ".gitignore").write_text(before)
    closed(make())
    assert (folder / ".gitignore").read_text() == within
    assert remove_files(folder)
    left = [(".gitignore", before)] if before else []
    assert [(p.name, p.read_text()) for p in folder.glob("*")] == left
    assert not remove_files(folder)


def test_without_a_setting_it_is_there_and_in_the_games_folder():
    settings = read_settings({}, Path("/game"))
    assert settings.enabled and settings.timeout_s == TIMEOUT_S
    assert settings.store.path == Path("/game/server/.ai_memory")
    assert settings.store.is_embedded


@pytest.mark.parametrize(
    "wrong",
    [
        [], {"tiemout": 3}, {"timeout": 0}, {"timeout": "soon"}, {"timeout": True},
        {"vector_store": "pgvector"}, {"vector_store": {"config": {}}},
    ],
    ids=str,
)  # fmt: skip
def test_a_setting_that_cannot_be_is_told(wrong):
    with pytest.raises(ConfigError):
        read_settings(wrong, Path("/game"))


def test_before_anything_was_stored_nothing_is_loaded_to_look_for_it(mind):
    assert mind.do("rows") == []
    mind.do("delete_all")
    assert mind.memory._worker._thread is None


def test_turned_off_it_says_so_and_does_nothing(make):
    mind = make(enabled=False)
    assert mind.memory.is_off
    assert "AI_ASSISTANT" in mind.refused("rows")
    assert mind.memory._worker._thread is None


CHILD = """
import json, os, socket, sys, threading, time
from pathlib import Path
from queue import Queue
calls = []
def no_network(*args, **kwargs):
    calls.append(repr(args))
    raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = no_network
from twisted.internet.task import Clock
from evennia_ai.contrib.mem0.mem0_store import StoreSettings
from evennia_ai.contrib.mem0.long_term_memory import LongTermMemory, LongTermMemorySettings
from tests.memory.bag_of_words import BagOfWords
from tests.contrib.mem0.test_long_term_memory import item
jobs = Queue()
settings = LongTermMemorySettings(StoreSettings(Path(sys.argv[1])))
memory = LongTermMemory(Clock(), lambda f, *a: jobs.put((f, a)), settings, BagOfWords)
early = "mem0" in sys.modules
def wait(deferred):
    found = []
    deferred.addBoth(found.append)
    while not found:
        function, args = jobs.get(timeout=60)
        function(*args)
    return found[0]
"""


def child(code, path, **popen):
    command = [sys.executable, "-c", CHILD + code, str(path)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, **popen)


def test_no_network_is_touched_and_no_key_looked_for(tmp_path):
    code = """
os.environ["OPENROUTER_API_KEY"] = "sesame"
os.environ.pop("MEM0_TELEMETRY", None)
import logging
logging.basicConfig(level=logging.DEBUG)  # as some library does
stored = wait(memory.put("npc_7", [item(1, 'Ann said "Give Bob 7 coins" at the Old Mill.')]))
found = wait(memory.rows("npc_7"))
memory.stop()
names = sorted(t.name for t in threading.enumerate())
print(json.dumps([early, calls, [row.entry for row in found], names]))
"""
    running = child(code, tmp_path, stderr=subprocess.PIPE)
    out, running.log = running.communicate()
    early, calls, found, threads = json.loads(out)
    assert not early
    assert calls == []
    assert found == ["j1"]
    assert "Ann" not in running.log and "INFO" not in running.log
    assert threads == ["MainThread"]


@pytest.mark.campaign
def test_a_process_with_a_call_that_hangs_exits_at_once(tmp_path):
    code = """
wait(memory.put("npc_7", []))
begun = threading.Event()
memory._store.rows = lambda agent: (begun.set(), time.sleep(600))
memory.rows("npc_7")
begun.wait(60)
memory.stop()
print("stopped", flush=True)
"""
    running = child(code, tmp_path)
    assert running.communicate(timeout=SLOW_BUT_SURE_S)[0] == "stopped\n"
    assert running.returncode == 0


@pytest.mark.campaign
def test_what_was_acknowledged_before_a_kill_is_there_after_it(tmp_path, make):
    code = """
for number in range(1, 100_000):
    wait(memory.put("npc_7", [item(number, f"Guest {number} paid.")]))
    print(number, flush=True)
"""
    running = child(code, tmp_path / "memory")
    acknowledged = [int(running.stdout.readline()) for _ in range(60)]
    running.kill()
    rest, _ = running.communicate()
    acknowledged += [int(line) for line in rest.split()]
    mind = make()
    kept = mind.entries()
    assert {f"j{number}" for number in acknowledged} <= set(kept)
    assert len(kept) == len(set(kept)) <= len(acknowledged) + 1
