"""Faults of long-term memory: characters answer all the same, and it catches up."""

import threading
import time

import pytest
from twisted.python.failure import Failure

from evennia_ai.contrib.mem0.long_term_memory import PAUSE_S, LongTermMemory, LongTermMemorySettings
from evennia_ai.contrib.mem0.mem0_store import EMBEDDED, StoreSettings
from evennia_ai.policy.records.journal_entry import agent_of, memory_of
from evennia_ai.store.server_settings import deletion_marks
from tests.forgetting import forget_chunk
from tests.game import conftest as shared
from tests.llm import conftest as shared_llm
from tests.memory.bag_of_words import BagOfWords
from tests.scripted import call

service = shared.service
model = shared.model
game = shared.game
tavern = shared.tavern
mira = shared.mira
ann = shared.ann
admin = shared.admin
pump = shared_llm.pump

LONGEST_S = 60.0
DOWN = {"provider": "qdrant", "config": {"host": "127.0.0.1", "port": 9}}


class Nights:
    """Let Mira sleep with the real mem0."""

    def __init__(self, game, mira, pump, path):
        self.game = game
        self.mira = mira
        self.pump = pump
        self.path = path
        self.memory = None

    def open(self, vector_store=None, embedder=BagOfWords):
        """Give the service long-term memory, as after a restart."""
        from evennia_ai.services.memory_services import LongTermSync

        self.close()
        settings = LongTermMemorySettings(StoreSettings(self.path, vector_store or {}))
        service = self.game.service
        service.long_term_sync.stop()
        self.memory = LongTermMemory(
            self.game.clock, self.pump.call_from_thread, settings, embedder
        )
        service.semantic = self.memory
        service.long_term_sync = LongTermSync(self.game.clock, self.memory)
        service.long_term_sync.start()
        self.mira.assistant.ndb.mind = None  # the next use makes it anew

    def close(self):
        if self.memory:
            self.memory.stop()
            thread = self.memory._worker._thread
            if thread:
                thread.join(LONGEST_S)

    def wait(self, deferred, step_s=0.01):
        """Return the outcome of work that needs both the thread and the clock."""
        found = []
        deferred.addBoth(found.append)
        for _ in range(int(LONGEST_S * 200)):
            if found:
                break
            self.let_pass(step_s)
        if isinstance(found[0], Failure):
            found[0].raiseException()
        return found[0]

    def let_pass(self, seconds):
        """Advance the clock, wait a moment for the thread, and run its results."""
        threading.Event().wait(0.005)
        while not self.pump.jobs.empty():
            function, args = self.pump.jobs.get()
            function(*args)
        self.game.clock.advance(seconds)

    def sleep(self, step_s=0.01):
        """Run a sleep pass; return the results of its steps."""
        return self.wait(self.mira.assistant.mind.sleep_pass.run(), step_s)

    def load(self):
        """Load the library and open the store."""
        self.wait(self.memory.put(agent_of(self.mira.id), []))

    def rows(self):
        return self.wait(self.memory.rows(agent_of(self.mira.id)))

    def answers(self, ann):
        """Return True if Mira still answers."""
        self.game.model.add(call("say", text="A good evening to you."))
        ann.forget()
        ann.do("say Mira, hello")
        self.game.run(1)
        return any("A good evening to you" in line for line in ann.heard())

    def in_step(self):
        named = {entry["id"]: memory_of(entry) for entry in self.mira.journal.all()}
        rows = self.rows()
        return named == {row.entry: row.id for row in rows} and len(rows) == len(named)


@pytest.fixture
def nights(game, mira, ann, pump, tmp_path):
    nights = Nights(game, mira, pump, tmp_path / "memory")
    for number in range(30):
        mira.journal.add(f"Guest {number} paid.")
    yield nights
    nights.close()


# --- 43 mem0 down, slow, or of another dimension → the reply still comes -------------------------


def test_mem0_is_down(nights, ann, admin):
    nights.open(DOWN)
    results = nights.sleep()
    assert results["memory_links"]["success"] is False
    assert results["memory_links"]["left"] == 30
    assert "success" not in results["context_compaction"]  # a later step was done all the same
    assert nights.answers(ann)
    assert "Long-term memory" in admin.told("aistatus")
    nights.open()
    assert nights.sleep()["memory_links"]["linked"] == 30
    assert nights.in_step()


def test_mem0_hangs(nights, ann, admin):
    nights.open()
    nights.load()
    go_on = threading.Event()
    put = nights.memory._store.put
    nights.memory._store.put = lambda *args: (go_on.wait(LONGEST_S), put(*args))[1]
    results = nights.sleep(step_s=0.5)
    assert "in time" in results["memory_links"]["error"]
    assert "in time" in results["orphaned_links"]["error"]
    assert nights.answers(ann)
    assert "Long-term memory: It does not answer in time." in admin.told("aistatus")
    go_on.set()
    while nights.memory._worker.stuck:
        nights.let_pass(0.01)
    nights.let_pass(PAUSE_S)
    assert nights.sleep()["memory_links"]["success"]
    assert nights.in_step()


@pytest.mark.parametrize("name", ["meta.json", "storage.sqlite"])
def test_mem0s_files_are_spoilt(nights, ann, admin, name):
    nights.open()
    nights.sleep()
    nights.close()
    for file in (nights.path / EMBEDDED).rglob(name):
        file.write_bytes(b"\x00nonsense" * 500)
    nights.open()
    assert nights.answers(ann)
    results = nights.sleep()
    assert results["orphaned_links"]["reset"] == 30
    assert results["orphaned_links"]["consolidated_anew"]["linked"] == 30
    assert nights.in_step()
    assert "Long-term memory" not in admin.told("aistatus")


def test_mem0_has_vectors_of_another_dimension(nights, ann, admin):
    nights.open()
    nights.sleep()
    nights.open(embedder=lambda: BagOfWords(dimensions=32))
    assert nights.answers(ann)
    assert nights.sleep()["orphaned_links"]["consolidated_anew"]["linked"] == 30
    assert nights.in_step()
    assert "Long-term memory" not in admin.told("aistatus")


# --- 44 vector written, acknowledgement lost → no duplicate ---------------------------------------


def test_the_acknowledgement_of_what_was_written_is_lost(nights):
    nights.open()
    nights.load()
    put = nights.memory._store.put

    def lost(*args):
        put(*args)
        raise OSError("the connection was reset")

    nights.memory._store.put = lost
    results = nights.sleep()
    assert (results["memory_links"]["linked"], results["memory_links"]["left"]) == (0, 30)
    assert results["orphaned_links"]["relinked"] == 20
    nights.memory._store.put = put
    assert len(nights.rows()) == 20
    assert nights.sleep()["memory_links"]["stored"] == 10
    assert nights.in_step()


def test_the_process_dies_between_the_vector_and_the_link(nights):
    nights.open()
    pending = nights.mira.assistant.mind.sleep_pass.run()
    pending.addErrback(lambda failure: None)
    nights.game.run(0.1)  # its first step begins
    end = time.monotonic() + LONGEST_S
    while nights.pump.jobs.empty() or nights.memory._store._store is None:
        assert time.monotonic() < end
        threading.Event().wait(0.01)
    nights.close()  # nobody hears of what was written
    nights.open()
    assert len(nights.rows()) in (0, 20)
    assert nights.sleep()["memory_links"]["linked"] == 30
    assert nights.in_step()


# --- "forget me" → … vectors, mem0's own history database, all gone ------------------------------


def test_forget_me_leaves_no_word_in_any_file_of_mem0s(nights, ann):
    nights.mira.journal.add("Ann is with child.", speakers=[ann.dbref])
    nights.open()
    nights.sleep()

    def on_disk():
        return b"".join(p.read_bytes() for p in nights.path.rglob("*") if p.is_file())

    assert b"with child" in on_disk()
    while forget_chunk(ann.dbref):
        pass
    for _ in range(500):
        nights.let_pass(0.1)
        if not deletion_marks():
            break
    assert b"with child" not in on_disk()
    assert nights.in_step()
